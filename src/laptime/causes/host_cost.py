"""What regions of the host cost beside the device work that they launch."""

from __future__ import annotations

from dataclasses import dataclass

from laptime.causes import wording
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import BLOCKING
from laptime.model.rows import API_CALLS, Ints


@dataclass(frozen=True)
class HostCost:
    """Means per counted window: the host's time inside the regions, and the device's idle time.

    Where a region and its device work are taken away, a path through the lap loses what it holds
    of either. It holds no more host time than ``inside_ns``, and no more than ``idle_ns`` of it
    counts, since the lap cannot become shorter than what the device still has to do.
    """

    inside_ns: int
    idle_ns: int

    @property
    def bound_ns(self) -> int:
        """The most that the host's part can cost."""
        return min(self.inside_ns, self.idle_ns)

    @property
    def formula(self) -> str:
        """The host's part of a bound, in words."""
        return (
            f"host: the lesser of {wording.time(self.inside_ns)} in the regions outside blocking "
            f"calls and {wording.time(self.idle_ns)} that the device is idle = "
            f"{wording.time(self.bound_ns)}"
        )


def host_cost(view: DeviceView, regions: Ints, less: Span = intervals.EMPTY) -> HostCost:
    """The cost of rows on threads that feed the device, outside blocking calls and ``less``."""
    rows, lanes = view.case.timeline.rows, feeding_lanes(view)
    calls = lane_rows(view.case, rows.like(BLOCKING, *API_CALLS), lanes)
    inside = view.rows_span(lane_rows(view.case, regions, lanes))
    inside = intervals.subtract(intervals.subtract(inside, view.rows_span(calls)), less)
    return HostCost(view.mean_ns(inside), view.mean_ns(view.time_in("idle")))
