"""What rows of a thread cost: the work they launch, and the time the device is idle for them."""

from __future__ import annotations

import numpy as np

from laptime.causes.blocking import waits
from laptime.causes.kernel_cost import cost_of
from laptime.causes.launch_sites import inside
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import API_CALLS, Ints


def cost_of_rows(view: DeviceView, members: Ints) -> Span:
    """Counted time that goes by for rows of the feeding threads: the device runs nothing but what
    was launched inside them, is idle with nothing enqueued while they last, or is idle in or
    behind a blocking call inside them. On CPU-only runs the time of the owning thread in them."""
    members = lane_rows(view.case, members, feeding_lanes(view))
    span = view.rows_span(members)
    if view.ledger.cpu or view.work is None or len(members) == 0:
        return span
    idle = intervals.intersect(view.time_in("host"), span)
    behind = waits(view).of(calls_inside(view, members))
    work = cost_of(view, inside(view, members)).span
    return intervals.both(work, intervals.both(idle, behind))


def calls_inside(view: DeviceView, members: Ints) -> Ints:
    """API calls that start inside any of the rows, on their thread."""
    rows = view.case.timeline.rows
    calls = rows.of_kind(*API_CALLS)
    found = [np.zeros(0, dtype=np.int64)]
    for lane in np.unique(rows.lane[members]).tolist():
        here = members[rows.lane[members] == lane]
        span = intervals.union(rows.start_ns[here], rows.end_ns(here))
        mine = calls[rows.lane[calls] == lane]
        found.append(mine[intervals.contains(span, rows.start_ns[mine])])
    return np.concatenate(found)
