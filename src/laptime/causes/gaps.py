"""Gaps between operators: time in which the thread of the laps is in no operator and no call."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from laptime.causes.limits import LAUNCH_GAP_NS
from laptime.causes.loader import outermost
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.frames import function, is_own
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.model.rows import API_CALLS, I64, Ints, Kind

ENGINE = re.compile(r"^autograd::engine::")


@dataclass(frozen=True)
class Gaps:
    """Stretches of counted time between operators that the laps pay for (with a device: in which
    it is idle with nothing enqueued). ``before`` and ``after`` are the outermost operators or calls
    on either side."""

    view: DeviceView
    span: Span
    before: Ints
    after: Ints

    @property
    def dur_ns(self) -> I64:
        """Length of each."""
        length: I64 = self.span[1] - self.span[0]
        return length

    def inside(self, span: Span) -> Gaps:
        """What of them lies in a set of time."""
        _, mine, piece = intervals.overlaps(span, self.span)
        return Gaps(self.view, piece, self.before[mine], self.after[mine])

    def between(self, most: int = 3) -> list[tuple[str, float, float]]:
        """The places with most time: what is before and after, gaps and ns per counted window."""
        rows = self.view.case.timeline.rows
        time: Counter[tuple[str, str]] = Counter()
        number: Counter[tuple[str, str]] = Counter()
        for low, high, ns in zip(
            self.before.tolist(), self.after.tolist(), self.dur_ns.tolist(), strict=True
        ):
            names = rows.name_of(low), rows.name_of(high)
            time[names] += ns
            number[names] += 1
        laps = self.view.laps
        order = sorted(time, key=lambda k: (-time[k], k))[:most]
        return [
            (f"after {k[0]} and before {k[1]}", number[k] / laps, time[k] / laps) for k in order
        ]

    def functions(self, most: int = 3) -> list[tuple[str, float]]:
        """The program's own functions that are innermost of their own kind in the gaps (what they
        call of libraries is theirs), with ns per counted window; none without Python stacks."""
        rows = self.view.case.timeline.rows
        frames = rows.of_kind(Kind.PYTHON)
        frames = lane_rows(
            self.view.case, frames[rows.dur_ns[frames] > 0], feeding_lanes(self.view)
        )
        own = np.zeros(len(rows.names) + 1, dtype=np.bool_)
        own[[i for i in np.unique(rows.name[frames]).tolist() if is_own(rows.names[i])]] = True
        frames = frames[own[rows.name[frames]]]
        time: Counter[str] = Counter()
        for lane in np.unique(rows.lane[frames]).tolist():
            nested = nest(rows, frames[rows.lane[frames] == lane])
            its, _, piece = intervals.overlaps(nested.span, self.span)
            ns = np.zeros(len(rows.names), dtype=np.int64)
            np.add.at(ns, rows.name[nested.row[nested.at[its]]], piece[1] - piece[0])
            for i in np.flatnonzero(ns).tolist():
                time[function(rows.names[i])] += int(ns[i])
        order = sorted(time, key=lambda n: (-time[n], n))[:most]
        return [(name, time[name] / self.view.laps) for name in order]


def operators(view: DeviceView) -> Ints:
    """Outermost operators and API calls of the threads that own or feed the laps, by start."""
    rows = view.case.timeline.rows
    mine = lane_rows(view.case, rows.of_kind(Kind.CPU_OP, *API_CALLS), feeding_lanes(view))
    mine = mine[rows.dur_ns[mine] > 0]
    # What reaches over a lap's start holds laps: a mark that was recorded as an operator.
    starts = np.sort(np.array([x.start_ns for x in view.case.ledger.laps.laps], dtype=np.int64))
    first = np.searchsorted(starts, rows.start_ns[mine], side="right")
    mine = mine[np.searchsorted(starts, rows.end_ns(mine), side="left") <= first]
    mine = outermost(rows, mine) if len(mine) else mine
    found: Ints = mine[np.argsort(rows.start_ns[mine], kind="stable")]
    return found


def gaps(view: DeviceView, ops: Ints) -> Gaps:
    """The gaps of one device's counted windows between ``operators``.

    Of a device only those inside idle times above 1 ms: shorter ones are the cost of launching.
    Where another thread of a CPU-only run is in an operator (autograd's, a communicator's), the
    owning thread may be waiting for it: that time is left out, and so is time before a node of
    autograd's engine, which is no Python of the program's, and what has no operator on one side.
    """
    rows = view.case.timeline.rows
    if len(ops) == 0:
        return Gaps(view, intervals.EMPTY, ops, ops)
    if view.ledger.cpu:
        free = intervals.subtract(view.time_in("python", "between_ops"), elsewhere(view))
    else:
        idle = view.time_in("idle")
        long = (idle[1] - idle[0]) > LAUNCH_GAP_NS.value
        free = intervals.intersect(
            intervals.both(
                view.time_in("host_between_ops"),
                intervals.subtract(view.time_in("host_ops"), view.rows_span(ops)),
            ),
            (idle[0][long], idle[1][long]),
        )
    start, end = rows.start_ns[ops], np.maximum.accumulate(rows.end_ns(ops))
    at = np.searchsorted(start, free[0], side="left")
    last = np.searchsorted(end, free[0], side="right") - 1
    none = np.append(ops, -1)
    before, after = np.where(last >= 0, none[last], -1), none[np.minimum(at, len(ops))]
    engine = rows.names_like(ENGINE)
    known = (before >= 0) & (after >= 0) & ~engine[rows.name[after]]
    return Gaps(view, (free[0][known], free[1][known]), before[known], after[known])


def elsewhere(view: DeviceView) -> Span:
    """Time in which threads that do not own the laps are in an operator."""
    rows = view.case.timeline.rows
    others = rows.of_kind(Kind.CPU_OP, Kind.ANNOTATION)
    mine = np.array(sorted(feeding_lanes(view)), dtype=np.int64)
    return view.rows_span(others[~np.isin(rows.lane[others], mine)])
