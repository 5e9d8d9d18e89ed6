"""Calls beside operators: marked with the line that made them, and the program's own afterwards."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

import laptime
from laptime.model.rows import Kind
from tests.capture import running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


def test_calls_are_marked_while_the_window_is_open(tmp_path: Path) -> None:
    ran = running.run(tmp_path / "run", [running.program("side_calls")], [])
    assert ran.code == 0, ran.err
    assert ran.out.splitlines() == [*(f"step {i}" for i in range(30)), "True"]
    (view,) = laptime.explain(laptime.open(ran.folder)).views
    rows = view.timeline.rows
    marks = Counter(
        rows.name_of(int(r))
        for r in rows.of_kind(Kind.ANNOTATION)
        if rows.name_of(int(r)).startswith("laptime.call: ")
    )
    says = {name.partition(" from ")[0].removeprefix("laptime.call: ") for name in marks}
    assert says == {"print", "logging", "time.sleep(0.002)", "torch.save", "gc.collect"}
    lines = {name.partition(" from ")[2].rpartition("/")[2] for name in marks}
    assert lines == {f"side_calls.py({n}): aside" for n in range(12, 17)}
    assert set(marks.values()) == {5}
