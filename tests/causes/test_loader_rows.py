"""What a loader without workers does with its time: rows one by one, and collating."""

from __future__ import annotations

import pytest

from laptime.causes import rows_one_by_one, slow_collate
from laptime.causes.case import Abstention, Clear, Finding
from laptime.model.rows import Kind
from tests.causes.made import MS, Made


def loading(rows: int = 1000, marked: bool = True) -> Made:
    """Each lap fetches rows for 30 ms, of which the last 10 ms collate."""
    made = Made(cpu=True)
    made.mark("laptime.calls", 0.0, 0.001)
    for lap in made.each():
        made.op("aten::mm", lap + 50.0, 50.0)
        made.account("input_wait", lap, lap + 30.0)
        if marked:
            made.mark(f"laptime.load: rows({rows}) from data.py(4): __getitem__", lap, 30.0)
            made.mark("laptime.load: collate from data.py(9): join", lap + 20.0, 10.0)
            continue
        made.row(Kind.PYTHON, "torch/utils/data/_utils/fetch.py(47): fetch", lap, 30.0)
        made.row(
            Kind.PYTHON,
            "torch/utils/data/_utils/collate.py(398): default_collate",
            lap + 20.0,
            10.0,
        )
        for i in range(rows):
            each = 20.0 / rows
            made.row(Kind.PYTHON, "data.py(4): __getitem__", lap + i * each, each)
    return made


@pytest.mark.parametrize("marked", [True, False])
def test_cheap_rows_cost_fetching_without_collating(marked: bool) -> None:
    found = rows_one_by_one.CAUSE.look(loading(marked=marked).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 20 * MS
    assert found.sentence.startswith(
        "Fetching 1000 rows a lap one by one takes 20.0 of each 100 ms lap (20 %): 20.0 us a row"
    )


@pytest.mark.parametrize("marked", [True, False])
def test_large_rows_are_decoding(marked: bool) -> None:
    said = rows_one_by_one.CAUSE.look(loading(50, marked).case())
    assert isinstance(said, Clear)
    assert "a row takes more than 200 us, 400 us a row" in said.why


@pytest.mark.parametrize("marked", [True, False])
def test_collating_costs_its_time(marked: bool) -> None:
    found = slow_collate.CAUSE.look(loading(marked=marked).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS


def test_nothing_is_told_where_nothing_is_watched() -> None:
    made = Made(cpu=True)
    made.op("aten::mm", 0.0, 50.0)
    for module in (rows_one_by_one, slow_collate):
        assert isinstance(module.CAUSE.look(made.case()), Abstention)
    made.mark("laptime.calls", 0.0, 0.001)
    for module in (rows_one_by_one, slow_collate):
        assert isinstance(module.CAUSE.look(made.case()), Clear)
