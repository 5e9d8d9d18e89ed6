"""Device work that no row shows: launch calls of which the evidence has no activity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.ledger import intervals, states
from laptime.ledger.device_work import launch_calls
from laptime.ledger.host import HostStates
from laptime.ledger.intervals import Span
from laptime.ledger.work import Work
from laptime.model.rows import API_CALLS, DEVICE_WORK, I64, Ints, Kind

FAR = np.iinfo(np.int64).max // 4


@dataclass(frozen=True)
class Unseen:
    """Calls that enqueued work of which no row exists: their rows, threads' lanes and times."""

    row: Ints
    lane: Ints
    start_ns: I64
    end_ns: I64

    def span(self, work: Work) -> Span:
        """Time in which a device may run such work: from the call (copies run inside theirs) until
        each stream that the same thread goes on to feed has started its next activity. Which
        stream the work is on is not known; a stream runs in order."""
        launched = np.flatnonzero(work.launched)
        launched = launched[np.argsort(work.thread[launched], kind="stable")]
        thread = work.thread[launched]
        order = np.lexsort((self.start_ns, self.lane))
        start, lane = self.start_ns[order], self.lane[order]
        until = np.empty(len(order), dtype=np.int64)
        for one in np.unique(lane).tolist():
            here = slice(*np.searchsorted(lane, (one, one + 1)).tolist())
            mine = launched[slice(*np.searchsorted(thread, (one, one + 1)).tolist())]
            until[here] = _until(
                start[here], work.lane[mine], work.called_ns[mine], work.start_ns[mine]
            )
        return intervals.union(start, until)


def _until(at_ns: I64, stream: Ints, called_ns: I64, start_ns: I64) -> I64:
    """For each of the instants (ascending) the latest, over the streams, of the start of the
    stream's first activity that is called after it; ``FAR`` where no stream has one.

    An activity is its stream's first for the instants from the call before its own on: it covers
    a stretch of them, and what is asked is the highest start over each instant.
    """
    order = np.lexsort((called_ns, stream))
    stream, called_ns, start_ns = stream[order], called_ns[order], start_ns[order]
    before = np.append(-FAR, called_ns[:-1])[: len(order)]
    before[1:][stream[1:] != stream[:-1]] = -FAR
    low = np.searchsorted(at_ns, before, side="left")
    high = np.searchsorted(at_ns, called_ns, side="left")
    some = high > low
    found = _highest_over(len(at_ns), low[some], high[some], start_ns[some])
    found[found == -FAR] = FAR
    return found


def _highest_over(count: int, low: Ints, high: Ints, value: I64) -> I64:
    """For each of ``count`` places the highest value of the stretches ``[low, high)`` over it;
    ``-FAR`` where there is none.

    A stretch is two blocks, as long as the largest power of two that fits, from either end; blocks
    of one length are then two of half of it each. So the cost does not depend on how long the
    stretches are, nor on how many lie over one place.
    """
    highest = np.full(count, -FAR, dtype=np.int64)
    power = np.frexp((high - low).astype(np.float64))[1] - 1
    for p in range(int(power.max(initial=0)), -1, -1):
        block = 1 << p
        mine = np.flatnonzero(power == p)
        np.maximum.at(highest, low[mine], value[mine])
        np.maximum.at(highest, high[mine] - block, value[mine])
        half = block // 2
        if half:
            whole = highest.copy()
            np.maximum(highest[half:], whole[:-half], out=highest[half:])
    return highest


def unseen_calls(host: HostStates) -> Unseen:
    """Find the calls of a timeline whose work has no row on any device.

    Calls inside a stream capture enqueue nothing. A set may be done without device work of its
    own (measured: 120 of 170 calls of one H100 trace), so that its call counts only where the
    timeline has no row of sets at all, and where it took at least half as long as the shortest
    call that is known to have enqueued something (measured on H100: sets of nothing 150-310 ns,
    real ones 3.0-11.5 us).
    """
    rows = host.rows
    calls = rows.of_kind(*API_CALLS)
    if len(calls):
        like = rows.names_like
        work = like(states.KERNEL_LAUNCH) | like(states.GRAPH_LAUNCH) | like(states.COPY_LAUNCH)
        if not rows.mask_of(Kind.MEMSET).any():
            work |= like(states.SET_LAUNCH)
        calls = calls[work[rows.name[calls]]]
        seen = launch_calls(rows, rows.of_kind(*DEVICE_WORK))
        seen = seen[seen >= 0]
        calls = calls[~np.isin(calls, seen)]
        if len(seen):
            of_set = like(states.SET_LAUNCH)[rows.name[calls]]
            shortest = np.maximum(rows.dur_ns[seen], 0).min()
            nothing = of_set & (2 * np.maximum(rows.dur_ns[calls], 0) < shortest)
            calls = calls[~nothing]
        calls = calls[~host.captured(calls)]
    return Unseen(
        calls, rows.lane[calls].astype(np.int64), rows.start_ns[calls], rows.end_ns(calls)
    )
