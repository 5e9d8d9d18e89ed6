"""``Table``: laptime's own public table, NumPy inside, whatever the engine behind it is.

Integers are exact (``int64``), texts are Python texts. What the evidence does not hold is ``None``
in rows and masked in arrays, never zero: a nullable column's array is always a masked one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from laptime.model.errors import CannotTell, UsageError

Type = Literal["int", "float", "text", "bool"]
Values = npt.NDArray[Any]

DTYPES: Mapping[str, type] = {"int": np.int64, "float": np.float64, "bool": np.bool_}
FILL: Mapping[str, Any] = {"int": 0, "float": 0.0, "bool": False}
UNITS = {"_ns": "ns", "_bytes": "bytes", "_per_s": "1/s", "_flops": "FLOP"}

SHOWN_ROWS = 20
"""Rows that the text and the HTML of a table show."""
SHOWN_CHARS = 80
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Column:
    """One column: its name (which ends in its unit), type, and what it says.

    ``nullable``: a value may be missing. ``unit`` is told by the name's end where it is not given.
    """

    name: str
    type: Type
    meaning: str
    nullable: bool = False
    unit_given: str | None = None

    @property
    def unit(self) -> str | None:
        """The unit of the values; None where they have none."""
        if self.unit_given is not None:
            return self.unit_given
        return next((u for end, u in UNITS.items() if self.name.endswith(end)), None)


@dataclass(frozen=True)
class Layout:
    """What a documented table is: its name, what one row of it is, and its columns."""

    name: str
    meaning: str
    columns: tuple[Column, ...]


class Table:
    """Named columns of one length. Build with ``Table.of`` or ``Table.from_rows``."""

    def __init__(self, columns: Sequence[Column], data: Mapping[str, Values]) -> None:
        self._columns = tuple(columns)
        self._data = dict(data)
        lengths = {len(v) for v in self._data.values()}
        if len(lengths) > 1 or set(self._data) != {c.name for c in self._columns}:
            raise ValueError("columns and data do not fit")
        self._length = lengths.pop() if lengths else 0

    @classmethod
    def of(cls, columns: Sequence[Column], data: Mapping[str, Any]) -> Table:
        """A table of arrays or lists, brought to each column's type.

        Raises ``CannotTell`` where an integer needs more than 64 bits.
        """
        return cls(columns, {c.name: _typed(c, data[c.name]) for c in columns})

    @classmethod
    def from_rows(cls, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> Table:
        """A table of rows, each with one value for each column (None where it is missing)."""
        by_column = list(zip(*rows, strict=True)) or [()] * len(columns)
        return cls.of(columns, {c.name: list(v) for c, v in zip(columns, by_column, strict=True)})

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [c.name for c in self._columns]

    @property
    def described(self) -> tuple[Column, ...]:
        """The columns with their types, units and meanings."""
        return self._columns

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self.rows()

    def __getitem__(self, column: str) -> Values:
        """One column's array, as in ``numpy()``. Raises ``UsageError`` for an unknown name."""
        if column not in self._data:
            raise UsageError(f"no column {column!r}; columns: {', '.join(self.columns)}")
        return self._data[column]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dict of Python values; what is missing is None."""
        names = self.columns
        for at in range(0, len(self), _CHUNK):
            part = [self._data[n][at : at + _CHUNK].tolist() for n in names]
            for values in zip(*part, strict=True):
                yield dict(zip(names, values, strict=True))

    def numpy(self) -> dict[str, Values]:
        """Each column as an array: int64, float64, bool, or objects (texts and None).

        A nullable column of numbers is a ``numpy.ma.MaskedArray``.
        """
        return dict(self._data)

    def df(self) -> Any:
        """A pandas DataFrame; missing numbers are ``pandas.NA`` (dtypes Int64, Float64, boolean).

        Raises ``UsageError`` where pandas is not installed.
        """
        pandas = _optional("pandas")
        whole = {"int": "Int64", "float": "Float64", "bool": "boolean"}

        def series(c: Column, v: Values) -> Any:
            if c.type == "text":
                return pandas.Series(v, dtype="object")
            if not c.nullable:
                return pandas.Series(v)
            numbers = pandas.Series(np.ma.getdata(v)).astype(whole[c.type])
            return numbers.mask(pandas.Series(np.ma.getmaskarray(v)))

        return pandas.DataFrame({c.name: series(c, self._data[c.name]) for c in self._columns})

    def pl(self) -> Any:
        """A Polars DataFrame. Raises ``UsageError`` where polars is not installed."""
        polars = _optional("polars")
        types = {
            "int": polars.Int64,
            "float": polars.Float64,
            "bool": polars.Boolean,
            "text": polars.String,
        }
        return polars.DataFrame(
            self._lists(), schema={c.name: types[c.type] for c in self._columns}
        )

    def arrow(self) -> Any:
        """A pyarrow Table. Raises ``UsageError`` where pyarrow is not installed."""
        arrow = _optional("pyarrow")
        types = {
            "int": arrow.int64(),
            "float": arrow.float64(),
            "bool": arrow.bool_(),
            "text": arrow.string(),
        }
        lists = self._lists()
        return arrow.table(
            {c.name: arrow.array(lists[c.name], types[c.type]) for c in self._columns}
        )

    def _lists(self) -> dict[str, Any]:
        """Columns as other libraries take them: arrays where nothing is missing, else lists."""
        plain = {c.name: c.type != "text" and not c.nullable for c in self._columns}
        return {n: v if plain[n] else v.tolist() for n, v in self._data.items()}

    def __repr__(self) -> str:
        lines = [self.columns, *self._shown()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._columns))]
        text = [
            "  ".join(v.ljust(w) for v, w in zip(x, widths, strict=True)).rstrip() for x in lines
        ]
        return "\n".join([*text, self._size()])

    def _repr_html_(self) -> str:
        """At most ``SHOWN_ROWS`` rows as an HTML table, everything escaped."""
        from html import escape

        heads = "".join(f"<th>{escape(n)}</th>" for n in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(v)}</td>" for v in line) + "</tr>"
            for line in self._shown()
        )
        return (
            f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
            f"<p>{escape(self._size())}</p>"
        )

    def _shown(self) -> list[list[str]]:
        parts = [self._data[n][:SHOWN_ROWS].tolist() for n in self.columns]
        return [[_cell(v) for v in values] for values in zip(*parts, strict=True)]

    def _size(self) -> str:
        rows = f"{len(self):,} row{'s' if len(self) != 1 else ''}"
        more = f", the first {SHOWN_ROWS} shown" if len(self) > SHOWN_ROWS else ""
        return f"[{rows} x {len(self._columns)} columns{more}]"


def concatenated(columns: Sequence[Column], tables: Sequence[Table]) -> Table:
    """The rows of several tables of the same columns, one table after another."""
    if not tables:
        return Table.from_rows(columns, [])
    join: Callable[[Any], Any]
    data = {}
    for c in columns:
        join = np.ma.concatenate if c.nullable and c.type != "text" else np.concatenate
        data[c.name] = join([t[c.name] for t in tables])
    return Table(columns, data)


def _typed(column: Column, values: Any) -> Values:
    if column.type == "text":
        if isinstance(values, np.ndarray) and values.dtype == object:
            return values
        out: Values = np.empty(len(values), dtype=object)
        out[:] = list(values)
        return out
    dtype = DTYPES[column.type]
    try:
        if isinstance(values, np.ndarray):
            if column.nullable:
                mask = np.ma.getmaskarray(values)
                masked: Values = np.ma.MaskedArray(np.ma.getdata(values).astype(dtype), mask=mask)
                return masked
            return values.astype(dtype, copy=False)
        filled = [FILL[column.type] if v is None else v for v in values]
        array: Values = np.array(filled, dtype=dtype)
    except OverflowError:
        raise CannotTell(
            f"column {column.name}: holds a number of more than 64 bits; the durations recorded "
            "cannot be right"
        ) from None
    missing = np.array([v is None for v in values], dtype=np.bool_)
    if column.nullable:
        nulls: Values = np.ma.MaskedArray(array, mask=missing)
        return nulls
    if missing.any():
        raise ValueError(f"column {column.name} holds None and is not nullable")
    return array


def _cell(value: Any) -> str:
    """A value on one line, bounded; control characters cannot act on a terminal."""
    if value is None:
        return "None"
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    text = text[: SHOWN_CHARS - 1] + "…" if len(text) > SHOWN_CHARS else text
    return "".join(c if c.isprintable() else "?" for c in text)


def _optional(library: str) -> Any:
    try:
        return import_module(library)
    except ImportError:
        raise UsageError(f"{library} is not installed: pip install {library}") from None
