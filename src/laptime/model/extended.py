"""Rows with further rows behind them: what other evidence knows of a timeline's threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from laptime.model.rows import Ints, Kind, Rows


@dataclass(frozen=True)
class NewRow:
    """A row to add, in the timeline's clock."""

    kind: Kind
    name: str
    lane: int
    start_ns: int
    dur_ns: int


@dataclass(frozen=True)
class _ArgsBefore:
    """Reads arguments of the rows that were there first; added ones have none."""

    rows: int
    read: Callable[[Ints], list[dict[str, Any] | None]]

    def __call__(self, rows: Ints) -> list[dict[str, Any] | None]:
        rows = np.asarray(rows)
        old = np.flatnonzero(rows < self.rows)
        out: list[dict[str, Any] | None] = [None] * len(rows)
        for at, args in zip(old.tolist(), self.read(rows[old]), strict=True):
            out[at] = args
        return out

    @property
    def texts(self) -> Callable[[Ints], list[bytes | None]] | None:
        """Reads the text of the arguments, where the reader beneath can."""
        read = getattr(self.read, "texts", None)
        return None if read is None else lambda rows: self._texts(read, np.asarray(rows))

    def _texts(self, read: Callable[[Ints], list[bytes | None]], rows: Ints) -> list[bytes | None]:
        old = np.flatnonzero(rows < self.rows)
        out: list[bytes | None] = [None] * len(rows)
        for at, text in zip(old.tolist(), read(rows[old]), strict=True):
            out[at] = text
        return out


def extended(rows: Rows, new: Sequence[NewRow], category: str) -> Rows:
    """The rows with ``new`` ones behind them, under a category of their own."""
    if not new:
        return rows
    names = list(rows.names)
    place = {name: i for i, name in enumerate(names)}
    for row in new:
        if row.name not in place:
            place[row.name] = len(names)
            names.append(row.name)
    categories = [*rows.categories, category]
    more = len(new)

    def absent(column: Ints | None) -> Ints | None:
        if column is None:
            return None
        return np.concatenate((column, np.full(more, np.iinfo(column.dtype).max, column.dtype)))

    return replace(
        rows,
        start_ns=np.concatenate((rows.start_ns, np.array([r.start_ns for r in new], np.int64))),
        dur_ns=np.concatenate((rows.dur_ns, np.array([r.dur_ns for r in new], np.int64))),
        name=_with(rows.name, [place[r.name] for r in new]),
        names=names,
        category=_with(rows.category, [len(categories) - 1] * more),
        categories=categories,
        kind=_with(rows.kind, [int(r.kind) for r in new]),
        lane=_with(rows.lane, [r.lane for r in new]),
        phase=_with(rows.phase, [ord("X")] * more),
        correlation=absent(rows.correlation),
        external_id=absent(rows.external_id),
        python_id=absent(rows.python_id),
        python_parent=absent(rows.python_parent),
        read_args=None if rows.read_args is None else _ArgsBefore(len(rows), rows.read_args),
        _like={},
    )


def _with(column: Ints, values: Sequence[int]) -> Ints:
    """A column with values behind it, in a wider type where they do not fit its own."""
    fits = np.min_scalar_type(max(values))
    kind = np.promote_types(column.dtype, fits)
    return np.concatenate((column, np.array(values))).astype(kind)
