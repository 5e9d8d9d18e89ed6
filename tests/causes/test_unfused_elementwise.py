"""Runs of pointwise kernels: what one fused kernel could save, and what is no run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.registry import outcome
from laptime.causes.unfused_elementwise import CAUSE
from tests.causes.kernels_made import (
    ADD,
    FILL,
    FUSED_MUL,
    GEMM,
    MUL,
    RSQRT,
    SOFTMAX,
    TO_BF16,
    launch,
    waiting,
)
from tests.causes.made import ALL_NEEDS, MS, SIDE, Made

Step = tuple[str, float, tuple[str, ...]]
NONE: tuple[str, ...] = ()
PRODUCT: Step = (GEMM, 10.0, ("aten::mm",))


def running(*steps: Step, lane: int | None = None) -> Made:
    """Kernels one after another in each lap, each with its length and operators."""
    made = waiting(Made())
    for lap in made.each():
        at = lap + 1.0
        for kernel, length, operators in steps:
            if lane is None:
                launch(made, kernel, at, length, operators)
            else:
                launch(made, kernel, at, length, operators, lane=lane)
            at += length + 0.1
    return made


def bound_of(steps: Sequence[Step]) -> int | None:
    answer = CAUSE.look(running(*steps).case())
    return answer.bound_ns if isinstance(answer, Finding) else None


def test_all_but_the_shortest_of_each_run() -> None:
    """Runs of 8 + 2 + 4 and of 5 + 5 ms: 24 ms, of which 2 and 5 remain."""
    steps = [
        (MUL, 8.0, ("aten::mul",)),
        (RSQRT, 2.0, ("aten::rsqrt",)),
        (ADD, 4.0, ("aten::add",)),
        PRODUCT,
        (MUL, 5.0, ("aten::mul",)),
        (ADD, 5.0, ("aten::add",)),
        PRODUCT,
    ]
    found = CAUSE.look(running(*steps).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 17 * MS
    assert found.share == pytest.approx(0.24)
    assert found.sentence == (
        "Runs of pointwise kernels take 24.0 of each 100 ms lap (24 %): 5 kernels a lap of mean "
        "4.80 ms; at most 17.0 ms of it could go."
    )
    assert found.formula == (
        "24.0 ms in which only these kernels run - 7.00 ms of the shortest kernel in each run, "
        "which remains"
    )
    assert found.why[:2] == (
        "2 runs a lap, 2.5 kernels in each",
        "11.0 ms a lap could go if the longest kernel of each run remains instead of the shortest",
    )


def test_conversions_and_fills_may_stand_between_and_do_not_count() -> None:
    steps = [
        (MUL, 6.0, ("aten::mul",)),
        (TO_BF16, 3.0, ("aten::to", "aten::_to_copy", "aten::copy_")),
        (FILL, 1.0, ("aten::zeros",)),
        (ADD, 7.0, ("aten::add",)),
        PRODUCT,
    ]
    assert bound_of(steps) == 7 * MS


def test_single_kernels_between_others_are_no_run() -> None:
    clear = CAUSE.look(running((MUL, 9.0, ()), PRODUCT, (ADD, 9.0, ()), PRODUCT).case())
    assert isinstance(clear, Clear)
    assert clear.why == "runs of pointwise kernels take 0.0 % of the lap, below 5.0 %"


def test_another_stream_is_another_run() -> None:
    made = waiting(Made())
    for lap in made.each():
        launch(made, MUL, lap + 1.0, 9.0)
        launch(made, ADD, lap + 11.0, 9.0, lane=SIDE)
    assert isinstance(CAUSE.look(made.case()), Clear)


def test_compiled_kernels_are_not_flagged() -> None:
    assert bound_of([(FUSED_MUL, 9.0, ()), (FUSED_MUL, 9.0, ())]) is None


def test_the_optimizer_and_sums_of_gradients_are_not_counted() -> None:
    made = running((MUL, 9.0, ("aten::mul_",)), (ADD, 9.0, ("aten::add_",)), PRODUCT)
    for lap in made.each():
        made.mark("Optimizer.step#SGD.step", lap, 90.0)
    assert isinstance(CAUSE.look(made.case()), Clear)
    inside = ("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",)
    assert bound_of([(ADD, 9.0, inside), (ADD, 9.0, inside)]) is None


def test_a_loop_over_tensors_is_no_chain() -> None:
    """16 kernels of one name in a run work through a list of tensors; 15 do not."""
    assert bound_of([*[(ADD, 1.0, NONE)] * 16, PRODUCT]) is None
    assert bound_of([*[(ADD, 1.0, NONE)] * 15, PRODUCT]) == 14 * MS


def test_parts_of_an_attention_are_not_counted() -> None:
    steps = [
        (GEMM, 5.0, ("aten::bmm",)),
        (MUL, 6.0, ("aten::mul",)),
        (ADD, 6.0, ("aten::add",)),
        (SOFTMAX, 3.0, ("aten::_softmax",)),
        (GEMM, 5.0, ("aten::bmm",)),
    ]
    assert bound_of(steps) is None


def test_a_share_below_the_limit_is_told() -> None:
    clear = CAUSE.look(running((MUL, 4.0, ()), (ADD, 4.0, ()), PRODUCT).case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "runs of pointwise kernels take 8.0 % of the lap; what could go of it is 4.0 % of the lap, "
        "below 5.0 %"
    )


def test_abstains_without_operators() -> None:
    answer = outcome(CAUSE, running(PRODUCT).case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("host_rows",)
