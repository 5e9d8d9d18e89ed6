"""Time between operators: in Python, in filling tensors from lists, and around tiny operators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from laptime.causes import many_tiny_ops, python_between_ops, side_cost, tensor_from_list
from laptime.causes.case import Abstention, Clear, Finding
from laptime.ledger.overhead import overhead
from laptime.model.counters import LapRecord
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


def uneven(each_ms: float, one_ms: float, few: int = 2) -> Made:
    """Eight laps of 100 ms with a gap of ``each_ms``, in ``few`` of them of ``one_ms``."""
    made = Made(cpu=True, laps=8)
    made.mark("laptime.calls", 0.0, 0.001)
    for i, lap in enumerate(made.each()):
        ms = one_ms if i < few else each_ms
        made.op("aten::mm", lap, 5.0)
        made.op("aten::relu", lap + 5.0 + ms, 95.0 - ms)
        made.account("between_ops", lap + 5.0, lap + 5.0 + ms)
    return made


def test_laps_that_were_held_up_are_not_in_the_figure() -> None:
    """6 laps have 15 ms and 2 have 90: on average 33.75, without the two 90 / 8 = 11.25."""
    found = python_between_ops.CAUSE.look(uneven(15.0, 90.0).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 11_250_000
    assert found.share == pytest.approx(0.1125)
    assert found.events_in_all == 6
    assert found.sentence == (
        "The owning thread is between operators for 11.2 of each 100 ms lap (11 %), in 0.8 gaps a "
        "lap, the longest 15.0 ms; most after aten::mm and before aten::relu (11.2 ms a lap), "
        "without 2 of 8 laps above twice the middle one's 15.0 ms (with them 33.8 ms a lap)."
    )


def test_time_of_a_few_laps_is_not_every_lap_s() -> None:
    """6 laps have 12 ms and 2 have 90: 31.5 on average, without the two 72 / 8 = 9."""
    said = python_between_ops.CAUSE.look(uneven(12.0, 90.0).case())
    assert isinstance(said, Clear)
    assert said.why == (
        "gaps between operators take 32 % of the lap on average (31.5 ms), but 12.0 ms in the "
        "middle one: 2 of 8 laps have most of it"
    )


def test_laps_that_differ_by_less_than_twice_are_all_counted() -> None:
    """6 laps have 20 ms and 2 have 35: 190 / 8 = 23.75."""
    found = python_between_ops.CAUSE.look(uneven(20.0, 35.0).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 23_750_000


def test_short_laps_and_one_that_waits_for_a_cpu() -> None:
    """13 laps of 562 us, a quarter between operators, and one of 84.3 ms that is nearly all gap:
    93.7 % of an average lap of 6.54 ms, of which 13 x 140.5 us are 2.0 %."""
    made = Made(cpu=True, lap_ms=0.562, laps=163)
    made.mark("laptime.calls", 0.0, 0.001)
    starts = list(made.each())
    for lap in starts[:13]:
        made.op("aten::mm", lap, 0.2)
        made.op("aten::relu", lap + 0.3405, 0.2215)
        made.account("between_ops", lap + 0.2, lap + 0.3405)
    held, end = starts[13], 163 * 0.562
    made.op("aten::mm", held, 0.2)
    made.op("aten::relu", end - 0.1, 0.1)
    made.account("between_ops", held + 0.2, end - 0.1)
    case = made.case()
    ledger = case.ledger.devices[0]
    last = ledger.windows[13]
    windows = [
        *ledger.windows[:13],
        replace(last, dur_ns=ledger.windows[-1].end_ns - last.start_ns),
    ]
    laps = replace(case.ledger.laps, laps=case.ledger.laps.laps[:14], by_device=windows)
    devices = [replace(ledger, windows=windows)]
    said = python_between_ops.CAUSE.look(
        replace(case, ledger=replace(case.ledger, laps=laps, devices=devices))
    )
    assert isinstance(said, Clear)
    assert said.why == (
        "gaps between operators take 93.7 % of the lap on average (6.13 ms), but 140 us in the "
        "middle one: 1 of 14 laps have most of it"
    )


@pytest.mark.parametrize(("plain_ms", "found"), [(60, False), (95, True)])
def test_what_recording_adds_may_lie_in_the_gaps(
    monkeypatch: pytest.MonkeyPatch, plain_ms: int, found: bool
) -> None:
    """45 of 100 ms: where recording adds 40 of them 5 remain, below 10; where it adds 5, 40."""
    laps = [[LapRecord(i, 0, ms * MS + i, "plain") for i in range(4)] for ms in (plain_ms, 100)]
    monkeypatch.setattr(side_cost, "overhead_of", lambda *_: overhead(*laps))
    said = python_between_ops.CAUSE.look(pausing(45.0).case())
    if found:
        assert isinstance(said, Finding)
        assert said.bound_ns == 45 * MS
        assert "recording makes a lap 5.00 ms longer: some of that may be in these gaps" in said.why
    else:
        assert isinstance(said, Clear)
        assert said.why == (
            "gaps between operators take 45 % of the lap, but recording makes it 40.0 ms longer, "
            "which may lie there"
        )


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


def test_a_list_that_takes_long_in_few_laps_is_told_by_the_others() -> None:
    """10 ms in six laps, 80 in two: without the two 60 / 8 = 7.5, and of the search 5 x 6 / 8."""
    made = Made(cpu=True, laps=8)
    for i, lap in enumerate(made.each()):
        ms = 80.0 if i < 2 else 10.0
        made.op("aten::mm", lap, 4.0)
        made.op("aten::empty", lap + 9.0, 1.0)
        made.op("aten::lift_fresh", lap + 10.0 + ms, 0.5)
        made.op("aten::relu", lap + 10.5 + ms, 89.5 - ms)
        made.account("between_ops", lap + 4.0, lap + 9.0)
        made.account("between_ops", lap + 10.0, lap + 10.0 + ms)
    found = tensor_from_list.CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 7_500_000 + 3_750_000
    assert "without 2 of 8 laps above twice the middle one's 10.0 ms" in found.sentence


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


def test_tiny_operators_of_one_lap_in_four_are_no_trait() -> None:
    """4900 in one lap, 100 in the others, 20 us each with its gap: 104 of 400 ms, 26 %."""
    made = Made(cpu=True)
    for i, lap in enumerate(made.each()):
        number = 4900 if i == 0 else 100
        at = lap
        for _ in range(number):
            made.op("aten::add", at, 0.01)
            made.account("between_ops", at + 0.01, at + 0.02)
            at += 0.02
        made.op("aten::mm", at, lap + 100.0 - at)
    said = many_tiny_ops.CAUSE.look(made.case())
    assert isinstance(said, Clear)
    assert said.why.endswith("take 26 % of the lap on average, but 2.0 % of the middle one")


def test_runs_with_a_device_are_launch_bound_instead() -> None:
    assert isinstance(many_tiny_ops.CAUSE.look(Made().case()), Clear)
