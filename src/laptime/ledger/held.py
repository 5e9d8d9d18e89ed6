"""Time that enqueued work waits on the device, and the floors that say how long is ordinary.

Both floors are measured in the timeline itself (replay rules R4 and R5): the launch latency on an
empty device, and the gap between neighbours of one stream of which the second was enqueued in
time. Where a timeline has too few samples the floor is the assumed value below, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.reach import Reaching
from laptime.ledger.work import Work
from laptime.model.rows import I64, Mask, slices

ASSUMED_LATENCY_NS = 10_000
"""Launch latency assumed without samples: 2-10 us is usual from V100 to B200 and MI300."""
GAP_LOW_NS, GAP_HIGH_NS = 10_000, 20_000
"""The ordinary gap between kernels is clipped to 10-20 us (replay rule R5)."""
FEW = 20
LONG_AGO = -(1 << 62)
QUANTILE = 90
"""The floors are this percentile of their samples: high enough that ordinary launches count as
ordinary, low enough that launches held by an event do not raise it."""


@dataclass(frozen=True)
class Floors:
    """Launch latency and ordinary gap, with the number of samples behind each (0: assumed)."""

    latency_ns: int
    latency_samples: int
    gap_ns: int
    gap_samples: int

    def sentence(self) -> str:
        """How the floors were found."""
        latency = (
            f"{QUANTILE}th percentile of {self.latency_samples} launches on an empty device"
            if self.latency_samples
            else "assumed: too few launches on an empty device"
        )
        gap = (
            f"{QUANTILE}th percentile of {self.gap_samples} gaps, clipped to 10-20 us"
            if self.gap_samples
            else "assumed: too few back-to-back kernels"
        )
        return (
            f"launch latency floor {self.latency_ns / 1000:.1f} us ({latency}); "
            f"ordinary gap {self.gap_ns / 1000:.1f} us ({gap})"
        )


def latest_before_on_stream(work: Work, value: I64, none: int) -> I64:
    """For each activity the highest value of the earlier ones of its stream; ``none`` if none is
    higher."""
    out = np.full(len(work.row), none, dtype=np.int64)
    highest: dict[int, int] = {}
    for part in slices(len(out)):
        lane = work.lane[part]
        for one in np.unique(lane).tolist():
            mine = np.flatnonzero(lane == one)
            reach = np.maximum.accumulate(np.append(highest.get(one, none), value[part][mine]))
            out[part][mine] = reach[:-1]
            highest[one] = int(reach[-1])
    return out


def previous_end_on_stream(work: Work) -> I64:
    """End of the latest-ending earlier activity of the same stream; the smallest int64 if none."""
    return latest_before_on_stream(work, work.end_ns, int(np.iinfo(np.int64).min))


def floors(work: Work) -> Floors:
    """Measure the floors of one device."""
    known = work.launched
    busy_until = np.concatenate(
        (np.array([np.iinfo(np.int64).min]), np.maximum.accumulate(work.end_ns)[:-1])
    )
    first = np.zeros(len(work.row), dtype=np.bool_)
    first[np.unique(work.call_row, return_index=True)[1]] = True  # of a graph, its first node
    empty = known & first & (busy_until <= work.enqueued_ns)
    latency = (work.start_ns - work.enqueued_ns)[empty]
    previous = previous_end_on_stream(work)
    after = known & (previous > np.iinfo(np.int64).min)
    after &= (work.enqueued_ns <= previous) & (previous <= work.start_ns)
    gap = (work.start_ns - np.where(after, previous, 0))[after]
    enough_latency, enough_gap = len(latency) >= FEW, len(gap) >= FEW
    measured_gap = _percentile(gap) if enough_gap else GAP_LOW_NS
    return Floors(
        latency_ns=_percentile(latency) if enough_latency else ASSUMED_LATENCY_NS,
        latency_samples=len(latency) if enough_latency else 0,
        gap_ns=min(max(measured_gap, GAP_LOW_NS), GAP_HIGH_NS),
        gap_samples=len(gap) if enough_gap else 0,
    )


def _percentile(sample: I64) -> int:
    """The ``QUANTILE``-th percentile as an element of the sample (no interpolation)."""
    ordered = np.sort(sample)
    return int(ordered[-(-len(ordered) * QUANTILE // 100) - 1])


class Held:
    """Time that enqueued work of one device waits, block by block in ascending order.

    ``of_graph``: which activities a graph launch enqueued. Where the head of a queue is a graph's
    node and waits longer than is ordinary, it may wait for an event, or for nodes of the graph that
    the recording does not show, and so may whatever waits for it on another stream; where work
    waits behind a head of which the call is not recorded, nothing is known of the head. Nobody can
    tell what holds them: the time is unattributed.
    Measured: a trace of A100 in which graphs run for 64 ms between two recorded nodes.
    """

    def __init__(self, work: Work, floor: Floors, of_graph: Mask) -> None:
        self._work, self._floor, self._of_graph = work, floor, of_graph
        self._previous = previous_end_on_stream(work)
        waiting = np.flatnonzero(work.launched & (work.enqueued_ns < work.start_ns))
        order = waiting[np.argsort(work.enqueued_ns[waiting], kind="stable")]
        self._queue = Reaching(work.enqueued_ns, work.start_ns, order.astype(work.row.dtype))
        self._perhaps = perhaps_held(work)

    def layers(self, low_ns: int, high_ns: int) -> list[tuple[str, Span]]:
        """Layers (account, time) of a block in the order of their tests. They overlap: earlier
        ones win."""
        work, floor = self._work, self._floor
        mine = self._queue.within(low_ns, high_ns)
        enqueued, start = work.enqueued_ns[mine], work.start_ns[mine]
        previous, node = self._previous[mine], self._of_graph[mine]
        head = np.maximum(enqueued, previous)
        # Only the head of a stream's queue can be what the device waits for: fresh work behind it
        # does not make a gap a launch latency.
        fresh = intervals.union(head, np.minimum(start, enqueued + floor.latency_ns))
        neighbour = previous > np.iinfo(np.int64).min
        gap = intervals.union(
            head[neighbour],
            np.minimum(start, previous + floor.gap_ns)[neighbour],
        )
        return [
            ("launch_latency", fresh),
            ("kernel_gap", gap),
            ("unattributed", intervals.union(head[node], start[node])),
            ("unattributed", self._perhaps),
            ("event_wait", intervals.union(head[~node], start[~node])),
            ("unattributed", intervals.union(enqueued, start)),
        ]


def perhaps_held(work: Work) -> Span:
    """Time in which a stream may hold work whose launch call is not recorded.

    A stream runs in order: such work was enqueued after the last recorded call before it on its
    stream. Before it starts nobody can say that the host had enqueued nothing.
    """
    known = work.launched
    if known.all():
        return EMPTY
    since = latest_before_on_stream(work, np.where(known, work.called_ns, LONG_AGO), LONG_AGO)
    return intervals.union(since[~known], work.start_ns[~known])
