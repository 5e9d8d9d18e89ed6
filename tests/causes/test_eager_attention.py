"""Attention as products around a softmax: the pattern, and what only looks like it."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.eager_attention import CAUSE
from laptime.causes.registry import outcome
from tests.causes.kernels_made import (
    ADD,
    GEMM,
    MUL,
    SOFTMAX,
    SOFTMAX_BACKWARD,
    STRIDED,
    launch,
    waiting,
)
from tests.causes.made import ALL_NEEDS, MS, Made

Step = tuple[str, float, tuple[str, ...]]
BMM: Step = (GEMM, 3.0, ("aten::matmul", "aten::bmm"))
MM: Step = (GEMM, 3.0, ("aten::linear", "aten::mm"))
SCALE: Step = (MUL, 1.0, ("aten::div",))
MASK: Step = (ADD, 1.0, ("aten::add",))
EXP: Step = (SOFTMAX, 2.0, ("aten::softmax", "aten::_softmax"))
BACK: Step = (SOFTMAX_BACKWARD, 2.0, ("SoftmaxBackward0", "aten::_softmax_backward_data"))
COPY: Step = (STRIDED, 1.0, ("aten::contiguous", "aten::clone", "aten::copy_"))


def running(*steps: Step) -> Made:
    made = waiting(Made())
    for lap in made.each():
        at = lap + 1.0
        for kernel, length, operators in steps:
            launch(made, kernel, at, length, operators)
            at += length + 0.1
    return made


def test_the_whole_pattern_is_the_bound() -> None:
    """Two products of 3 ms, scale, mask and copy of 1 ms, a softmax of 2 ms: 11 ms, 5 between."""
    found = CAUSE.look(running(MM, BMM, SCALE, MASK, EXP, COPY, BMM, MM).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 11 * MS
    assert found.share == pytest.approx(0.11)
    assert found.sentence == (
        "Products around a softmax take 11.0 of each 100 ms lap (11 %): 6 kernels a lap of mean "
        "1.83 ms."
    )
    assert found.why[0] == (
        "1 pattern a lap of product, softmax, product; 5.00 ms a lap of it between the products"
    )


def test_backward_around_the_gradient_of_the_softmax() -> None:
    found = CAUSE.look(running(BMM, BACK, SCALE, BMM, BMM).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 9 * MS


def test_a_softmax_behind_a_linear_layer_is_a_router_or_a_loss() -> None:
    for steps in ((MM, EXP), (MM, EXP, BMM), (BMM, EXP), (EXP, BMM), (BMM, EXP, MM, BMM)):
        clear = CAUSE.look(running(*steps, MM).case())
        assert isinstance(clear, Clear)
        assert clear.why == "products around a softmax take 0.0 % of the lap, below 2.0 %"


def test_other_work_between_breaks_the_pattern() -> None:
    topk: Step = ("void at::native::sbtopk::gatherTopK<float, unsigned int>(int)", 1.0, ())
    assert isinstance(CAUSE.look(running(BMM, EXP, topk, BMM).case()), Clear)


def test_too_much_between_breaks_the_pattern() -> None:
    assert isinstance(CAUSE.look(running(BMM, *[SCALE] * 8, EXP, BMM).case()), Finding)
    assert isinstance(CAUSE.look(running(BMM, *[SCALE] * 9, EXP, BMM).case()), Clear)


def test_the_fallback_of_scaled_dot_product_attention_is_a_cause_of_its_own() -> None:
    math = "aten::_scaled_dot_product_attention_math"
    steps = [(k, d, (math, *o)) for k, d, o in (BMM, EXP, BMM)]
    assert isinstance(CAUSE.look(running(*steps).case()), Clear)


def test_abstains_without_operators() -> None:
    answer = outcome(CAUSE, running(BMM).case(ALL_NEEDS - {Need.HOST_ROWS, Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls", "host_rows")
