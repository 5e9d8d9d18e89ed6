"""Time between operators: in Python, in filling tensors from lists, and around tiny operators."""

from __future__ import annotations

import pytest

from laptime.causes import many_tiny_ops, python_between_ops, tensor_from_list
from laptime.causes.case import Abstention, Clear, Finding
from laptime.model.rows import Kind
from tests.causes.made import MS, STREAM, Made


def pausing(ms: float, cpu: bool = True, account: str = "between_ops") -> Made:
    """An operator of 40 ms, a gap, and another operator to the end of the lap; calls watched."""
    made = Made(cpu=cpu)
    made.mark("laptime.calls", 0.0, 0.001)
    for lap in made.each():
        made.op("aten::mm", lap, 40.0)
        made.op("aten::relu", lap + 40.0 + ms, 60.0 - ms)
        made.account(account, lap + 40.0, lap + 40.0 + ms)
    return made


@pytest.mark.parametrize("account", ["between_ops", "python"])
def test_a_gap_costs_its_length(account: str) -> None:
    found = python_between_ops.CAUSE.look(pausing(20.0, account=account).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 20 * MS
    assert found.share == pytest.approx(0.2)
    assert found.sentence == (
        "The owning thread is between operators for 20.0 of each 100 ms lap (20 %), in 1 gap a "
        "lap, the longest 20.0 ms; most after aten::mm and before aten::relu (20.0 ms a lap)."
    )
    assert "record with --stacks" in found.next_step[0]


def test_functions_of_the_program_by_their_own_time() -> None:
    """15 of 20 ms in a function that calls a library for 5 of them, the rest in its caller."""
    made = pausing(20.0)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(3): step", lap + 1.0, 98.0)
        made.row(Kind.PYTHON, "train.py(9): score", lap + 42.0, 15.0)
        made.row(Kind.PYTHON, "json/__init__.py(183): dumps", lap + 50.0, 5.0)
    found = python_between_ops.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "most in train.py(9): score (15.0 ms a lap)" in found.sentence
    assert found.why[2] == "in train.py(3): step: 5.00 ms a lap"


def test_below_a_tenth_is_how_eager_programs_are() -> None:
    said = python_between_ops.CAUSE.look(pausing(9.0).case())
    assert isinstance(said, Clear)
    assert said.why == "gaps between operators take 9.0 % of the lap, below 10 %"


def test_waiting_for_another_thread_s_operators_is_no_python() -> None:
    made = pausing(20.0)
    for lap in made.each():
        made.mark("gloo:all_reduce", lap + 41.0, 18.0, lane=STREAM)
    said = python_between_ops.CAUSE.look(made.case())
    assert isinstance(said, Clear)
    assert said.why.startswith("gaps between operators take 2.0 %")


def test_gaps_of_autograd_s_engine_are_no_python() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.op("aten::ones_like", lap, 40.0)
        made.op("autograd::engine::evaluate_function: AddmmBackward0", lap + 70.0, 30.0)
        made.account("between_ops", lap + 40.0, lap + 70.0)
    assert isinstance(python_between_ops.CAUSE.look(made.case()), Clear)


def test_a_thread_without_operators_around_is_not_known() -> None:
    made = Made(cpu=True, fill="between_ops")
    made.op("aten::empty", 399.0, 0.5)
    assert isinstance(python_between_ops.CAUSE.look(made.case()), Clear)


def test_of_a_device_only_idle_times_that_are_no_launch_cost() -> None:
    long = python_between_ops.CAUSE.look(pausing(20.0, False, "host_between_ops").case())
    assert isinstance(long, Finding)
    assert long.bound_ns == 20 * MS
    made = Made()
    for lap in made.each():
        for i in range(50):
            made.op("aten::mm", lap + 2 * i, 1.0)
            made.account("host_between_ops", lap + 2 * i + 1.1, lap + 2 * i + 1.9)
    assert isinstance(python_between_ops.CAUSE.look(made.case()), Clear)


def test_a_trace_without_stacks_does_not_tell_what_is_in_the_gaps() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.op("aten::mm", lap, 40.0)
        made.op("aten::relu", lap + 60.0, 40.0)
        made.account("between_ops", lap + 40.0, lap + 60.0)
    said = python_between_ops.CAUSE.look(made.case())
    assert isinstance(said, Abstention)
    assert said.missing == ("capture", "stacks")
    assert said.supply.endswith("gaps between operators take 20 % of the lap")


def test_without_operators_no_tiny_one_is_known() -> None:
    made = Made(cpu=True, fill="between_ops")
    made.mark("forward", 0.0, 10.0)
    assert isinstance(many_tiny_ops.CAUSE.look(made.case()), Abstention)


def filling(after: str = "aten::lift_fresh", before: str = "aten::empty") -> Made:
    """A search of 5 ms, ``aten::empty``, 10 ms of filling, and what ``torch.tensor`` ends with."""
    made = Made(cpu=True)
    for lap in made.each():
        made.op("aten::mm", lap, 40.0)
        made.op(before, lap + 45.0, 1.0)
        made.op(after, lap + 56.0, 1.0)
        made.op("aten::detach_", lap + 57.0, 1.0)
        made.op("aten::relu", lap + 58.0, 42.0)
        made.account("between_ops", lap + 40.0, lap + 45.0)
        made.account("between_ops", lap + 46.0, lap + 56.0)
    return made


@pytest.mark.parametrize("after", ["aten::lift_fresh", "aten::to"])
def test_a_tensor_from_a_list_is_told_by_its_operators(after: str) -> None:
    found = tensor_from_list.CAUSE.look(filling(after).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 15 * MS
    assert found.share == pytest.approx(0.15)
    assert found.sentence == (
        "Filling 1 tensor a lap from lists takes 10.0 of each 100 ms lap (10 %), the longest 10.0 "
        "ms; the gaps before them, 5.00 ms a lap, hold the search of the lists for their shape "
        "and type."
    )


@pytest.mark.parametrize(("after", "before"), [("aten::mul", "aten::empty"), ("aten::to", "x")])
def test_other_gaps_fill_nothing(after: str, before: str) -> None:
    assert isinstance(tensor_from_list.CAUSE.look(filling(after, before).case()), Clear)


def dispatching(us: float, number: int) -> Made:
    """Operators of the length with gaps of 10 us between them, then one large operator."""
    made = Made(cpu=True)
    for lap in made.each():
        at = lap
        for _ in range(number):
            made.op("aten::add", at, us / 1000)
            made.account("between_ops", at + us / 1000, at + us / 1000 + 0.01)
            at += us / 1000 + 0.01
        made.op("aten::mm", at, lap + 100.0 - at)
    return made


def test_tiny_operators_and_their_gaps_are_one_cost() -> None:
    """2000 operators of 10 us and as many gaps of 10 us: 40 of 100 ms."""
    found = many_tiny_ops.CAUSE.look(dispatching(10.0, 2000).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 40 * MS
    assert found.share == pytest.approx(0.4)
    assert found.formula == (
        "20.0 ms in these operators + 20.0 ms in gaps of at most 20.0 us beside them"
    )
    assert found.why[0] == (
        "8000 operators in all, 2000 a lap; of their own time 80,000,000 ns in all, "
        "a mean of 10.0 us"
    )


@pytest.mark.parametrize(("us", "number"), [(10.0, 150), (10.0, 1000), (30.0, 1000)])
def test_few_or_larger_operators_are_not_tiny_ones(us: float, number: int) -> None:
    """150 are too few; 1000 of 10 us with gaps are 20 ms of 100; those of 30 us are not tiny."""
    assert isinstance(many_tiny_ops.CAUSE.look(dispatching(us, number).case()), Clear)


def test_runs_with_a_device_are_launch_bound_instead() -> None:
    assert isinstance(many_tiny_ops.CAUSE.look(Made().case()), Clear)
