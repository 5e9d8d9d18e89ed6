"""The innermost region at each instant: the fast way against a look at every instant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.ledger.by_region import OUTSIDE, _innermost, grouped, region_table
from laptime.model.rows import Kind, Rows
from tests.causes.made import MS, Made


def rows_of(spans: list[tuple[int, int]]) -> Rows:
    start = np.array([s for s, _ in spans], dtype=np.int64)
    dur = np.array([d for _, d in spans], dtype=np.int64)
    names = [f"region {i}" for i in range(len(spans))]
    zeros = np.zeros(len(spans), dtype=np.uint8)
    return Rows(start, dur, np.arange(len(spans)), names, zeros, [""], zeros, zeros, zeros)


def by_instant(spans: list[tuple[int, int]]) -> dict[int, int]:
    """The region last in order of (start, -length, row) whose time, cut where the one around it
    ends, holds the instant."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i][0], -spans[i][1], i))
    cut: dict[int, int] = {}
    out: dict[int, int] = {}
    for i in order:
        start, end = spans[i][0], spans[i][0] + spans[i][1]
        around = [j for j in cut if spans[j][0] <= start < cut[j]]
        cut[i] = min([end] + [cut[j] for j in around])
        for instant in range(start, cut[i]):
            out[instant] = i
    return out


def read(rows: Rows) -> dict[int, int]:
    (start, end), name = _innermost(rows, np.arange(len(rows)))
    assert (end > start).all()
    assert (start[1:] >= end[:-1]).all()
    return {
        t: n
        for a, b, n in zip(start.tolist(), end.tolist(), name.tolist(), strict=True)
        for t in range(a, b)
    }


spans = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 20)), min_size=1, max_size=12)


@given(spans)
def test_any_regions(made: list[tuple[int, int]]) -> None:
    assert read(rows_of(made)) == by_instant(made)


@pytest.mark.parametrize("same", [2, 3])
def test_equal_regions_nest_in_the_order_of_rows(same: int) -> None:
    assert set(read(rows_of([(5, 10)] * same)).values()) == {same - 1}


def test_regions_that_differ_by_a_number_are_one_line() -> None:
    names = [
        "nn.Module: Linear_0",
        "nn.Module: Linear_11",
        "nn.Module: ReLU_0",
        "layer 1",
        "layer #2",
    ]
    assert grouped([*names, "conv1", "conv2", "3"]) == {
        "nn.Module: Linear_0": "nn.Module: Linear",
        "nn.Module: Linear_11": "nn.Module: Linear",
        "nn.Module: ReLU_0": "nn.Module: ReLU_0",
        "layer 1": "layer",
        "layer #2": "layer",
        "conv1": "conv1",
        "conv2": "conv2",
        "3": "3",
    }


def test_a_class_of_modules_is_summed_and_counted() -> None:
    made = Made(lap_ms=100.0, laps=3, cpu=True)
    for lap in made.each():
        for i in range(4):
            made.row(Kind.PYTHON, f"nn.Module: Linear_{i}", lap + 10 * i, 5.0 + i)
        for i in range(3):
            made.mark("load", lap + 50 + 10 * i, 2.0)
    case = made.case()
    table = region_table(case.timeline, case.ledger, case.ledger.devices[0], None)
    assert table is not None
    assert [(r.name, r.ns, r.members, r.count) for r in table.lines] == [
        (OUTSIDE, 3 * (100 - 26 - 6) * MS, 1, None),
        ("nn.Module: Linear", 3 * 26 * MS, 4, 12),
        ("load", 3 * 6 * MS, 1, 9),
    ]
