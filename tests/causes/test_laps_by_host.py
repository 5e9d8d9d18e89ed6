"""What a lap does after its model, and laps that do more than the one before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from laptime.causes import host_work_after_model, work_that_grows
from laptime.causes.case import Abstention, Case, Clear, Finding
from laptime.model.laps import Lap
from tests.causes.made import MS, SIDE, Made


def ending(ms: float, laps: int = 4, watched: bool = True) -> Made:
    """A large operator, a small one of 1 ms behind it, and Python to the end of the lap."""
    made = Made(cpu=True)
    if watched:
        made.mark("laptime.calls", 0.0, 0.001)
    for i, lap in enumerate(made.each()):
        rest = ms if i < laps else 0.0
        made.op("aten::mm", lap, 99.0 - rest)
        made.op("aten::sort", lap + 99.0 - rest, 1.0)
        made.account("python", lap + 100.0 - rest, lap + 100.0)
    return made


def test_what_follows_the_last_large_operator_costs() -> None:
    found = host_work_after_model.CAUSE.look(ending(20.0).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 21 * MS
    assert "(aten::mm) the host goes on alone for 21.0 of each 100 ms lap (21 %)" in found.sentence


def test_a_lap_that_ends_with_its_model_is_clear() -> None:
    assert isinstance(host_work_after_model.CAUSE.look(ending(3.0).case()), Clear)


def test_waiting_for_a_communicator_is_no_work_after_the_model() -> None:
    """15 of the 20 ms without a row lie under a reduction that another thread runs."""
    made = ending(20.0)
    for lap in made.each():
        made.op("gloo:all_reduce", lap + 70.0, 25.0, lane=SIDE)
    found = host_work_after_model.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS


def test_the_steps_of_an_optimizer_are_no_work_after_the_model() -> None:
    """Of 21 ms after the last large operator 12 lie inside the step, the rest behind it."""
    made = ending(20.0)
    for lap in made.each():
        made.mark("Optimizer.step#Adam.step", lap + 79.0, 12.0)
    found = host_work_after_model.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 9 * MS


def test_one_long_lap_of_four_is_no_trait() -> None:
    said = host_work_after_model.CAUSE.look(ending(60.0, laps=1).case())
    assert isinstance(said, Clear)
    assert "16 % of the lap on average, but 1.0 % of the middle one" in said.why


def test_laps_that_were_held_up_are_left_out() -> None:
    """Six laps have 11 ms after the model, two have 91: without the two 66 / 8 = 8.25."""
    made = Made(cpu=True, laps=8)
    made.mark("laptime.calls", 0.0, 0.001)
    for i, lap in enumerate(made.each()):
        rest = 90.0 if i < 2 else 10.0
        made.op("aten::mm", lap, 99.0 - rest)
        made.op("aten::sort", lap + 99.0 - rest, 0.1)
        made.account("python", lap + 100.0 - rest, lap + 100.0)
    found = host_work_after_model.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.sentence.endswith(
        "without 2 of 8 laps above twice the middle one's 11.0 ms (with them 31.0 ms a lap)."
    )
    assert found.bound_ns == 8_250_000


def test_without_stacks_anything_may_follow() -> None:
    said = host_work_after_model.CAUSE.look(ending(20.0, watched=False).case())
    assert isinstance(said, Abstention)


def growing(more: int = 1, longer_ms: float = 10.0, laps: int = 9) -> Case:
    """Laps of 100 ms and more: each is ``longer_ms`` longer and has ``more`` more operators."""
    made = Made(cpu=True, lap_ms=200.0, laps=laps)
    for i, lap in enumerate(made.each()):
        for k in range(5 + more * i):
            made.op("aten::cat", lap + k, 0.5)
    case = made.case()
    longer = [
        Lap(lap.id, lap.label, lap.start_ns, round((100 + longer_ms * i) * MS))
        for i, lap in enumerate(case.ledger.laps.laps)
    ]
    return replace(case, ledger=replace(case.ledger, laps=replace(case.ledger.laps, laps=longer)))


def test_more_calls_and_longer_laps_grow() -> None:
    """Nine laps, 10 ms longer each: 40 ms on average, of a mean of 140 ms."""
    found = work_that_grows.CAUSE.look(growing())
    assert isinstance(found, Finding)
    assert found.bound_ns == 40 * MS
    assert found.share == pytest.approx(40 / 140)
    assert found.sentence == (
        "Laps get longer by 10.0 ms each over 9 laps, on average 40.0 ms of 140 ms (29 %); "
        "aten::cat comes 5 times in the first recorded lap and 13 in the last."
    )


@pytest.mark.parametrize(("more", "longer_ms"), [(0, 10.0), (1, 0.0), (1, -5.0)])
def test_either_alone_is_no_growth(more: int, longer_ms: float) -> None:
    assert isinstance(work_that_grows.CAUSE.look(growing(more, longer_ms)), Clear)


def test_too_few_laps_to_test() -> None:
    assert isinstance(work_that_grows.CAUSE.look(growing(laps=5)), Abstention)
