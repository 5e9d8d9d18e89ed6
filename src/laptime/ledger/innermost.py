"""The innermost of nested rows at each instant of a thread: whose time it is, and what is around.

Rows of one thread nest: a call lies inside its caller. Where a trace has rows that cross instead,
one is cut where the one around it ends, so that no instant counts twice and none is negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from laptime.ledger.intervals import Span
from laptime.model.rows import I64, SLICE_ROWS, Ints, Rows, slices


@dataclass(frozen=True)
class Nest:
    """Rows of one thread, and who of them is innermost when.

    ``row`` holds the rows by (start, -length, row); ``around`` for each the place in it of the row
    around, -1 where there is none. ``span`` are disjoint, ascending stretches (they may touch)
    that cover the time in any of the rows; ``at`` for each the place of the innermost row.
    ``crossing``: some rows overlap without lying one in the other.
    """

    row: Ints
    around: Ints
    span: Span
    at: Ints
    crossing: bool = False


def nest(rows: Rows, members: Ints) -> Nest:
    """Nest rows of one thread. Each must last longer than nothing.

    Where nothing is open, what came before is done with: the rows are read in parts, cut there.
    """
    size = len(members)
    order = np.lexsort((members, -rows.dur_ns[members], rows.start_ns[members]))
    members = members[order]
    del order
    around = np.full(size, -1, dtype=_places(size))
    # A row begins one stretch, and lets the one around it begin another.
    span = np.empty(2 * size, dtype=np.int64), np.empty(2 * size, dtype=np.int64)
    at = np.empty(2 * size, dtype=around.dtype)
    found, crossing = 0, False
    for low, high in _parts(rows, members):
        mine = members[low:high]
        part, its, who, crosses = _nested(rows.start_ns[mine], rows.end_ns(mine))
        around[low:high] = np.where(part >= 0, part + low, -1)
        more = slice(found, found + len(who))
        span[0][more], span[1][more], at[more] = *its, who + low
        found, crossing = more.stop, crossing or crosses
    return Nest(members, around, (span[0][:found], span[1][:found]), at[:found], crossing)


def _places(size: int) -> type[np.signedinteger[Any]]:
    return np.int32 if size <= np.iinfo(np.int32).max else np.int64


def _parts(rows: Rows, members: Ints) -> Iterator[tuple[int, int]]:
    """Parts of rows in order, of about ``SLICE_ROWS`` each, that no row reaches across."""
    low, reach = 0, None
    for part in slices(len(members)):
        start, end = rows.start_ns[members[part]], rows.end_ns(members[part])
        until = np.maximum.accumulate(end)
        if reach is not None:
            np.maximum(until, reach, out=until)
            if start[0] >= reach and part.start > low:
                yield low, part.start
                low = part.start
        if part.start - low + len(start) > SLICE_ROWS:
            free = np.flatnonzero(start[1:] >= until[:-1])
            if len(free):
                yield low, part.start + int(free[-1]) + 1
                low = part.start + int(free[-1]) + 1
        reach = int(until[-1])
    if low < len(members):
        yield low, len(members)


def _nested(start: I64, end: I64) -> tuple[Ints, Span, Ints, bool]:
    """``around``, ``span``, ``at`` and ``crossing`` of a ``Nest`` of stretches in order."""
    parent, depth = _parents(start, end)
    nested = depth == 0
    nested |= (end <= end[parent]) & (start < end[parent])
    if not nested.all():
        return *of_crossing(start, end), True
    # Where something ends, the parent of the outermost that ends goes on; where something starts,
    # the last in order is innermost, whatever ends there.
    by_end = np.lexsort((depth, end))
    ends, first = np.unique(end[by_end], return_index=True)
    ended = by_end[first]
    starts, last = np.unique(start[::-1], return_index=True)
    at = np.concatenate((ends, starts))
    around = np.where(depth > 0, parent, -1)
    who = np.concatenate((around[ended], len(start) - 1 - last))
    order = np.argsort(at, kind="stable")
    at, who = at[order], who[order]
    real = np.append(at[1:] > at[:-1], False)
    real &= who >= 0
    here = np.flatnonzero(real)
    return around, (at[here], at[here + 1]), who[here], False


def _parents(start: I64, end: I64) -> tuple[Ints, Ints]:
    """Of stretches in order of (start, -length): the one around each, and how many are open.

    What is open at a start is counted. If all stretches nest, the one around is the last before
    it with one fewer open; if they do not, some stretch does not lie inside the one found so.
    """
    size = len(start)
    index = np.arange(size)
    depth = index - np.searchsorted(np.sort(end), start, side="right")
    by_depth = np.argsort(depth, kind="stable")
    key = depth[by_depth] * size + by_depth
    at = np.searchsorted(key, (depth - 1) * size + index) - 1
    return by_depth[np.maximum(at, 0)], depth


def of_crossing(start: I64, end: I64) -> tuple[Ints, Span, Ints]:
    """The same where stretches of one thread cross: one is cut where the one around it ends.

    Gives ``around``, ``span`` and ``at`` of a ``Nest``.
    """
    starts: list[int] = []
    ends: list[int] = []
    whose: list[int] = []
    around: list[int] = []
    stack: list[tuple[int, int]] = []
    at = 0

    def emit(until: int) -> None:
        if stack and until > at:
            starts.append(at)
            ends.append(until)
            whose.append(stack[-1][1])

    for place, (low, high) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        while stack and stack[-1][0] <= low:
            until = stack[-1][0]
            emit(until)
            at = max(at, until)
            stack.pop()
        emit(low)
        at = max(at, low) if stack else low
        around.append(stack[-1][1] if stack else -1)
        stack.append((min(high, stack[-1][0]) if stack else high, place))
    while stack:
        until = stack[-1][0]
        emit(until)
        at = max(at, until)
        stack.pop()
    as_ints = (np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))
    return np.array(around, dtype=np.int64), as_ints, np.array(whose, dtype=np.int64)
