"""Some of a file's rows as rows of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from laptime.model.rows import Ints, Rows, SparseInts, SparseTexts


@dataclass(frozen=True)
class _ArgsOf:
    """Reads arguments by the new row numbers (a class, so that it can go between processes)."""

    kept: Ints
    read: Callable[[Ints], list[dict[str, Any] | None]]

    def __call__(self, rows: Ints) -> list[dict[str, Any] | None]:
        return self.read(self.kept[rows])

    @property
    def texts(self) -> Callable[[Ints], list[bytes | None]] | None:
        """Reads the text of the arguments, where the reader beneath can."""
        read = getattr(self.read, "texts", None)
        return None if read is None else lambda rows: read(self.kept[rows])


def subset(rows: Rows, kept: Ints) -> Rows:
    """The rows numbered ``kept`` (ascending), renumbered from zero; names stay shared."""
    new = np.full(len(rows), -1, dtype=np.int64)
    new[kept] = np.arange(len(kept))

    def ints(sparse: SparseInts) -> SparseInts:
        at = new[sparse.row]
        return SparseInts(at[at >= 0], sparse.value[at >= 0])

    def texts(sparse: SparseTexts) -> SparseTexts:
        at = new[sparse.row]
        return SparseTexts(at[at >= 0], sparse.value[at >= 0], sparse.texts)

    def maybe(column: Ints | None) -> Ints | None:
        return None if column is None else column[kept]

    return Rows(
        start_ns=rows.start_ns[kept],
        dur_ns=rows.dur_ns[kept],
        name=rows.name[kept],
        names=rows.names,
        category=rows.category[kept],
        categories=rows.categories,
        kind=rows.kind[kept],
        lane=rows.lane[kept],
        phase=rows.phase[kept],
        correlation=maybe(rows.correlation),
        external_id=maybe(rows.external_id),
        python_id=maybe(rows.python_id),
        python_parent=maybe(rows.python_parent),
        ints={k: ints(v) for k, v in rows.ints.items()},
        texts={k: texts(v) for k, v in rows.texts.items()},
        read_args=None if rows.read_args is None else _ArgsOf(kept, rows.read_args),
    )
