"""A thread that metadata names twice has one name, whatever the order of the events."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

import laptime


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["thread 5 (python)", "loader"], "loader"),
        (["thread 5", "5", ""], "5"),
        (["worker", "main", "thread 5 ()"], "main"),
        (["thread 5 (python)", "thread 5 (pt_autograd_0)"], "thread 5 (pt_autograd_0)"),
        (["Thread pool", "thread 5"], "Thread pool"),
    ],
)
def test_order_has_no_say(tmp_path: Path, names: list[str], chosen: str) -> None:
    op = {"ph": "X", "cat": "cpu_op", "name": "f", "pid": 1, "tid": 5, "ts": 1, "dur": 1}
    item = {"ph": "M", "name": "thread_name", "pid": 1, "tid": "5", "ts": 0}
    path = tmp_path / "trace.json"
    for order in itertools.permutations(names):
        meta = [item | {"args": {"name": name}} for name in order]
        path.write_text(json.dumps({"traceEvents": [meta[0], op, *meta[1:]]}))
        (timeline,) = laptime.open(str(path)).timelines
        assert [lane.name for lane in timeline.lanes] == [chosen]
