"""Calls that hold the lap outside operators: printing, saving, sleeping, collecting."""

from __future__ import annotations

from typing import Any

import pytest

from laptime.causes import (
    checkpoint_stalls,
    explicit_collection,
    fixed_timers,
    logging_metrics,
)
from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, Made

CAUSES = [checkpoint_stalls, explicit_collection, fixed_timers, logging_metrics]
FRAMES = [
    (logging_metrics, "<built-in function print>"),
    (logging_metrics, "logging/__init__.py(1614): info"),
    (logging_metrics, "torch/utils/tensorboard/writer.py(329): add_scalar"),
    (checkpoint_stalls, "torch/serialization.py(850): save"),
    (checkpoint_stalls, "<built-in function fsync>"),
    (fixed_timers, "<built-in function sleep>"),
    (explicit_collection, "<built-in function collect>"),
]
MARKS = [
    (logging_metrics, "laptime.call: print from train.py(7): report"),
    (checkpoint_stalls, "laptime.call: torch.save from train.py(7): report"),
    (fixed_timers, "laptime.call: time.sleep(0.01) from train.py(7): report"),
    (explicit_collection, "laptime.call: gc.collect from train.py(7): report"),
]


def calling(kind: Kind, name: str, dur_ms: float = 10.0, cpu: bool = True, laps: int = 4) -> Made:
    """Operators in every lap, and a call of the name at 50 ms of the first ``laps``."""
    made = Made(cpu=cpu)
    for i, lap in enumerate(made.each()):
        made.op("aten::mm", lap, 40.0)
        if i < laps:
            made.row(kind, name, lap + 50.0, dur_ms)
    return made


def test_a_mean_that_one_lap_makes_is_told_with_the_middle_lap() -> None:
    """0.1 ms in three laps, 49.7 in one: 50 / 4 = 12.5 on average."""
    made = Made(cpu=True)
    for i, lap in enumerate(made.each()):
        made.op("aten::mm", lap, 40.0)
        made.row(Kind.PYTHON, "<built-in function print>", lap + 50.0, 49.7 if i == 2 else 0.1)
    found = logging_metrics.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 12_500_000
    assert "take 12.5 of each 100 ms lap (12 %) on average, 100 us in the middle lap: 1 call" in (
        found.sentence
    )


@pytest.mark.parametrize(("module", "name"), FRAMES)
def test_a_frame_costs_its_time(module: Any, name: str) -> None:
    made = calling(Kind.PYTHON, name)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(3): step", lap + 1.0, 90.0)
    found = module.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS
    assert found.share == pytest.approx(0.1)
    assert "10.0 of each 100 ms lap (10 %): 1 call a lap, the longest 10.0 ms" in found.sentence
    assert "most from train.py(3): step" in found.sentence
    assert found.events_in_all == 4


@pytest.mark.parametrize(("module", "name"), MARKS)
def test_the_probe_s_mark_tells_the_line(module: Any, name: str) -> None:
    found = module.CAUSE.look(calling(Kind.ANNOTATION, name).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS
    assert "most from train.py(7): report" in found.sentence
    others = [m for m in CAUSES if m is not module]
    for other in others:
        assert isinstance(other.CAUSE.look(calling(Kind.ANNOTATION, name).case()), Abstention)


@pytest.mark.parametrize("module", CAUSES)
def test_no_row_is_no_call_only_where_calls_are_watched(module: Any) -> None:
    plain = module.CAUSE.look(calling(Kind.ANNOTATION, "forward").case())
    assert isinstance(plain, Abstention)
    assert plain.missing == ("capture", "stacks")
    stacks = module.CAUSE.look(calling(Kind.PYTHON, "train.py(3): step").case())
    assert isinstance(stacks, Clear)
    made = calling(Kind.ANNOTATION, "forward")
    made.mark("laptime.calls", 0.0, 0.001)
    assert isinstance(module.CAUSE.look(made.case()), Clear)


@pytest.mark.parametrize(("module", "name"), FRAMES)
def test_below_two_per_cent_is_told_and_not_found(module: Any, name: str) -> None:
    said = module.CAUSE.look(calling(Kind.PYTHON, name, 1.9).case())
    assert isinstance(said, Clear)
    assert "1.9 % of the lap, below 2.0 %" in said.why


@pytest.mark.parametrize(("module", "name"), FRAMES)
def test_beside_device_work_it_costs_nothing(module: Any, name: str) -> None:
    made = calling(Kind.PYTHON, name, cpu=False)
    said = module.CAUSE.look(made.case())
    assert isinstance(said, Clear)
    assert "another 10.0 ms a lap beside device work" in said.why
    for lap in made.each():
        made.account("side_work", lap + 54.0, lap + 60.0)
    found = module.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert "leave the device idle for 6.00 of each 100 ms lap" in found.sentence
    assert "another 4.00 ms a lap beside device work" in found.sentence


def test_a_call_around_laps_is_no_part_of_one() -> None:
    """An autologger that calls the whole training: its frame holds the laps."""
    made = calling(Kind.PYTHON, "train.py(3): step")
    made.row(Kind.PYTHON, "wandb/sdk/wandb_run.py(10): log", 0.0, 400.0)
    assert isinstance(logging_metrics.CAUSE.look(made.case()), Clear)


def test_nested_calls_count_once() -> None:
    made = calling(Kind.PYTHON, "torch/serialization.py(850): save")
    for lap in made.each():
        made.row(Kind.PYTHON, "<built-in function fsync>", lap + 55.0, 4.0)
    found = checkpoint_stalls.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS
    assert found.events_in_all == 4


def test_a_checkpoint_in_some_laps_says_what_such_a_lap_pays() -> None:
    made = calling(Kind.PYTHON, "torch/serialization.py(850): save", 40.0, laps=1)
    found = checkpoint_stalls.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS
    assert "all of it in 1 of 4 laps" in found.sentence
    assert any("pays up to 40.0 ms" in line for line in found.why)


def test_sleeps_tell_how_alike_they_are() -> None:
    found = fixed_timers.CAUSE.look(calling(Kind.PYTHON, "<built-in function sleep>").case())
    assert isinstance(found, Finding)
    assert found.why[-1] == (
        "one sleep lasts 10.0 ms in the middle, 10.0 ms at least and 10.0 ms at most"
    )


def test_checkpoints_of_activations_are_no_saving() -> None:
    made = calling(Kind.PYTHON, "torch/utils/checkpoint.py(450): checkpoint")
    made.mark("checkpoint", 50.0, 10.0)
    assert isinstance(checkpoint_stalls.CAUSE.look(made.case()), Clear)


@pytest.mark.parametrize("module", CAUSES)
def test_without_host_rows_nothing_is_told(module: Any) -> None:
    said = outcome(module.CAUSE, Made().case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(said, Abstention)
