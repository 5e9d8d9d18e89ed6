"""Self time of functions: against a look at every instant, whatever way rows nest or cross."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.ledger import frames
from laptime.ledger.by_function import FunctionTable, function_tables
from laptime.ledger.by_lap import lap_spread
from laptime.model.rows import Kind
from tests.causes.made import MS, SIDE, THREAD, Made

NAMES = ("train.py(4): step", "train.py(9): load", "torch/nn.py(7): forward", "<built-in sin>")
SPAN = tuple[int, int, int]
LAP, LAPS = 10, 3


def table_of(made: Made) -> FunctionTable:
    case = made.case()
    (table,) = function_tables(case.timeline, case.ledger, case.work).values()
    return table


def innermost(spans: list[SPAN]) -> dict[int, int]:
    """At each instant the last span in order of (start, -length, row) that still runs there, each
    cut where the one around it ends; and what is around each."""
    order = sorted(range(len(spans)), key=lambda i: (spans[i][1], -spans[i][2], i))
    cut: dict[int, int] = {}
    out: dict[int, int] = {}
    for i in order:
        _, start, dur = spans[i]
        around = [j for j in cut if spans[j][1] <= start < cut[j]]
        cut[i] = min([start + dur, *(cut[j] for j in around)])
        out.update(dict.fromkeys(range(start, cut[i]), i))
    return out


spans = st.lists(
    st.tuples(st.integers(0, len(NAMES) - 1), st.integers(0, 32), st.integers(1, 14)),
    min_size=1,
    max_size=10,
)
busy = st.lists(st.tuples(st.integers(0, 32), st.integers(1, 6)), max_size=4)


@given(spans, busy, st.booleans())
def test_self_and_idle_time_of_any_rows(
    rows: list[SPAN], work: list[tuple[int, int]], cpu: bool
) -> None:
    made = Made(lap_ms=LAP, laps=LAPS, cpu=cpu)
    for which, start, dur in rows:
        made.row(Kind.PYTHON, NAMES[which], start, dur)
    at_work: set[int] = set()
    if cpu:
        made.fill = "python"
    else:
        for start, dur in work:
            made.activity("kernel", start, dur, made.call("cudaLaunchKernel", start, 0.1))
            at_work |= set(range(start, start + dur))
    self_ms: dict[str, int] = {}
    part_ms: dict[str, int] = {}
    for instant, row in innermost(rows).items():
        if instant < LAP * LAPS:
            name = NAMES[rows[row][0]]
            self_ms[name] = self_ms.get(name, 0) + 1
            part_ms[name] = part_ms.get(name, 0) + (instant not in at_work)
    if min(start for _, start, _ in rows) >= LAP * LAPS:
        case = made.case()
        assert function_tables(case.timeline, case.ledger, case.work) == {}
        return
    table = table_of(made)
    assert {f.name: f.self_ns for f in table.lines} == {n: t * MS for n, t in self_ms.items()}
    told = {f.name: f.outside_ns if cpu else f.idle_ns for f in table.lines}
    assert told == {n: t * MS for n, t in part_ms.items()}
    assert sum(f.self_ns for f in table.lines) == table.covered_ns <= table.laps_ns
    assert {f.name: f.count for f in table.lines} == {
        n: sum(NAMES[r[0]] == n and r[1] < LAP * LAPS for r in rows) for n in self_ms
    }
    assert [f.self_ns for f in table.lines] == sorted(self_ms[f.name] * MS for f in table.lines)[
        ::-1
    ]


def test_the_users_own_code_around_a_librarys_function_is_named() -> None:
    made = Made(lap_ms=100.0, laps=2, cpu=True)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(1): main", lap, 100.0)
        made.row(Kind.PYTHON, "train.py(9): load", lap + 1, 40.0)
        made.row(Kind.PYTHON, "torch/utils.py(3): helper", lap + 2, 38.0)
        made.row(Kind.PYTHON, f"<built-in method sin of object at 0x7f{int(lap):02x}>", lap + 3, 30)
        made.row(Kind.PYTHON, "<built-in method sin of object at 0x7faa>", lap + 60, 10)
    by_name = {f.name: f for f in table_of(made).lines}
    sin = by_name["<built-in method sin of object>"]
    assert (sin.self_ns, sin.count) == (80 * MS, 4)
    assert (sin.caller, sin.callers) == ("train.py(9): load", 2)
    assert by_name["torch/utils.py(3): helper"].caller == "train.py(9): load"
    assert (by_name["train.py(9): load"].caller, by_name["train.py(9): load"].self_ns) == (
        None,
        4 * MS,
    )


def test_threads_that_feed_the_device_are_told_apart_and_others_left_out() -> None:
    made = Made(lap_ms=100.0, laps=2)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(1): main", lap, 50.0)
        made.row(Kind.PYTHON, "reader.py(1): run", lap, 90.0, lane=SIDE)
        made.activity("kernel", lap + 10, 20, made.call("cudaLaunchKernel", lap + 9, 0.1))
    table = table_of(made)
    assert [(f.name, f.lane) for f in table.lines] == [("train.py(1): main", THREAD)]
    assert (table.lines[0].self_ns, table.lines[0].idle_ns) == (100 * MS, 60 * MS)


@pytest.mark.parametrize(
    ("frame", "own"),
    [
        ("train.py(42): step", True),
        ("/home/me/train.py(42): step", True),
        ("transformers/trainer.py(9): train", True),
        ("/usr/lib/python3.11/site-packages/mine/x.py(3): f", True),
        ("/usr/lib/python3.11/site-packages/torch/x.py(3): f", False),
        ("/usr/lib/python3.11/odd.py(3): f", False),
        ("torch/nn/modules/module.py(1501): _call_impl", False),
        ("threading.py(870): run", False),
        ("<string>(1): f", False),
        ("<built-in function len>", False),
        ("nn.Module: Linear_0", False),
    ],
)
def test_whose_code_a_frame_is(frame: str, own: bool) -> None:
    assert frames.is_own(frame) is own


def test_slow_laps_name_self_time_not_every_frame_around() -> None:
    """The second lap's sleep is 5 ms longer: neither the step around it nor another thread."""
    made = Made(lap_ms=100.0, laps=4, cpu=True)
    for i, lap in enumerate(made.each()):
        sleep = 60.0 if i == 1 else 55.0
        made.row(Kind.PYTHON, "train.py(1): step", lap, 30 + sleep)
        made.op("aten::sleep", lap + 10, sleep)
        made.row(Kind.PYTHON, "other.py(1): run", lap, 30.0 + sleep, lane=SIDE)
    case = made.case()
    (device,) = case.ledger.devices
    lengths = [w.dur_ns for w in device.windows]
    longer = np.array(lengths) + np.array([0, 1, 0, 0])
    windows = [
        type(w)(w.device, w.lap, w.start_ns, int(n), w.open)
        for w, n in zip(device.windows, longer.tolist(), strict=True)
    ]
    object.__setattr__(device, "windows", windows)
    spread = lap_spread(case.timeline.rows, case.ledger, device, None)
    assert spread is not None
    (slow,) = spread.slow
    # The window made longer holds the first nanosecond of the next step.
    assert [(d.what, d.ns) for d in slow.host_names] == [
        ("aten::sleep", 5 * MS),
        ("train.py(1): step", 1),
    ]
