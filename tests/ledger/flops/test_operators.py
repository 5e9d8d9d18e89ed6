"""FLOPs and least traffic of single operators, against sums written down by hand."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.ledger.flops.operators import COUNTED_OPERATORS, Counted, counted

BF16, FP32 = "c10::BFloat16", "float"


def call(dims: list[Any], dtype: str = BF16, given: dict[int, str] | None = None) -> dict[str, Any]:
    values = given or {}
    return {
        "Input Dims": dims,
        "Input type": [dtype if d else "" for d in dims],
        "Concrete Inputs": [values.get(i, "") for i in range(max([len(dims), *values]) + 1)],
    }


def test_products() -> None:
    # 2 M K N; M K + K N + M N elements of two bytes.
    assert counted("aten::mm", call([[3, 5], [5, 7]])) == Counted(
        210, 2 * (15 + 35 + 21), "bf16", "gemm"
    )
    assert counted("aten::addmm", call([[7], [3, 5], [5, 7], [], []], FP32)) == Counted(
        210, 4 * (15 + 35 + 21), "fp32", "gemm"
    )
    assert counted("aten::bmm", call([[4, 3, 5], [4, 5, 7]])) == Counted(
        840, 2 * 4 * (15 + 35 + 21), "bf16", "gemm"
    )
    assert counted("aten::linear", call([[2, 3, 5], [7, 5], [7]])) == Counted(
        420, 2 * (30 + 35 + 42), "bf16", "gemm"
    )


CONVOLUTION = {3: "[2, 2]", 4: "[1, 1]", 5: "[1, 1]", 6: "False", 7: "[0, 0]", 8: "1"}


def test_convolution_counts_each_output_point() -> None:
    # 14 in, padding 1, kernel 3, stride 2: floor((14 + 2 - 3) / 2) + 1 = 7 points a side.
    found = counted(
        "aten::convolution", call([[10, 256, 14, 14], [512, 256, 3, 3], []], BF16, CONVOLUTION)
    )
    assert found is not None
    assert found.flops == 2 * 10 * 512 * 7 * 7 * 256 * 3 * 3
    assert found.bytes == 2 * (10 * 256 * 14 * 14 + 512 * 256 * 9 + 10 * 512 * 49)


def test_backward_convolution_counts_each_gradient() -> None:
    dims = [[10, 512, 7, 7], [10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], [], []]
    one = 2 * 10 * 512 * 7 * 7 * 256 * 3 * 3
    for mask, gradients in (("[True, True, False]", 2), ("[False, True, True]", 1)):
        found = counted("aten::convolution_backward", call(dims, BF16, {7: "False", 10: mask}))
        assert found is not None
        assert found.flops == gradients * one
    assert counted("aten::convolution_backward", call(dims, BF16, {7: "False"})) is None


def test_attention_counts_the_pairs_that_the_mask_leaves() -> None:
    shape = [2, 3, 8, 16]
    dims = [shape, shape, shape, [], [], []]
    name = "aten::_scaled_dot_product_flash_attention"
    full = counted(name, call(dims, BF16, {3: "0.", 4: "False"}))
    causal = counted(name, call(dims, BF16, {3: "0.", 4: "True"}))
    assert full is not None
    assert causal is not None
    # Two products of 2 * D for each of B * H * S * S pairs, of which S (S + 1) / 2 are left.
    assert full.flops == 2 * 3 * 64 * 2 * (16 + 16)
    assert causal.flops == 2 * 3 * 36 * 2 * (16 + 16)
    assert full.bytes == 2 * 4 * prod(shape)
    backward = counted(f"{name}_backward", call([shape, *dims], BF16, {11: "False"}))
    assert backward is not None
    assert backward.flops * 2 == full.flops * 5
    longer = [shape, [2, 3, 9, 16], [2, 3, 9, 16]]
    assert counted(name, call(longer, BF16, {4: "True"})) is None


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("aten::mm", None),
        ("aten::mm", {}),
        ("aten::mm", call([[3, 5], [6, 7]])),
        ("aten::mm", call([[3, 5]])),
        ("aten::mm", call([[3, 5], [5, 0]])),
        ("aten::mm", call([[3, -5], [-5, 7]])),
        ("aten::mm", call([[3, 5], [5, 7]], "c10::complex<float>")),
        ("aten::mm", call([["3", 5], [5, 7]])),
        ("aten::add", call([[3, 5], [3, 5]])),
        ("aten::convolution", call([[10, 256, 14, 14], [512, 256, 3, 3], []])),
        ("aten::convolution", call([[1, 1, 2, 2], [1, 1, 3, 3]], BF16, {**CONVOLUTION, 4: "[0]"})),
        ("aten::convolution", call([[1, 1, 8, 8], [1, 1, 3, 3]], BF16, {**CONVOLUTION, 6: "True"})),
        ("aten::convolution", call([[1, 1, 8, 8], [1, 1, 3, 3]], BF16, {**CONVOLUTION, 3: "[0]"})),
        ("aten::_scaled_dot_product_flash_attention", call([[2, 3, 8, 16]] * 3)),
    ],
)
def test_what_arguments_do_not_tell_is_not_counted(name: str, args: dict[str, Any] | None) -> None:
    assert counted(name, args) is None


@given(
    st.sampled_from(sorted(COUNTED_OPERATORS)),
    st.dictionaries(
        st.sampled_from(["Input Dims", "Input type", "Concrete Inputs"]),
        st.one_of(
            st.none(),
            st.text(max_size=4),
            st.lists(
                st.one_of(
                    st.none(),
                    st.sampled_from(["float", "[1, 1]", "True", "((", "1e999", "[[]]"]),
                    st.lists(st.integers(-2, 5), max_size=5),
                ),
                max_size=15,
            ),
        ),
    ),
)
def test_any_arguments_give_work_or_nothing(name: str, args: dict[str, Any]) -> None:
    found = counted(name, args)
    assert found is None or (found.flops > 0 and found.bytes > 0)
