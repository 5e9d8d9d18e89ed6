"""The innermost of nested rows at each instant of a thread: whose time it is, and what is around.

Rows of one thread nest: a call lies inside its caller. Where a trace has rows that cross instead,
one is cut where the one around it ends, so that no instant counts twice and none is negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.ledger.intervals import EMPTY, Span
from laptime.model.rows import I64, Ints, Rows


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
    """Nest rows of one thread. Each must last longer than nothing."""
    order = np.lexsort((members, -rows.dur_ns[members], rows.start_ns[members]))
    members = members[order]
    start, end = rows.start_ns[members], rows.end_ns(members)
    if len(members) == 0:
        return Nest(members, np.zeros(0, dtype=np.int64), EMPTY, np.zeros(0, dtype=np.int64))
    parent, depth = _parents(start, end)
    nested = depth == 0
    nested |= (end <= end[parent]) & (start < end[parent])
    if not nested.all():
        return Nest(members, *of_crossing(start, end), crossing=True)
    # Where something ends, the parent of the outermost that ends goes on; where something starts,
    # the last in order is innermost, whatever ends there.
    by_end = np.lexsort((depth, end))
    ends = end[by_end]
    ended = by_end[np.append(True, ends[1:] > ends[:-1])]
    last = np.flatnonzero(np.append(start[1:] > start[:-1], True))
    at = np.concatenate((end[ended], start[last]))
    around = np.where(depth > 0, parent, -1)
    who = np.concatenate((around[ended], last))
    order = np.argsort(at, kind="stable")
    at, who = at[order], who[order]
    real = np.append(at[1:] > at[:-1], False)
    real &= who >= 0
    here = np.flatnonzero(real)
    return Nest(members, around, (at[here], at[here + 1]), who[here])


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
