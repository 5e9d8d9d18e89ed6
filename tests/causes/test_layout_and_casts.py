"""Copies that change only the layout or the number format of what they copy."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.cast_copies import CAUSE as CASTS
from laptime.causes.layout_copies import CAUSE as LAYOUT
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.kernels_made import (
    BATCHED_TRANSPOSE,
    GEMM,
    MUL,
    NHWC,
    STRIDED,
    TO_BF16,
    launch,
    waiting,
)
from tests.causes.made import ALL_NEEDS, MS, SIDE, Made

CONTIGUOUS = ("aten::contiguous", "aten::clone", "aten::copy_")
TO = ("aten::to", "aten::_to_copy", "aten::copy_")


def copying(kernel: str, operators: tuple[str, ...], each_ms: float = 2.0) -> Made:
    """Three copies a lap, the last half covered by a product on another stream."""
    made = waiting(Made())
    for lap in made.each():
        for i in range(3):
            launch(made, kernel, lap + 10.0 + 10 * i, each_ms, operators)
        launch(made, GEMM, lap + 30.0 + each_ms / 2, 20.0, ("aten::mm",), lane=SIDE)
    return made


@pytest.mark.parametrize("kernel", [NHWC, BATCHED_TRANSPOSE])
def test_transpositions_of_libraries(kernel: str) -> None:
    found = LAYOUT.look(copying(kernel, ("aten::conv2d",)).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert found.share == pytest.approx(0.05)
    assert found.sentence == (
        "Changes of layout take 5.00 of each 100 ms lap (5.0 %): 3 kernels a lap of mean 2.00 ms."
    )
    assert found.formula == "5.00 ms in which only these kernels run"


@pytest.mark.parametrize("operators", [CONTIGUOUS, ("aten::reshape", "aten::clone", "aten::copy_")])
def test_copies_into_contiguous_memory(operators: tuple[str, ...]) -> None:
    found = LAYOUT.look(copying(STRIDED, operators).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert isinstance(CASTS.look(copying(STRIDED, operators).case()), Clear)


def test_a_copy_asked_for_is_no_change_of_layout() -> None:
    clear = LAYOUT.look(copying(STRIDED, ("aten::clone", "aten::copy_")).case())
    assert isinstance(clear, Clear)
    assert clear.why == "changes of layout take 0.0 % of the lap, below 2.0 %"


def test_a_copy_between_places_of_the_device_counts_inside_contiguous() -> None:
    made = waiting(Made())
    for lap in made.each():
        made.op("aten::contiguous", lap + 1.0, 1.0)
        call = made.call("cudaMemcpyAsync", lap + 1.2, 0.5)
        made.activity("Memcpy DtoD (Device -> Device)", lap + 5.0, 4.0, call)
    found = LAYOUT.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 4 * MS


def test_fused_transpositions_are_not_flagged() -> None:
    kernel = "void at::native::(anonymous namespace)::transform_bias_rescale_qkv_kernel<float>(int)"
    assert isinstance(LAYOUT.look(copying(kernel, ()).case()), Clear)


def test_conversions() -> None:
    found = CASTS.look(copying(TO_BF16, TO).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert found.sentence.startswith(
        "Conversions of number format take 5.00 of each 100 ms lap (5.0 %): 3 kernels a lap"
    )
    assert isinstance(LAYOUT.look(copying(TO_BF16, TO).case()), Clear)


def test_a_conversion_inside_reshape_is_counted_once() -> None:
    made = copying(TO_BF16, ("aten::contiguous", *TO))
    assert isinstance(CASTS.look(made.case()), Finding)
    assert isinstance(LAYOUT.look(made.case()), Clear)


def test_conversions_in_the_optimizer_are_its_own() -> None:
    made = copying(TO_BF16, TO)
    for lap in made.each():
        made.mark("Optimizer.step#AdamW.step", lap, 99.0)
    assert isinstance(CASTS.look(made.case()), Clear)


def test_small_ones_are_clear_with_their_share() -> None:
    clear = CASTS.look(copying(TO_BF16, TO, each_ms=0.4).case())
    assert isinstance(clear, Clear)
    assert clear.why == "conversions of number format take 1.0 % of the lap, below 2.0 %"


def test_a_host_that_never_waits_gains_nothing() -> None:
    """A closed steady lap in which no call overlaps device work: the host sets the pace."""
    made = Made()
    for lap in made.each():
        launch(made, NHWC, lap + 10.0, 6.0, call_ms=lap + 5.0)
        made.account("host_ops", lap + 16.0, lap + 99.0)
    clear = LAYOUT.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "changes of layout take 6.00 of each 100 ms lap (6.0 %), but the host is never in a call "
        "while the device has work, so that it waits for nothing that faster device work "
        "could shorten"
    )


def test_the_line_of_code_is_named() -> None:
    made = copying(TO_BF16, TO)
    for lap in made.each():
        made.row(Kind.PYTHON, "model.py(12): forward", lap + 5.0, 30.0)
        made.row(Kind.PYTHON, "torch/nn/modules/module.py(1): _call_impl", lap + 6.0, 25.0)
    found = CASTS.look(made.case())
    assert isinstance(found, Finding)
    assert found.sentence.endswith("of mean 2.00 ms, most from model.py(12): forward.")
    assert "from model.py(12): forward, 6.00 ms a lap" in found.why


def test_pointwise_work_is_neither() -> None:
    made = copying(MUL, ("aten::mul",))
    assert isinstance(CASTS.look(made.case()), Clear)
    assert isinstance(LAYOUT.look(made.case()), Clear)


def test_abstain_without_what_they_need() -> None:
    made = copying(TO_BF16, TO)
    answer = outcome(CASTS, made.case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("host_rows",)
    answer = outcome(LAYOUT, made.case(ALL_NEEDS - {Need.GPU_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("gpu_rows",)
