"""What each host thread was doing: stretches of time by state, read off its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from laptime.ledger import intervals, states
from laptime.ledger.device_work import launch_calls
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
    """States of one thread. ``inside[s]`` is the time covered by a row of state ``s`` (states
    overlap where rows nest; whoever reads them gives the first state precedence).

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
class HostStates:
    """Thread states of a timeline, computed when first asked for."""

    rows: Rows
    loaders: Loaders = RECOGNISED_ONLY
    _known: dict[int, ThreadStates] = field(init=False, default_factory=dict)

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

    def thread(self, lane: int) -> ThreadStates:
        """States of the thread on a lane."""
        if lane not in self._known:
            self._known[lane] = self._read(lane)
        return self._known[lane]

    def _read(self, lane: int) -> ThreadStates:
        rows = self.rows
        spans: dict[State, list[Span]] = {}
        blocking, launches = [EMPTY], [EMPTY]
        first, last = NEVER, -NEVER
        on_thread = self._on(lane, *HOST_KINDS)
        for part in slices(len(rows)):  # most rows nest in others: little is left of each part
            mine = np.flatnonzero(on_thread[part]) + part.start
            if len(mine) == 0:
                continue
            state = self._state_of(mine)
            start, end = rows.start_ns[mine], rows.end_ns(mine)
            first, last = min(first, int(start.min())), max(last, int(end.max()))
            for one in State:
                pick = state == one
                if one is not State.NONE and pick.any():
                    spans.setdefault(one, []).append(intervals.union(start[pick], end[pick]))
            stops, starts_work = state == State.BLOCKED, state == State.LAUNCH
            blocking.append((start[stops], end[stops]))
            launches.append((start[starts_work], end[starts_work]))
        inside = {one: intervals.union_of(spans[one]) for one in State if one in spans}
        capture = self._capture(np.flatnonzero(self._on(lane, *API_CALLS)))
        if len(capture[0]):
            inside[State.COMPILE] = intervals.both(inside.get(State.COMPILE, EMPTY), capture)
        blocked, launch = _joined(blocking), _joined(launches)
        refill = self._refill(*blocked, *launch)
        extent = (
            (np.array([first], dtype=np.int64), np.array([last], dtype=np.int64))
            if last > first
            else EMPTY
        )
        return ThreadStates(lane, inside, refill, extent)

    def _state_of(self, rows: Ints) -> Ints:
        """``State`` that each of the rows stands for."""
        kind, name = self.rows.kind[rows], self.rows.name[rows]
        state = np.zeros(len(rows), dtype=np.int8)
        for its, table in self._states.items():
            here = kind == its
            state[here] = table[name[here]]
        return state

    def _on(self, lane: int, *kinds: Kind) -> Mask:
        """Which rows of the given kinds are on a lane."""
        wanted: Mask = self.rows.lane == lane
        wanted &= self.rows.mask_of(*kinds)
        return wanted

    def _refill(self, called: I64, left: I64, launch_start: I64, launch_end: I64) -> Span:
        """From each return of a blocking call to the end of the next launch call, no longer than
        the call lasted.

        Where calls are missing the next one seen may be far too late: the device, at work without
        a recorded call, shows that the queue was refilled.
        """
        if len(left) == 0:
            return EMPTY
        order = np.lexsort((launch_end, launch_start))  # rows' order must not matter
        at = np.searchsorted(launch_start[order], left)
        until = np.append(launch_end[order], NEVER)[at]
        at = np.searchsorted(self._uncalled, left)
        shown = np.append(self._uncalled, NEVER)[at]
        known = until < NEVER
        end = np.minimum(np.minimum(until, shown), left + (left - called))
        return intervals.union(left[known], end[known])

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
            mine = np.flatnonzero(self._on(lane, *API_CALLS))
            out[here] = intervals.contains(self._capture(mine), rows.start_ns[calls[here]])
        return out


def _joined(parts: Sequence[Span]) -> Span:
    """Stretches one behind another, in the order of the parts."""
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
