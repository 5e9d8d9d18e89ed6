"""A slow, obvious ledger: at each instant, ask every row. The oracle of the fast one.

Written from the definitions of the accounts, in plain Python: no arrays, no interval algebra. All
instants at which anything may change are listed; between two of them the state is constant, so it
is decided once, at the first, by loops over all rows. Only data is shared with the fast ledger:
the tables of names, the decoded kernel names, and the two floors as numbers.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from laptime.ledger import states
from laptime.ledger.device_work import COMM_REGION, PEER_COPY
from laptime.ledger.held import Floors
from laptime.ledger.states import State
from laptime.model.rows import Kind, Rows
from laptime.model.run import Timeline

API = (Kind.RUNTIME, Kind.DRIVER)
HOST = (Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON, *API)
ACTIVITY = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
ENQUEUES = (states.KERNEL_LAUNCH, states.GRAPH_LAUNCH, states.COPY_LAUNCH)

BY_STATE = (
    (State.INPUT_WAIT, "input_wait"),
    (State.BLOCKED, "host_sync"),
    (State.ALLOCATOR, "allocator"),
    (State.GC, "gc"),
    (State.COMPILE, "compile"),
    (State.SIDE_WORK, "side_work"),
)
BY_STATE_CPU = (
    (State.INPUT_WAIT, "input_wait"),
    (State.GC, "gc"),
    (State.COMPILE, "compile"),
    (State.SIDE_WORK, "side_work"),
    (State.BLOCKED, "operators"),
    (State.ALLOCATOR, "operators"),
    (State.LAUNCH, "operators"),
    (State.OPS, "operators"),
    (State.PYTHON, "python"),
)


class HostRow(NamedTuple):
    """A row of a host thread, and what it says of the thread."""

    row: int
    lane: int
    start: int
    end: int
    kind: Kind
    name: str
    state: State
    correlation: int | None

    def covers(self, instant: int) -> bool:
        return self.start <= instant < self.end


class Activity(NamedTuple):
    """A kernel, copy or set; ``call`` enqueued it (None: not recorded)."""

    row: int
    device: str
    lane: int
    start: int
    end: int
    what: str
    call: HostRow | None

    @property
    def called(self) -> int:
        return min(self.call.start, self.start) if self.call else self.start

    @property
    def enqueued(self) -> int:
        return min(self.call.end, self.start) if self.call else self.start

    @property
    def thread(self) -> int | None:
        return self.call.lane if self.call else None


@dataclass
class Oracle:
    """All rows of a timeline as plain tuples. ``comm`` holds the names of kernels that
    communicate; ``owner`` the lane of the thread that owns the laps."""

    timeline: Timeline
    comm: Collection[str]
    owner: int | None

    def __post_init__(self) -> None:
        rows = self.timeline.rows
        self.host = list(host_rows(rows))
        self.on_lane: dict[int, list[HostRow]] = {}
        for h in self.host:
            self.on_lane.setdefault(h.lane, []).append(h)
        self.numbered: dict[int | None, list[HostRow]] = {}
        for h in self.host:
            if h.kind in API:
                self.numbered.setdefault(h.correlation, []).append(h)
        self.activities = list(self._activities(rows))
        self.captures = []
        closes = self._calls(states.END_CAPTURE)
        for begin in self._calls(states.BEGIN_CAPTURE):
            ends = [e.end for e in closes if e.lane == begin.lane and e.end > begin.start]
            if ends:
                self.captures.append((begin.lane, begin.start, min(ends)))
        self.overhead = [
            (rows.name_of(i), int(rows.start_ns[i]), end_of(rows, i))
            for i in range(len(rows))
            if rows.kind[i] == Kind.OVERHEAD
        ]
        self.unseen = list(self._unseen(rows))
        numbers = {h.correlation for h in self.host if h.kind in API} - {None, 0}
        self.uncalled = [
            int(rows.start_ns[i])
            for i in range(len(rows))
            if rows.kind[i] in ACTIVITY and correlation(rows, i) not in numbers
        ]
        self.before: dict[int, int | None] = {}
        self.ahead_called: dict[int, int | None] = {}
        for stream in {a.lane for a in self.activities}:
            self._line_up([a for a in self.activities if a.lane == stream])
        self.refills = {lane: list(self._refill_spans(mine)) for lane, mine in self.on_lane.items()}

    def _line_up(self, stream: list[Activity]) -> None:
        """For each activity of a stream: the latest end, and the latest recorded call, of those
        before it (by start; of equal starts the longer first)."""
        latest: int | None = None
        called: int | None = None
        for a in sorted(stream, key=lambda a: (a.start, -a.end, a.row)):
            self.before[a.row], self.ahead_called[a.row] = latest, called
            latest = a.end if latest is None else max(latest, a.end)
            if a.call:
                called = a.called if called is None else max(called, a.called)

    def _calls(self, pattern: re.Pattern[str]) -> list[HostRow]:
        return [h for h in self.host if h.kind in API and pattern.search(h.name)]

    def _activities(self, rows: Rows) -> Iterator[Activity]:
        with_collective = set(rows.texts["Collective name"].row.tolist()) if (
            "Collective name" in rows.texts
        ) else set()  # fmt: skip
        for i in range(len(rows)):
            kind = Kind(int(rows.kind[i]))
            device = self.timeline.lanes[int(rows.lane[i])].device
            if kind not in ACTIVITY or device is None or rows.dur_ns[i] < 0:
                continue
            name, call = rows.name_of(i), self._call_of(rows, i)
            what = "copy"
            if kind is Kind.KERNEL:
                what = "comm" if name in self.comm or i in with_collective else "compute"
            elif kind is Kind.MEMCPY and name.startswith("Mem") and PEER_COPY.search(name):
                what = "comm" if call and self._in_collective(call) else "copy"
            yield Activity(
                i, device, int(rows.lane[i]), int(rows.start_ns[i]), end_of(rows, i), what, call
            )

    def _call_of(self, rows: Rows, i: int) -> HostRow | None:
        """The call that enqueued an activity: of those with its id the latest that began before it
        (the one around it, if that lies inside another); the first of all where none did."""
        number = correlation(rows, i)
        same = self.numbered.get(number, [])
        if number in (None, 0) or not same:
            return None
        chosen, previous, outer = None, None, None
        for h in sorted(same, key=lambda h: (h.start, -h.end)):
            inside = (
                previous is not None
                and outer is not None
                and h.start < previous.end
                and h.end <= outer.end
            )
            outer = outer if inside else h
            previous = h
            if h.start <= int(rows.start_ns[i]):
                chosen = outer
        return chosen or same[0]

    def _in_collective(self, call: HostRow) -> bool:
        return any(
            h.lane == call.lane and h.covers(call.start) and COMM_REGION.search(h.name)
            for h in self.host
        )

    def _unseen(self, rows: Rows) -> Iterator[HostRow]:
        """Calls that enqueue work of which there is no row."""
        any_set = any(rows.kind[i] == Kind.MEMSET for i in range(len(rows)))
        patterns = ENQUEUES if any_set else (*ENQUEUES, states.SET_LAUNCH)
        seen = [
            call
            for i in range(len(rows))
            if rows.kind[i] in ACTIVITY and (call := self._call_of(rows, i)) is not None
        ]
        shortest = min((h.end - h.start for h in seen), default=0)
        known = {id(h) for h in seen}
        for h in self.host:
            if h.kind not in API or id(h) in known:
                continue
            captured = any(h.lane == c and low <= h.start < high for c, low, high in self.captures)
            nothing = states.SET_LAUNCH.search(h.name) and 2 * (h.end - h.start) < shortest
            if not captured and not nothing and any(p.search(h.name) for p in patterns):
                yield h

    def instants(self, device: str | None, floors: Floors | None) -> list[int]:
        """Every instant at which the account may change."""
        found = set()
        for h in self.host:
            found |= {h.start, h.end}
            if h.state is State.BLOCKED:
                found.add(h.end + (h.end - h.start))
        for _, start, end in self.overhead:
            found |= {start, end}
        for a in self.activities:
            found |= {a.start, a.end, a.enqueued}
            if floors and a.device == device:
                found |= {a.enqueued + floors.latency_ns, a.end + floors.gap_ns}
        return sorted(found)

    def device_account(self, device: str, at: int, floors: Floors | None) -> str:
        """The account of one device's instant."""
        mine = [a for a in self.activities if a.device == device]
        running = {a.what for a in mine if a.start <= at < a.end}
        if "compute" in running:
            return "compute_with_comm" if "comm" in running else "compute"
        if running:
            return "exposed_comm" if "comm" in running else "exposed_copy"
        if any(self._may_run(call, mine, at) for call in self.unseen):
            return "unattributed"
        for name, start, end in self.overhead:
            if start <= at < end and not states.MODULE_LOADING.search(name):
                return "profiler"
        if not any(a.call for a in mine):
            return "idle"
        assert floors is not None
        held = self._held(mine, at, floors)
        if held is not None:
            return held
        return self._fed(mine, at)

    def _may_run(self, call: HostRow, mine: list[Activity], at: int) -> bool:
        """Whether work of an unseen call may run: from the call until every stream that the
        thread goes on to feed has started the next activity."""
        if at < call.start:
            return False
        after = [a for a in mine if a.thread == call.lane and a.called > call.start]
        if not after:
            return True
        for stream in {a.lane for a in after}:
            there = [a for a in after if a.lane == stream]
            following = min(a.called for a in there)
            if at < min(a.start for a in there if a.called == following):
                return True
        return False

    def _held(self, mine: list[Activity], at: int, floors: Floors) -> str | None:
        held = [a for a in mine if a.call and a.enqueued <= at < a.start]
        # What waits at the head of its stream's queue: all ahead of it has ended (None: none was).
        heads = [
            (a, before) for a in held if (before := self.before[a.row]) is None or before <= at
        ]
        if any(at < a.enqueued + floors.latency_ns for a, _ in heads):
            return "launch_latency"
        if any(before is not None and at < before + floors.gap_ns for _, before in heads):
            return "kernel_gap"
        # A graph's node at the head may wait for nodes that have no row; of a head whose call is
        # not recorded nothing is known: nobody can tell.
        if any(states.GRAPH_LAUNCH.search(a.call.name) for a, _ in heads if a.call):
            return "unattributed"
        if self._perhaps_held(mine, at):
            return "unattributed"
        if heads:
            return "event_wait"
        return "unattributed" if held else None

    def _perhaps_held(self, mine: list[Activity], at: int) -> bool:
        """Whether a stream may hold work of unknown launch: not before the work ahead of it on
        the stream was called, for a stream runs in order."""
        return any(
            a.call is None
            and at < a.start
            and ((since := self.ahead_called[a.row]) is None or at >= since)
            for a in mine
        )

    def _fed(self, mine: list[Activity], at: int) -> str:
        """Nothing is enqueued: what the thread does that enqueues next."""
        following = [(a.start, a.called, a.thread) for a in mine if a.start > at]
        following += [(u.end, u.start, u.lane) for u in self.unseen if u.end > at]
        if not following:
            return "unattributed"
        first = min(f[0] for f in following)
        thread = min((called, -1 if t is None else t) for w, called, t in following if w == first)[
            1
        ]
        if thread < 0:
            return "unattributed"
        states_now = self._states(thread, at)
        loading = any(
            start <= at < end and states.MODULE_LOADING.search(name)
            for name, start, end in self.overhead
        )
        if loading:
            states_now = states_now | {State.COMPILE}
        for state, account in BY_STATE:
            if state in states_now:
                return account
        if any(low <= at < high for low, high in self.refills.get(thread, ())):
            return "host_sync"
        if State.LAUNCH in states_now:
            return "host_launch"
        if State.OPS in states_now or State.PYTHON in states_now:
            return "host_ops"
        if self._owner_stands_in(thread, at):
            return "host_ops"
        return "host_between_ops" if self._known(thread, at) else "unattributed"

    def _states(self, lane: int, at: int) -> set[State]:
        found = {h.state for h in self.on_lane.get(lane, ()) if h.covers(at)}
        if any(c == lane and low <= at < high for c, low, high in self.captures):
            found.add(State.COMPILE)
        return found - {State.NONE}

    def _refill_spans(self, mine: list[HostRow]) -> Iterator[tuple[int, int]]:
        """From the return of each blocking call of a thread to the end of its next launch call,
        or to the start of work on any device that has no recorded call."""
        launches = sorted((h.start, h.end) for h in mine if h.state is State.LAUNCH)
        for blocking in (h for h in mine if h.state is State.BLOCKED):
            following = next((end for start, end in launches if start >= blocking.end), None)
            if following is not None:
                shown = [s for s in self.uncalled if s >= blocking.end]
                # Without the call the thread would be ahead by what it waited, and no more.
                waited = blocking.end - blocking.start
                yield blocking.end, min([following, *shown, blocking.end + waited])

    def _owner_stands_in(self, lane: int, at: int) -> bool:
        """Whether the laps' owner, another thread of the process, visibly works."""
        lanes, owner = self.timeline.lanes, self.owner
        if owner is None or owner == lane or lanes[owner].pid != lanes[lane].pid:
            return False
        return bool(self._states(owner, at))

    def _known(self, lane: int, at: int) -> bool:
        mine = self.on_lane.get(lane, [])
        return bool(mine) and min(h.start for h in mine) <= at < max(h.end for h in mine)

    def thread_account(self, lane: int, at: int) -> str:
        """The account of an instant of the thread that owns the laps of a CPU-only run."""
        states_now = self._states(lane, at)
        for state, account in BY_STATE_CPU:
            if state in states_now:
                return account
        return "between_ops" if self._known(lane, at) else "unattributed"

    def partition(
        self, device: str | None, windows: list[tuple[int, int]], floors: Floors | None
    ) -> list[list[tuple[int, int, str]]]:
        """For each window, its stretches ``(start, end, account)``, unmerged.

        ``device`` None: the owning thread of a CPU-only run.
        """
        instants = self.instants(device, floors)
        out = []
        for low, high in windows:
            cuts = [low, *[i for i in instants if low < i < high], high]
            stretches = []
            for start, end in itertools.pairwise(cuts):
                if device is None:
                    assert self.owner is not None
                    account = self.thread_account(self.owner, start)
                else:
                    account = self.device_account(device, start, floors)
                if end > start:
                    stretches.append((start, end, account))
            out.append(stretches)
        return out


def host_rows(rows: Rows) -> Iterator[HostRow]:
    """Host rows in file order."""
    for i in range(len(rows)):
        kind = Kind(int(rows.kind[i]))
        if kind in HOST:
            name = rows.name_of(i)
            state = states.of_call(name) if kind in API else states.of_region(name, kind)
            start, end = int(rows.start_ns[i]), end_of(rows, i)
            yield HostRow(i, int(rows.lane[i]), start, end, kind, name, state, correlation(rows, i))


def end_of(rows: Rows, i: int) -> int:
    """End of a row; an absent duration counts as nothing."""
    return int(rows.start_ns[i]) + max(int(rows.dur_ns[i]), 0)


def correlation(rows: Rows, i: int) -> int | None:
    """The number that joins a call and its activities; None where the row has none."""
    column = rows.correlation
    if column is None:
        return None
    value = int(column[i])
    top = (1 << (8 * column.dtype.itemsize - (column.dtype.kind == "i"))) - 1
    return None if value == top else value
