"""Where laps begin and end, and which count: marks that overlap, idle laps, short last ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import laptime
from laptime import UsageError
from laptime.ledger.laps.marks import NOT_A_STEP, USER
from laptime.ledger.ledger import Ledger

PERIOD_US = 10_000


def step(number: int, start: float, dur: float, cat: str = "user_annotation") -> dict[str, Any]:
    name = f"ProfilerStep#{number}"
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": dur}


def work(number: int, start: int, dur: int = 8_000) -> list[dict[str, Any]]:
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
    kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7}
    args = {"correlation": number, "device": 0, "stream": 7}
    return [
        call | {"ts": start, "dur": 5, "args": {"correlation": number}},
        kernel | {"ts": start + 10, "dur": dur, "args": args},
    ]


def ledger(tmp_path: Path, events: list[dict[str, Any]], mark: str | None = None) -> Ledger:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return laptime.explain(laptime.open(str(path)), mark).views[0].ledger


def lengths(told: Ledger) -> list[int]:
    device = told.devices[0]
    counted = told.counted(device).tolist()
    return [w.dur_ns for w, c in zip(device.windows, counted, strict=True) if c]


def loop(steps: int, dur: float = PERIOD_US - 10, idle: tuple[int, ...] = ()) -> list[Any]:
    events: list[Any] = []
    for i in range(steps):
        events.append(step(i, i * PERIOD_US, dur))
        if i not in idle:
            events += work(i + 1, i * PERIOD_US + 100)
    return events


@pytest.mark.parametrize("dur", [PERIOD_US + 0.001, PERIOD_US + 200])
def test_marks_that_reach_into_the_next_are_clipped_and_none_is_dropped(
    tmp_path: Path, dur: float
) -> None:
    told = ledger(tmp_path, loop(6, dur))
    assert [lap.dur_ns for lap in told.laps.laps][:5] == [PERIOD_US * 1000] * 5
    assert lengths(told) == [PERIOD_US * 1000] * 5
    assert "5 marks reach into the next one" in told.laps.notes[0]


def test_a_mark_inside_another_is_no_lap(tmp_path: Path) -> None:
    events = loop(4)
    events.append(step(99, 2 * PERIOD_US + 50, 400))
    assert [lap.label for lap in ledger(tmp_path, events).laps.laps] == [
        f"ProfilerStep#{i}" for i in range(4)
    ]


def test_a_lap_without_device_work_is_not_counted_and_does_not_lengthen_the_mean(
    tmp_path: Path,
) -> None:
    told = ledger(tmp_path, loop(7, idle=(3,)))
    empty = told.laps.laps[3]
    assert (empty.steady, empty.why_not) == (False, "no device work of its own")
    assert [lap.steady for lap in told.laps.laps].count(True) == 6
    assert lengths(told) == [PERIOD_US * 1000] * 4  # the fifth closed one runs over the empty lap
    assert "1 of 7 laps launched nothing on gpu0" in told.laps.notes[0]


@pytest.mark.parametrize("whole", [2, 3, 4])
def test_a_short_last_step_does_not_make_whole_ones_warm_up(tmp_path: Path, whole: int) -> None:
    events = [*loop(whole), step(whole, whole * PERIOD_US, 40)]
    told = ledger(tmp_path, events)
    assert [lap.steady for lap in told.laps.laps] == [True] * whole + [False]


def test_a_long_first_step_is_warm_up(tmp_path: Path) -> None:
    events = [step(0, 0, 3 * PERIOD_US - 10), *work(90, 100, 28_000)]
    for i in range(1, 5):
        at = (i + 2) * PERIOD_US
        events += [step(i, at, PERIOD_US - 10), *work(i, at + 100)]
    told = ledger(tmp_path, events)
    assert [lap.why_not for lap in told.laps.laps] == ["warm-up", None, None, None, None]


def test_step_marks_recorded_as_operators(tmp_path: Path) -> None:
    events = [e | {"cat": "cpu_op"} if "Step" in e["name"] else e for e in loop(5)]
    assert len(ledger(tmp_path, events).laps.laps) == 5


def test_correlation_ids_used_again_belong_to_the_latest_call(tmp_path: Path) -> None:
    events = loop(6)
    for event in events:
        if "args" in event:
            event["args"]["correlation"] = 1
    assert lengths(ledger(tmp_path, events)) == [PERIOD_US * 1000] * 5


def test_user_marks_run_to_the_next_and_the_last_is_not_counted(tmp_path: Path) -> None:
    events = [
        e | {"name": "train_step", "dur": 4_000} if "Step" in e["name"] else e for e in loop(5)
    ]
    told = ledger(tmp_path, events)
    assert [lap.dur_ns for lap in told.laps.laps] == [PERIOD_US * 1000] * 4 + [4_000_000]
    assert told.laps.laps[-1].why_not == "no mark after it"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("PrfilerStep", r"such as ProfilerStep#\*$"),  # spelt alike
        ("step", r"such as ProfilerStep#\*$"),  # held
        ("zzz", r"such as ProfilerStep#\*$"),  # nothing near: what there is
    ],
)
def test_a_mark_that_is_not_there_names_those_that_are(
    asked: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        ledger(tmp_path, loop(5), asked)


STEPS = (
    "train_step",
    "step 3",
    "Iteration #5",
    "[pl][profile]run_training_batch",
    "eval_step",
    "train/step",
    "training step 3/100",
    "batch 7",
    "one_step",
    "train step (rank 0)",
)
PARTS = (
    "compute step loss",
    "Optimizer.step#SGD.step",
    "lr_scheduler.step",
    "load_batch",
    "iterator",
    "copy_batch_to_gpu",
    "batch_norm",
    "profiler_step",
    "## forward ##",
)


def test_names_that_are_steps_and_names_that_only_mention_one() -> None:
    def is_step(name: str) -> bool:
        return bool(USER.fullmatch(name)) and not NOT_A_STEP.search(name)

    assert [n for n in STEPS if not is_step(n)] == []
    assert [n for n in PARTS if is_step(n)] == []


def test_p99_is_the_value_that_99_of_100_laps_do_not_exceed(tmp_path: Path) -> None:
    """101 laps, one of them ten times as long: 100 closed windows."""
    events, at = [], 0
    for i in range(101):
        length = 10 * PERIOD_US if i == 50 else PERIOD_US
        events += [step(i, at, length - 10), *work(i + 1, at + 100)]
        at += length
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    spread = laptime.explain(laptime.open(str(path))).views[0].spreads["gpu0"]
    assert (spread.laps, spread.worst_ns) == (100, 10 * PERIOD_US * 1000)
    assert spread.p99_ns == PERIOD_US * 1000
