"""Self time of Python functions in the laps of the host, where stacks were recorded.

A function's self time is the time in which its frame is the innermost Python frame of its thread:
what it calls that is not Python (operators, launch calls, system calls) is its own. The lines of a
thread sum to the time that any of its frames covers. Laps are the host's, not the device's windows:
a host function may run before the first work of its lap starts on the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger import frames, intervals
from laptime.ledger.innermost import Nest, nest
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.work import Work
from laptime.model.rows import I64, Ints, Kind, Rows
from laptime.model.run import Timeline

OUTSIDE_OPERATORS = ("python", "between_ops")
"""Accounts of a CPU-only run in which a thread is in no operator."""


@dataclass(frozen=True)
class FunctionLine:
    """One function on one thread (``lane``), in all of the laps.

    ``idle_ns`` is the part of ``self_ns`` in which the device did nothing (None without a device),
    ``outside_ns`` the part in no operator (None with one). ``count`` is the number of its frames
    that start inside the laps. ``caller`` is the nearest frame of the user's own code around a
    library's function, that with most of its time where there are several (``callers``).
    """

    name: str
    lane: int
    self_ns: int
    idle_ns: int | None
    outside_ns: int | None
    count: int
    caller: str | None
    callers: int


@dataclass(frozen=True)
class FunctionTable:
    """Functions of the threads that own the laps or feed the device, most self time first.

    ``laps_ns`` is the length of the ``laps`` host laps together, ``covered_ns`` the part of it in
    which the owning thread (``owner``) is in some Python frame.
    """

    device: str
    owner: int
    laps: int
    laps_ns: int
    covered_ns: int
    lines: Sequence[FunctionLine]


def function_tables(
    timeline: Timeline, ledger: Ledger, work: Mapping[str, Work]
) -> dict[str, FunctionTable]:
    """Functions by device; none where no stacks were recorded on the threads that matter."""
    rows, owner = timeline.rows, ledger.laps.owner_lane
    chosen = ledger.laps.steady or list(ledger.laps.laps)
    python = rows.of_kind(Kind.PYTHON)
    python = python[rows.dur_ns[python] > 0]
    if owner is None or not chosen or len(python) == 0:
        return {}
    laps = intervals.union(
        np.array([lap.start_ns for lap in chosen], dtype=np.int64),
        np.array([lap.end_ns for lap in chosen], dtype=np.int64),
    )
    if len(laps[0]) == 0:
        return {}
    python = python[(rows.start_ns[python] < laps[1][-1]) & (rows.end_ns(python) > laps[0][0])]
    known: dict[int, _Thread] = {}
    tables = {}
    for device in ledger.devices:
        mine = work.get(device.device)
        lanes = {owner} | (set() if mine is None else set(np.unique(mine.thread).tolist()) - {-1})
        for lane in sorted(lanes - known.keys()):
            known[lane] = _Thread(rows, python[rows.lane[python] == lane], laps)
        if len(known[owner].nest.row) == 0:
            continue
        lines = [
            line for lane in sorted(lanes) for line in _lines(known[lane], lane, device, mine, laps)
        ]
        tables[device.device] = FunctionTable(
            device.device,
            owner,
            len(chosen),
            intervals.total(laps),
            int(known[owner].length.sum()),
            sorted(lines, key=lambda f: (-f.self_ns, f.name, f.lane)),
        )
    return tables


class _Thread:
    """One thread's frames, and their pieces of self time inside the laps."""

    def __init__(self, rows: Rows, frames_: Ints, laps: Span) -> None:
        self.nest: Nest = nest(rows, frames_)
        its, _, self.piece = intervals.overlaps(self.nest.span, laps)
        self.at: Ints = self.nest.at[its]
        self.length: I64 = self.piece[1] - self.piece[0]
        name = rows.name[self.nest.row]
        used = np.flatnonzero(np.bincount(name, minlength=len(rows.names))).tolist()
        told = {i: frames.function(rows.names[i]) for i in used}
        self.functions = sorted(set(told.values()))
        index = {f: i for i, f in enumerate(self.functions)}
        of_name = np.zeros(len(rows.names), dtype=np.int64)
        of_name[used] = [index[told[i]] for i in used]
        self.function: Ints = of_name[name]
        started = intervals.contains(laps, rows.start_ns[self.nest.row])
        self.count = np.bincount(self.function[started], minlength=len(self.functions))
        own = np.array([frames.is_own(f) for f in self.functions], dtype=np.bool_)
        self.own = _nearest(self.nest.around, own[self.function])

    def sums(self, length: I64, place: Ints) -> I64:
        """Lengths by function; ``place`` is where in the nest each belongs."""
        out = np.zeros(len(self.functions), dtype=np.int64)
        np.add.at(out, self.function[place], length)
        return out

    def within(self, span: Span) -> I64:
        """Self time inside a set of time, by function."""
        its, _, both = intervals.overlaps(self.piece, span)
        return self.sums(both[1] - both[0], self.at[its])

    def callers(self) -> dict[int, tuple[str, int]]:
        """For each function of a library, the own one around most of its time, and their number."""
        own = self.own[self.at]
        called = own >= 0
        called &= own != self.at
        by = self.function[own[called]]
        key = self.function[self.at[called]] * len(self.functions) + by
        pairs, place = np.unique(key, return_inverse=True)
        ns = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(ns, place, self.length[called])
        found: dict[int, list[tuple[int, str]]] = {}
        for pair, time in zip(pairs.tolist(), ns.tolist(), strict=True):
            function, caller = divmod(pair, len(self.functions))
            found.setdefault(function, []).append((-time, self.functions[caller]))
        return {f: (min(several)[1], len(several)) for f, several in found.items()}


def _nearest(around: Ints, own: Ints) -> Ints:
    """The nearest own frame of each, itself or around it; -1 where there is none."""
    found = np.where(own, np.arange(len(own)), around)
    while True:  # each round looks twice as far
        onward = np.flatnonzero((found >= 0) & ~own[np.maximum(found, 0)])
        if len(onward) == 0:
            return found
        found[onward] = found[found[onward]]


def _lines(
    thread: _Thread, lane: int, device: DeviceLedger, work: Work | None, laps: Span
) -> list[FunctionLine]:
    """The functions of one thread that have self time, with their part in one device's idle time
    or, of a CPU-only run, outside operators."""
    self_ns = thread.sums(thread.length, thread.at)
    if device.cpu:
        wanted = [j for j, a in enumerate(device.leaves) if a.id in OUTSIDE_OPERATORS]
        segments = device.segments
        hit = np.isin(segments.account, wanted)
        part = thread.within(intervals.union(segments.start_ns[hit], segments.end_ns[hit]))
    else:
        busy = intervals.EMPTY if work is None else intervals.union(work.start_ns, work.end_ns)
        part = thread.within(intervals.subtract(laps, busy))
    callers = thread.callers()
    return [
        FunctionLine(
            name=thread.functions[i],
            lane=lane,
            self_ns=int(self_ns[i]),
            idle_ns=None if device.cpu else int(part[i]),
            outside_ns=int(part[i]) if device.cpu else None,
            count=int(thread.count[i]),
            caller=callers[i][0] if i in callers else None,
            callers=callers[i][1] if i in callers else 0,
        )
        for i in np.flatnonzero(self_ns).tolist()
    ]
