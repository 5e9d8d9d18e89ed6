"""The innermost of nested rows at each instant of a thread: whose time it is, and what is around.

Rows of one thread nest: a call lies inside its caller. Where a trace has rows that cross instead,
one is cut where the one around it ends, so that no instant counts twice and none is negative.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import laptime._native as _native
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Rows


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
    members = np.asarray(members, dtype=np.int64)
    order, around, span, at, crossing = _native.nest(
        rows.start_ns[members], rows.end_ns(members), members
    )
    return Nest(members[order], around, span, at, crossing)
