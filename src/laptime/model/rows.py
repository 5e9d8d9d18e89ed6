"""Rows of a timeline: columns of integers, whatever tool or year wrote them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
Ints = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


class Kind(IntEnum):
    """What a row is, under one name for every vendor and year."""

    OTHER = 0
    CPU_OP = 1
    ANNOTATION = 2
    PYTHON = 3
    RUNTIME = 4
    DRIVER = 5
    KERNEL = 6
    MEMCPY = 7
    MEMSET = 8
    DEVICE_ANNOTATION = 9
    SYNC = 10
    DEVICE_EVENT = 11
    OVERHEAD = 12
    MEMORY = 13
    INSTANT = 14
    COUNTER = 15
    PROFILER_SPAN = 16
    COMM_RECORD = 17
    COUNTER_RANGE = 18


DEVICE_WORK = (Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)
API_CALLS = (Kind.RUNTIME, Kind.DRIVER)
HOST_KINDS = (Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON, Kind.RUNTIME, Kind.DRIVER)

SLICE_ROWS = 1 << 16


def slices(rows: int) -> Iterator[slice]:
    """All rows, one stretch after another.

    NumPy turns every index into eight bytes before it looks anything up: for all rows of a long
    trace at once that takes more memory than their columns do.
    """
    return (slice(at, min(at + SLICE_ROWS, rows)) for at in range(0, rows, SLICE_ROWS))


ABSENT_DUR = -1
"""``dur_ns`` of a row whose evidence gives no duration (instants, dropped values)."""


@dataclass
class SparseInts:
    """Integer arguments that few rows carry: one (row, value) pair for each, by name.

    ``row`` is ascending. A row absent from it does not carry the argument.
    """

    row: Ints
    value: I64

    def of(self, rows: Ints, default: int) -> I64:
        """Values for ``rows`` (any order), ``default`` where the argument is absent."""
        out = np.full(len(rows), default, dtype=np.int64)
        if len(self.row) == 0:
            return out
        at = np.searchsorted(self.row, rows)
        at[at == len(self.row)] = 0
        hit = self.row[at] == rows
        out[hit] = self.value[at[hit]]
        return out


@dataclass
class SparseTexts:
    """Text arguments that few rows carry: (row, index into ``texts``) by argument name."""

    row: Ints
    value: Ints
    texts: Sequence[str]

    def of(self, rows: Ints) -> list[str | None]:
        """Texts for ``rows`` (any order), ``None`` where the argument is absent."""
        if len(self.row) == 0:
            return [None] * len(rows)
        at = np.searchsorted(self.row, rows)
        at[at == len(self.row)] = 0
        hit = self.row[at] == rows
        return [self.texts[int(self.value[a])] if h else None for a, h in zip(at, hit, strict=True)]


@dataclass
class Rows:
    """All rows of one file, columnar, in file order.

    ``start_ns`` is relative to ``Run.origin_ns``'s own clock of the file (see ``Timeline``);
    ``dur_ns`` is ``ABSENT_DUR`` where the evidence has none. ``name`` indexes ``names``,
    ``category`` indexes ``categories`` (the evidence's own word), ``kind`` holds ``Kind``,
    ``lane`` indexes the timeline's lanes. Identifier columns are ``None`` when no row has one;
    a row without one holds the largest value of the column's type.
    """

    start_ns: I64
    dur_ns: I64
    name: Ints
    names: Sequence[str]
    category: Ints
    categories: Sequence[str]
    kind: Ints
    lane: Ints
    phase: Ints
    correlation: Ints | None = None
    external_id: Ints | None = None
    python_id: Ints | None = None
    python_parent: Ints | None = None
    ints: dict[str, SparseInts] = field(default_factory=dict)
    texts: dict[str, SparseTexts] = field(default_factory=dict)
    read_args: Callable[[Ints], list[dict[str, Any] | None]] | None = None
    """Reads the remaining arguments of the given rows from the source; ``None`` where a row has
    no arguments or they cannot be parsed."""
    _like: dict[re.Pattern[str], Mask] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.start_ns)

    def __repr__(self) -> str:
        """How many rows and distinct names."""
        return f"Rows({len(self)} rows, {len(self.names)} names)"

    def of_kind(self, *kinds: Kind) -> Ints:
        """Row numbers of the given kinds, in file order."""
        return np.flatnonzero(self.mask_of(*kinds))

    def mask_of(self, *kinds: Kind) -> Mask:
        """Which rows are of the given kinds."""
        wanted: Mask = np.zeros(len(self.kind), dtype=np.bool_)
        for kind in kinds:  # one by one: a byte against bytes is many times faster than a table
            wanted |= self.kind == int(kind)
        return wanted

    def end_ns(self, rows: Ints) -> I64:
        """End of each row; an absent duration counts as nothing."""
        dur: I64 = self.dur_ns[rows]
        end: I64 = self.start_ns[rows] + np.maximum(dur, 0)
        return end

    def name_of(self, row: int) -> str:
        """The row's name as recorded."""
        return self.names[int(self.name[row])]

    def names_like(self, pattern: re.Pattern[str]) -> Mask:
        """For each distinct name, whether the pattern is found in it (index with ``rows.name``).

        Kept: several parts ask the same of thousands of names.
        """
        if pattern not in self._like:
            found = self.names_matching(lambda n: pattern.search(n) is not None)
            found.setflags(write=False)
            self._like[pattern] = found
        return self._like[pattern]

    def like(self, pattern: re.Pattern[str], *kinds: Kind) -> Ints:
        """Rows of the given kinds in whose name the pattern is found, in file order."""
        hit = self.names_like(pattern)
        found = [np.zeros(0, dtype=np.int64)]
        if hit.any():
            mask = self.mask_of(*kinds)
            for part in slices(len(self)):
                rows = np.flatnonzero(mask[part])
                found.append(rows[hit[self.name[part][rows]]] + part.start)
        return np.concatenate(found)

    def names_used(self, *kinds: Kind) -> list[int]:
        """Indices of the distinct names of the rows of the given kinds, ascending."""
        used = np.zeros(len(self.names), dtype=np.bool_)
        mask = self.mask_of(*kinds)
        for part in slices(len(self)):
            used[self.name[part][mask[part]]] = True
        found: list[int] = np.flatnonzero(used).tolist()
        return found

    def count_by_lane(self, lanes: int, *kinds: Kind) -> I64:
        """How many rows of the given kinds each of ``lanes`` lanes has."""
        count = np.zeros(lanes, dtype=np.int64)
        mask = self.mask_of(*kinds)
        for part in slices(len(self)):
            count += np.bincount(self.lane[part][mask[part]], minlength=lanes)
        return count

    def names_matching(self, test: Callable[[str], bool]) -> Mask:
        """For each distinct name, whether ``test`` holds (index with ``rows.name``)."""
        return np.fromiter((test(n) for n in self.names), dtype=np.bool_, count=len(self.names))


def present(column: Ints) -> Mask:
    """Which entries of an identifier column hold an identifier."""
    mask: Mask = column != np.iinfo(column.dtype).max
    return mask
