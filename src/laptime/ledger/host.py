"""What each host thread was doing: stretches of time by state, read off its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from laptime.ledger import intervals, states
from laptime.ledger.blocks import HostPieces, cut, host_pieces, longer_than
from laptime.ledger.device_work import launch_calls, row_type
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.loaders import RECOGNISED_ONLY, Loaders
from laptime.ledger.states import State
from laptime.model.rows import (
    API_CALLS,
    DEVICE_WORK,
    HOST_KINDS,
    I64,
    Ints,
    Kind,
    Mask,
    Rows,
    slices,
)

NEVER = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class ThreadStates:
    """States of one thread in one block of time. ``inside[s]`` is the time covered by a row of
    state ``s`` that reaches into the block (states overlap where rows nest; whoever reads them
    gives the first state precedence).

    ``refill`` is the time in which the thread has just left a blocking call and refills the queue:
    to the end of its next launch call, or to the start of an activity whose launch call is not
    recorded, and no longer than the call lasted. Without the call the thread would have been ahead
    by what it waited, and no more: idle time beyond that is not the call's.
    ``extent`` runs from the thread's first row to its last row's end: outside it, nothing is known.
    """

    lane: int
    inside: dict[State, Span]
    refill: Span
    extent: Span

    def covered(self) -> Span:
        """The time inside any operator, Python row, or API call."""
        span = EMPTY
        for state in State:
            if state is not State.NONE and state in self.inside:
                span = intervals.both(span, self.inside[state])
        return span


@dataclass
class HostBlock:
    """The rows that say what threads do in one block of time: lane, ``State``, start and end."""

    host: HostStates
    pieces: HostPieces
    lane: Ints
    state: Ints
    start_ns: I64
    end_ns: I64
    _known: dict[int, ThreadStates] = field(init=False, default_factory=dict)

    def thread(self, lane: int) -> ThreadStates:
        """States of the thread on a lane."""
        if lane not in self._known:
            self._known[lane] = self._read(lane)
        return self._known[lane]

    def _read(self, lane: int) -> ThreadStates:
        mine = np.flatnonzero(self.lane == lane)
        state = self.state[mine]
        inside: dict[State, Span] = {}
        for one in State:
            pick = mine[state == one]
            if len(pick):
                inside[one] = intervals.union(self.start_ns[pick], self.end_ns[pick])
        capture = self.host.capture(lane)
        if len(capture[0]):
            inside[State.COMPILE] = intervals.both(inside.get(State.COMPILE, EMPTY), capture)
        return ThreadStates(lane, inside, self.host.refill(lane), self.pieces.extent(lane))


@dataclass
class HostStates:
    """What a timeline's names and calls say of its threads, computed when first asked for."""

    rows: Rows
    loaders: Loaders = RECOGNISED_ONLY
    _refills: dict[int, Span] = field(init=False, default_factory=dict)
    _captures: dict[int, Span] = field(init=False, default_factory=dict)

    @cached_property
    def _states(self) -> dict[Kind, Ints]:
        """For each kind of host row, the state that each name it uses stands for."""
        rows = self.rows
        tables = {}
        for kind in HOST_KINDS:
            table = np.zeros(len(rows.names) + 1, dtype=np.int8)
            for i in rows.names_used(kind):
                name = rows.names[i]
                table[i] = (
                    states.of_call(name)
                    if kind in API_CALLS
                    else states.of_region(name, kind, self.loaders)
                )
            tables[kind] = table
        return tables

    @cached_property
    def _uncalled(self) -> I64:
        """Starts of the activities whose launch call is not recorded."""
        rows = self.rows
        work = rows.of_kind(*DEVICE_WORK)
        return np.sort(rows.start_ns[work[launch_calls(rows, work) < 0]])

    @property
    def any_rows(self) -> bool:
        """Whether the timeline has host rows at all."""
        return any(bool((self.rows.kind == kind).any()) for kind in HOST_KINDS)

    def blocks(
        self, inside: Span, starts: Sequence[I64], block_rows: int
    ) -> Iterator[tuple[HostBlock, int, int]]:
        """Blocks of about ``block_rows`` rows that cover a set of time, ascending, each with its
        start and end. ``starts``: the ascending starts of each device's activities."""
        if len(inside[0]) == 0:
            return
        low, high = int(inside[0][0]), int(inside[1][-1])
        pieces = host_pieces(self.rows, longer_than(self.rows, high - low))
        for start, end in cut(pieces, starts, low, high, block_rows):
            yield self.block(pieces, start, end), start, end

    def block(self, pieces: HostPieces, low_ns: int, high_ns: int) -> HostBlock:
        """States of the threads in ``[low_ns, high_ns)``."""
        parts = []
        for mine in pieces.touching(low_ns, high_ns):
            state = self._state_of(mine)
            says = state != State.NONE
            mine, state = mine[says], state[says]
            rows = self.rows
            parts.append((rows.lane[mine], state, rows.start_ns[mine], rows.end_ns(mine)))
        lane, state, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
        return HostBlock(self, pieces, lane, state, start, end)

    def _state_of(self, rows: Ints) -> Ints:
        """``State`` that each of the rows stands for."""
        kind, name = self.rows.kind[rows], self.rows.name[rows]
        state = np.zeros(len(rows), dtype=np.int8)
        for its, table in self._states.items():
            here = kind == its
            if here.any():
                state[here] = table[name[here]]
        return state

    def _on(self, lane: int, *kinds: Kind) -> Mask:
        """Which rows of the given kinds are on a lane."""
        wanted: Mask = self.rows.lane == lane
        wanted &= self.rows.mask_of(*kinds)
        return wanted

    @cached_property
    def _calls(self) -> dict[State, Ints]:
        """API calls that block, and those that launch."""
        rows = self.rows
        found: dict[State, list[Ints]] = {State.BLOCKED: [], State.LAUNCH: []}
        for kind in API_CALLS:
            mask, table = rows.mask_of(kind), self._states[kind]
            for part in slices(len(rows)):
                mine = np.flatnonzero(mask[part])
                state = table[rows.name[part][mine]]
                for one, calls in found.items():
                    calls.append((mine[state == one] + part.start).astype(row_type(rows)))
        return {one: np.concatenate(calls) for one, calls in found.items() if calls}

    def refill(self, lane: int) -> Span:
        """``ThreadStates.refill`` of the thread on a lane, for all of its time."""
        if lane not in self._refills:
            self._refills[lane] = self._refill(lane)
        return self._refills[lane]

    def _refill(self, lane: int) -> Span:
        """From each return of a blocking call to the end of the next launch call, no longer than
        the call lasted.

        Where calls are missing the next one seen may be far too late: the device, at work without
        a recorded call, shows that the queue was refilled.
        """
        rows = self.rows
        blocking = self._calls.get(State.BLOCKED, EMPTY[0])
        blocking = blocking[rows.lane[blocking] == lane]
        if len(blocking) == 0:
            return EMPTY
        called, left = rows.start_ns[blocking], rows.end_ns(blocking)
        order = np.argsort(left, kind="stable")
        called, left = called[order], left[order]
        launches = self._calls[State.LAUNCH]
        until = self._next_end(launches[rows.lane[launches] == lane], left)
        at = np.searchsorted(self._uncalled, left)
        shown = np.append(self._uncalled, NEVER)[at]
        known = until < NEVER
        end = np.minimum(np.minimum(until, shown), left + (left - called))
        return intervals.union(left[known], end[known])

    def _next_end(self, launches: Ints, left: I64) -> I64:
        """End of the first of the calls that starts no earlier than each instant (ascending), of
        several the one that ends first; ``NEVER`` where none does."""
        starts, ends = (np.full(len(left), NEVER, dtype=np.int64) for _ in range(2))
        for part in slices(len(launches)):
            mine = launches[part]
            start, end = self.rows.start_ns[mine], self.rows.end_ns(mine)
            order = np.lexsort((end, start))
            start, end = start[order], end[order]
            before = int(np.searchsorted(left, start[-1], side="right"))
            open_ = np.flatnonzero(starts[:before] >= start[0])
            at = np.searchsorted(start, left[open_])
            better = start[at] < starts[open_]
            better |= (start[at] == starts[open_]) & (end[at] < ends[open_])
            starts[open_[better]] = start[at[better]]
            ends[open_[better]] = end[at[better]]
        return ends

    def capture(self, lane: int) -> Span:
        """Between the begin and the end of a stream capture on a thread."""
        if lane not in self._captures:
            some = self.rows.names_like(states.BEGIN_CAPTURE).any()
            on = np.flatnonzero(self._on(lane, *API_CALLS)) if some else EMPTY[0]
            self._captures[lane] = self._capture(on)
        return self._captures[lane]

    def _capture(self, calls: Ints) -> Span:
        """Between the begin and the end of a stream capture on this thread."""
        rows = self.rows
        begins = rows.names_like(states.BEGIN_CAPTURE)
        ends = rows.names_like(states.END_CAPTURE)
        begin = np.sort(rows.start_ns[calls[begins[rows.name[calls]]]])
        end_calls = calls[ends[rows.name[calls]]]
        end = np.sort(rows.end_ns(end_calls))
        if len(begin) == 0 or len(end) == 0:
            return EMPTY
        at = np.searchsorted(end, begin, side="right")
        closed = at < len(end)
        return intervals.union(begin[closed], end[at[closed]])

    def captured(self, calls: Ints) -> Mask:
        """Which API calls lie inside a stream capture: they launch nothing on the device."""
        rows = self.rows
        out = np.zeros(len(calls), dtype=np.bool_)
        begins = rows.names_like(states.BEGIN_CAPTURE)
        if not begins.any():
            return out
        for lane in np.unique(rows.lane[calls]).tolist():
            here = np.flatnonzero(rows.lane[calls] == lane)
            out[here] = intervals.contains(self.capture(lane), rows.start_ns[calls[here]])
        return out
