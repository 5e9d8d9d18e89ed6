"""Device work that no row shows: launch calls of which the evidence has no activity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.ledger import intervals, states
from laptime.ledger.device_work import launch_calls
from laptime.ledger.host import HostStates
from laptime.ledger.intervals import EMPTY, Span
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
        found = EMPTY
        for lane in np.unique(self.lane).tolist():
            here = self.lane == lane
            until = np.full(int(here.sum()), -FAR, dtype=np.int64)
            for stream in np.unique(work.lane).tolist():
                mine = (work.lane == stream) & work.launched & (work.thread == lane)
                called, start = work.called_ns[mine], work.start_ns[mine]
                order = np.argsort(called, kind="stable")
                at = np.searchsorted(called[order], self.start_ns[here], side="right")
                until = np.maximum(until, np.append(start[order], -FAR)[at])
            until[until == -FAR] = FAR
            found = intervals.both(found, intervals.union(self.start_ns[here], until))
        return found


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
