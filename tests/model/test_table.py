"""Tables: exact integers, missing values that stay missing, bounded displays, typed errors."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model.errors import CannotTell, UsageError
from laptime.model.table import SHOWN_ROWS, Column, Table, concatenated

COLUMNS = (
    Column("start_ns", "int", "Start."),
    Column("dur_ns", "int", "Duration.", nullable=True),
    Column("share", "float", "Share.", nullable=True),
    Column("name", "text", "Name.", nullable=True),
    Column("open", "bool", "Open."),
)
LARGE = 2**62 + 1
ROWS = [(LARGE, None, 0.5, "a", True), (-3, 7, None, None, False), (0, 0, 0.0, "", True)]

value = st.tuples(
    st.integers(-(2**63), 2**63 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    st.booleans(),
)


def test_rows_are_what_was_put_in() -> None:
    table = Table.from_rows(COLUMNS, ROWS)
    assert [tuple(r.values()) for r in table.rows()] == ROWS
    assert list(next(table.rows())) == table.columns
    assert len(table) == 3


def test_units_are_told_by_names() -> None:
    assert [c.unit for c in COLUMNS] == ["ns", "ns", None, None, None]


def test_missing_is_masked_not_zero() -> None:
    arrays = Table.from_rows(COLUMNS, ROWS).numpy()
    dur = arrays["dur_ns"]
    assert isinstance(dur, np.ma.MaskedArray)
    assert dur.mask.tolist() == [True, False, False]
    assert dur.sum() == 7
    assert arrays["start_ns"].dtype == np.int64
    assert int(arrays["start_ns"][0]) == LARGE


def test_missing_where_nothing_may_miss_is_refused() -> None:
    with pytest.raises(ValueError, match="start_ns"):
        Table.from_rows(COLUMNS, [(None, 1, 1.0, "a", True)])


def test_more_than_64_bits_is_said() -> None:
    with pytest.raises(CannotTell, match="more than 64 bits"):
        Table.from_rows(COLUMNS, [(2**63, 1, 1.0, "a", True)])


@given(st.lists(value, max_size=6), st.lists(value, max_size=6))
def test_concatenation_keeps_rows(one: list[Any], two: list[Any]) -> None:
    tables = [Table.from_rows(COLUMNS, one), Table.from_rows(COLUMNS, two)]
    assert [tuple(r.values()) for r in concatenated(COLUMNS, tables)] == one + two


def test_unknown_column() -> None:
    with pytest.raises(UsageError, match="no column 'x'; columns: start_ns, dur_ns"):
        Table.from_rows(COLUMNS, ROWS)["x"]


def test_displays_are_bounded_and_escaped() -> None:
    table = Table.from_rows(COLUMNS, [(i, i, 0.1, "<b>\x1b[31m" * 99, True) for i in range(999)])
    text, html = repr(table), table._repr_html_()
    assert len(text.splitlines()) == SHOWN_ROWS + 2
    assert "\x1b" not in text
    assert html.count("<tr>") == SHOWN_ROWS + 1
    assert "<b>" not in html
    assert "[999 rows x 5 columns, the first 20 shown]" in html
    assert len(html) < 8000


@pytest.mark.parametrize(
    ("library", "method"), [("pandas", "df"), ("polars", "pl"), ("pyarrow", "arrow")]
)
def test_absent_library_is_one_line(
    monkeypatch: pytest.MonkeyPatch, library: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UsageError) as error:
        getattr(Table.from_rows(COLUMNS, ROWS), method)()
    assert str(error.value) == f"{library} is not installed: pip install {library}"


def test_pandas() -> None:
    pytest.importorskip("pandas")
    frame = Table.from_rows(COLUMNS, ROWS).df()
    assert frame["start_ns"].tolist() == [LARGE, -3, 0]
    assert frame["dur_ns"].isna().tolist() == [True, False, False]
    assert frame["dur_ns"].sum() == 7
    assert str(frame["dur_ns"].dtype) == "Int64"
    assert frame["name"].tolist() == ["a", None, ""]


def test_polars() -> None:
    pytest.importorskip("polars")
    frame = Table.from_rows(COLUMNS, ROWS).pl()
    assert [tuple(r) for r in frame.rows()] == ROWS
    assert Table.from_rows(COLUMNS, []).pl().height == 0


def test_arrow() -> None:
    pytest.importorskip("pyarrow")
    table = Table.from_rows(COLUMNS, ROWS).arrow()
    assert [tuple(r.values()) for r in table.to_pylist()] == ROWS
