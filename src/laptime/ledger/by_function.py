"""Self time of Python functions in the laps of the host, where stacks were recorded.

A function's self time is the time in which its frame is the innermost Python frame of its thread:
what it calls that is not Python (operators, launch calls, system calls) is its own. The lines of a
thread sum to the time that any of its frames covers. Laps are the host's, not the device's windows:
a host function may run before the first work of its lap starts on the device.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger import frames, intervals
from laptime.ledger.blocks import BLOCK_ROWS, FAR, host_rows_by_block
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.sums import add_at
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
    used = rows.names_used(Kind.PYTHON)
    if owner is None or not chosen or not used:
        return {}
    laps = intervals.union(
        np.array([lap.start_ns for lap in chosen], dtype=np.int64),
        np.array([lap.end_ns for lap in chosen], dtype=np.int64),
    )
    if len(laps[0]) == 0:
        return {}
    feeding = {d.device: _feeding(work.get(d.device)) | {owner} for d in ledger.devices}
    lanes = sorted(set().union(*feeding.values()))
    free = {d.device: _free(d, work.get(d.device), laps) for d in ledger.devices}
    functions = _Functions(rows, used)
    known = _threads(rows, functions, lanes, laps, free)
    tables = {}
    for device in ledger.devices:
        if not known[owner].frames:
            continue
        lines = [
            line
            for lane in sorted(feeding[device.device])
            for line in _lines(known[lane], lane, device)
        ]
        tables[device.device] = FunctionTable(
            device.device,
            owner,
            len(chosen),
            intervals.total(laps),
            int(known[owner].self_ns.sum()),
            sorted(lines, key=lambda f: (-f.self_ns, f.name, f.lane)),
        )
    return tables


def _feeding(work: Work | None) -> set[int]:
    """Lanes of the threads that launch on a device."""
    return set() if work is None else set(np.unique(work.thread).tolist()) - {-1}


def _free(device: DeviceLedger, work: Work | None, laps: Span) -> Span:
    """Time of the laps in which the device does nothing, or a CPU-only run is in no operator."""
    if device.cpu:
        wanted = [j for j, a in enumerate(device.leaves) if a.id in OUTSIDE_OPERATORS]
        segments = device.segments
        hit = np.isin(segments.account, wanted)
        return intervals.union(segments.start_ns[hit], segments.end_ns[hit])
    busy = intervals.EMPTY if work is None else intervals.union(work.start_ns, work.end_ns)
    return intervals.subtract(laps, busy)


class _Functions:
    """Functions of a timeline, by name: ``of_name`` gives each frame's name its function."""

    def __init__(self, rows: Rows, used: Sequence[int]) -> None:
        functions = [frames.function(rows.names[i]) for i in used]
        self.names = sorted(set(functions))
        index = {f: i for i, f in enumerate(self.names)}
        self.of_name = np.zeros(len(rows.names), dtype=np.int64)
        self.of_name[np.array(used, dtype=np.int64)] = [index[f] for f in functions]
        self.own = np.array([frames.is_own(f) for f in self.names], dtype=np.bool_)


def _threads(
    rows: Rows, functions: _Functions, lanes: Sequence[int], laps: Span, free: Mapping[str, Span]
) -> dict[int, _Thread]:
    """Sums of each thread over the laps, block by block.

    Which frame is innermost follows from those that cover the instant, so that a block needs no
    others; of frames that cross it does not, and a thread that has such is read at once.
    """
    known = {lane: _Thread(functions, free) for lane in lanes}
    crossing: set[int] = set()
    whole = int(laps[0][0]), int(laps[1][-1])
    for low, high, parts in host_rows_by_block(rows, *whole, BLOCK_ROWS):
        mine = _frames(rows, parts)
        inside = intervals.clip(laps, low, high)
        for lane in lanes:
            if lane not in crossing and not known[lane].add(
                rows, mine[rows.lane[mine] == lane], inside, whole_thread=False
            ):
                crossing.add(lane)
    for lane in sorted(crossing):
        known[lane] = _Thread(functions, free)
        for _, _, parts in host_rows_by_block(rows, *whole, FAR):
            mine = _frames(rows, parts)
            known[lane].add(rows, mine[rows.lane[mine] == lane], laps, whole_thread=True)
    return known


def _frames(rows: Rows, parts: Iterator[Ints]) -> Ints:
    """The Python frames among host rows."""
    return np.concatenate([part[rows.kind[part] == int(Kind.PYTHON)] for part in parts])


class _Thread:
    """One thread's functions: self time, frames that start in the laps, and self time inside each
    device's ``free`` time, as far as the laps were added."""

    def __init__(self, functions: _Functions, free: Mapping[str, Span]) -> None:
        size = len(functions.names)
        self.functions, self._free = functions, free
        self.self_ns, self.count = (np.zeros(size, dtype=np.int64) for _ in range(2))
        self.free_ns = {device: np.zeros(size, dtype=np.int64) for device in free}
        self.frames = False
        self._called: dict[int, int] = {}
        """Time by function of a library and the own one around it, as one number."""

    def add(self, rows: Rows, frames_: Ints, laps: Span, whole_thread: bool) -> bool:
        """Add the frames that reach into a part of the laps; False, and nothing is added, where
        they cross and are not all of the thread's."""
        if len(frames_) == 0:
            return True
        found = nest(rows, frames_)
        if found.crossing and not whole_thread:
            return False
        self.frames = True
        its, _, piece = intervals.overlaps(found.span, laps)
        at, length = found.at[its], piece[1] - piece[0]
        function = self.functions.of_name[rows.name[found.row]]
        add_at(self.self_ns, function[at], length)
        started = intervals.contains(laps, rows.start_ns[found.row])
        self.count += np.bincount(function[started], minlength=len(self.count))
        for device, free in self._free.items():
            here, _, both = intervals.overlaps(piece, intervals.clip(free, *_ends(laps)))
            add_at(self.free_ns[device], function[at[here]], both[1] - both[0])
        self._add_callers(
            function, _nearest(found.around, self.functions.own[function]), at, length
        )
        return True

    def _add_callers(self, function: Ints, own: Ints, at: Ints, length: I64) -> None:
        around = own[at]
        called = (around >= 0) & (around != at)
        key = function[at[called]] * len(self.count) + function[around[called]]
        pairs, place = np.unique(key, return_inverse=True)
        ns = np.zeros(len(pairs), dtype=np.int64)
        add_at(ns, place, length[called])
        for pair, time in zip(pairs.tolist(), ns.tolist(), strict=True):
            self._called[pair] = self._called.get(pair, 0) + time

    def callers(self) -> dict[int, tuple[str, int]]:
        """For each function of a library, the own one around most of its time, and their number."""
        names = self.functions.names
        found: dict[int, list[tuple[int, str]]] = {}
        for pair, time in self._called.items():
            function, caller = divmod(pair, len(names))
            found.setdefault(function, []).append((-time, names[caller]))
        return {f: (min(several)[1], len(several)) for f, several in found.items()}


def _ends(span: Span) -> tuple[int, int]:
    return (int(span[0][0]), int(span[1][-1])) if len(span[0]) else (0, 0)


def _nearest(around: Ints, own: Ints) -> Ints:
    """The nearest own frame of each, itself or around it; -1 where there is none."""
    found = np.where(own, np.arange(len(own)), around)
    while True:  # each round looks twice as far
        onward = np.flatnonzero((found >= 0) & ~own[np.maximum(found, 0)])
        if len(onward) == 0:
            return found
        found[onward] = found[found[onward]]


def _lines(thread: _Thread, lane: int, device: DeviceLedger) -> list[FunctionLine]:
    """The functions of one thread that have self time, with their part in one device's idle time
    or, of a CPU-only run, outside operators."""
    part = thread.free_ns[device.device]
    callers = thread.callers()
    return [
        FunctionLine(
            name=thread.functions.names[i],
            lane=lane,
            self_ns=int(thread.self_ns[i]),
            idle_ns=None if device.cpu else int(part[i]),
            outside_ns=int(part[i]) if device.cpu else None,
            count=int(thread.count[i]),
            caller=callers[i][0] if i in callers else None,
            callers=callers[i][1] if i in callers else 0,
        )
        for i in np.flatnonzero(thread.self_ns).tolist()
    ]
