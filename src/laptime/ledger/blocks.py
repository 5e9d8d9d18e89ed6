"""Blocks of time that a ledger is built in, one after another, so that its memory is bounded.

A timeline's rows stand in the order of the file, and in most of it that is nearly the order of
time. The earliest start and the latest end of each piece of the file say which pieces a block of
time must look at. Rows longer than a block, which would make any piece seem to reach everywhere,
are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from laptime.ledger.intervals import EMPTY, Span
from laptime.model.rows import HOST_KINDS, I64, Ints, Rows

PIECE_ROWS = 1 << 12
READ_ROWS = 1 << 16
"""Rows looked at together: whole pieces."""
BLOCK_ROWS = 1 << 16
"""Rows of a block: its arrays are a few MB, and what NumPy costs by the call stays small."""
FAR = int(np.iinfo(np.int64).max)
MOST_READ = 4
"""How often all blocks together may read the rows. A file whose order is not that of time gets
fewer, larger blocks."""
SAMPLE = 256
"""Every which activity stands for its neighbours when blocks are cut."""


def host_kinds() -> Ints:
    """For each number of a kind, whether it is a host row's."""
    table = np.zeros(256, dtype=np.bool_)
    table[[int(kind) for kind in HOST_KINDS]] = True
    return table


@dataclass(frozen=True)
class HostPieces:
    """The host rows of a timeline by pieces of the file.

    ``low_ns``, ``high_ns`` and ``rows_in`` are each piece's earliest start, latest end and number
    of host rows (``low_ns`` above ``high_ns`` where it has none), without the rows of at least
    ``long_ns``, whose numbers are ``long``. ``first_ns`` and ``last_ns`` are the earliest start
    and the latest end of each lane's host rows.
    """

    rows: Rows
    low_ns: I64
    high_ns: I64
    rows_in: I64
    long: Ints
    first_ns: I64
    last_ns: I64

    def extent(self, lane: int) -> Span:
        """From the start of a lane's first host row to the end of its last."""
        if lane >= len(self.first_ns) or self.last_ns[lane] <= self.first_ns[lane]:
            return EMPTY
        return self.first_ns[lane : lane + 1], self.last_ns[lane : lane + 1]

    def touching(self, low_ns: int, high_ns: int) -> Iterator[Ints]:
        """Numbers of the host rows that take time in ``[low_ns, high_ns)``, in parts."""
        rows = self.rows
        piece = np.flatnonzero((self.low_ns < high_ns) & (self.high_ns > low_ns))
        is_host = host_kinds()
        most = READ_ROWS // PIECE_ROWS
        for run in np.split(piece, np.flatnonzero(np.diff(piece) > 1) + 1):
            for at in range(0, len(run), most):
                pieces = run[at : at + most]
                first = int(pieces[0]) * PIECE_ROWS
                part = slice(first, (int(pieces[-1]) + 1) * PIECE_ROWS)
                start, dur = rows.start_ns[part], rows.dur_ns[part]
                wanted = is_host[rows.kind[part]]
                wanted &= start < high_ns
                wanted &= start + dur > low_ns  # where no duration is recorded: no time either
                wanted &= dur > 0
                yield np.flatnonzero(wanted) + first
        start, end = rows.start_ns[self.long], rows.end_ns(self.long)
        # A long row in a piece that is looked at has been seen there.
        seen = np.isin(self.long // PIECE_ROWS, piece)
        yield self.long[~seen & (start < high_ns) & (end > low_ns)]


def host_pieces(rows: Rows, long_ns: int) -> HostPieces:
    """Look at each row once."""
    pieces = -(-len(rows) // PIECE_ROWS)
    lanes = int(rows.lane.max()) + 1 if len(rows) else 0
    low, high = (np.full(pieces, far, dtype=np.int64) for far in (FAR, -FAR))
    first, last = (np.full(lanes, far, dtype=np.int64) for far in (FAR, -FAR))
    rows_in = np.zeros(pieces, dtype=np.int64)
    long = [np.zeros(0, dtype=np.int64)]
    is_host = host_kinds()
    for at in range(0, len(rows), READ_ROWS):
        part = slice(at, at + READ_ROWS)
        host = is_host[rows.kind[part]]
        mine = np.flatnonzero(host)
        if len(mine) == 0:
            continue
        start, lane = rows.start_ns[part][mine], rows.lane[part][mine]
        dur = np.maximum(rows.dur_ns[part][mine], 0)
        end = start + dur
        _extend(first, last, lane, start, end)
        reaches = dur >= long_ns
        if reaches.any():
            long.append(mine[reaches] + at)
            mine, start, end = mine[~reaches], start[~reaches], end[~reaches]
        if len(mine) == 0:
            continue
        piece = mine // PIECE_ROWS
        begin = np.flatnonzero(np.diff(piece, prepend=-1))
        its = piece[begin] + at // PIECE_ROWS
        low[its] = np.minimum.reduceat(start, begin)
        high[its] = np.maximum.reduceat(end, begin)
        rows_in[its] = np.diff(begin, append=len(mine))
    return HostPieces(rows, low, high, rows_in, np.concatenate(long), first, last)


def _extend(first: I64, last: I64, lane: Ints, start: I64, end: I64) -> None:
    """Let the earliest start and the latest end of each lane take in some rows."""
    for one in np.flatnonzero(np.bincount(lane)).tolist():
        on = lane == one
        first[one] = min(int(first[one]), int(start[on].min()))
        last[one] = max(int(last[one]), int(end[on].max()))


def cut(
    pieces: HostPieces, starts: Sequence[I64], low_ns: int, high_ns: int, rows: int = BLOCK_ROWS
) -> list[tuple[int, int]]:
    """``[low_ns, high_ns)`` as blocks of about ``rows`` rows: ascending, without a gap.

    ``starts`` are the ascending starts of each device's activities.
    """
    if high_ns <= low_ns:
        return []
    some = pieces.rows_in > 0
    step = min(SAMPLE, rows)
    when = np.concatenate([pieces.low_ns[some], *(s[::step] for s in starts)])
    many = np.concatenate([pieces.rows_in[some], np.full(len(when) - int(some.sum()), step)])
    inside = (when > low_ns) & (when < high_ns)
    order = np.argsort(when[inside], kind="stable")
    when, before = when[inside][order], np.cumsum(many[inside][order])
    at = np.flatnonzero(np.diff(before // rows, prepend=0))
    edges = np.unique(when[at])
    low, high, count = pieces.low_ns[some], pieces.high_ns[some], pieces.rows_in[some]
    while len(edges):
        times = np.searchsorted(edges, high) - np.searchsorted(edges, low, side="right") + 1
        if int((times * count).sum()) <= MOST_READ * int(count.sum()):
            break
        edges = edges[1::2]
    bounds = [low_ns, *edges.tolist(), high_ns]
    return list(pairwise(bounds))


def host_rows_by_block(
    rows: Rows, low_ns: int, high_ns: int, rows_each: int
) -> Iterator[tuple[int, int, Iterator[Ints]]]:
    """``[low_ns, high_ns)`` in blocks, each with its start, its end and the numbers of the host
    rows that take time in it, in parts."""
    pieces = host_pieces(rows, longer_than(rows, high_ns - low_ns))
    for low, high in cut(pieces, [], low_ns, high_ns, rows_each):
        yield low, high, pieces.touching(low, high)


def longer_than(rows: Rows, span_ns: int) -> int:
    """Length from which a row is kept apart: that of a block, if rows were spread evenly."""
    blocks = max(len(rows) // BLOCK_ROWS, 1)
    return max(span_ns // blocks, 1)
