"""What one operator's recorded arguments say that it computes: FLOPs, least traffic, data type.

A product of (M, K) by (K, N) is 2 M K N. The formulas are those of PyTorch's own counter
(torch/utils/flop_counter.py): a convolution is a product over each output point, each gradient of
it costs as much again; attention is two products forward and five backward. One differs: of causal
attention only the pairs that the mask leaves are counted. The least traffic is each operand read
once and each result written once. Arguments that do not tell all of this give None.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

Dims = Sequence[int]

_TYPES = {
    "float": ("fp32", 4),
    "double": ("fp64", 8),
    "c10::Half": ("fp16", 2),
    "c10::BFloat16": ("bf16", 2),
    "c10::Float8_e4m3fn": ("fp8", 1),
    "c10::Float8_e5m2": ("fp8", 1),
    "c10::Float8_e4m3fnuz": ("fp8", 1),
    "c10::Float8_e5m2fnuz": ("fp8", 1),
}


@dataclass(frozen=True)
class Counted:
    """One call: ``flops``, the ``bytes`` that it must move at least, its operands' ``dtype``, and
    the ``operation`` it is, in the words of kernel names."""

    flops: int
    bytes: int
    dtype: str
    operation: str


@dataclass(frozen=True)
class _Call:
    dims: Sequence[Any]
    types: Sequence[Any]
    given: Sequence[Any]

    def shape(self, at: int) -> Dims:
        """Dimensions of a tensor argument. Raises ``ValueError`` where they are not recorded."""
        found = self.dims[at] if at < len(self.dims) else None
        if not isinstance(found, list) or not found or not all(type(d) is int for d in found):
            raise ValueError(f"argument {at} has no recorded dimensions")
        if min(found) < 0:
            raise ValueError("a negative dimension")
        return found

    def value(self, at: int) -> Any:
        """A scalar or list argument as recorded. Raises ``ValueError`` where it is not."""
        text = self.given[at] if at < len(self.given) else ""
        if not isinstance(text, str) or not text or len(text) > 200:
            raise ValueError(f"argument {at} is not recorded")
        try:
            return ast.literal_eval(text)
        except (SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError(f"argument {at} cannot be read") from error

    def flag(self, at: int) -> bool:
        """A truth value."""
        found = self.value(at)
        if not isinstance(found, bool):
            raise ValueError(f"argument {at} is no truth value")
        return found

    def whole(self, at: int, number: int) -> list[int]:
        """A list of ``number`` whole numbers (one given stands for all)."""
        found = self.value(at)
        if not isinstance(found, list) or not found or not all(type(v) is int for v in found):
            raise ValueError(f"argument {at} is no list of whole numbers")
        return found * number if len(found) == 1 else found


@dataclass(frozen=True)
class _Work:
    """FLOPs, and numbers of elements read or written."""

    flops: int
    elements: int
    operand: int = 0
    """The argument whose type is that of the operands."""


def _product(a: int, b: int) -> Callable[[_Call], _Work]:
    """Of arguments ``a`` (..., M, K) and ``b`` (..., K, N)."""

    def work(call: _Call) -> _Work:
        left, right = call.shape(a), call.shape(b)
        if len(left) < 2 or len(left) != len(right) or left[-1] != right[-2]:
            raise ValueError("no product")
        if left[:-2] != right[:-2]:
            raise ValueError("batches differ")
        batch, (m, k), n = prod(left[:-2]), left[-2:], right[-1]
        return _Work(2 * batch * m * k * n, batch * (m * k + k * n + m * n), a)

    return work


def _linear(call: _Call) -> _Work:
    x, weight = call.shape(0), call.shape(1)
    if len(weight) != 2 or x[-1] != weight[1]:
        raise ValueError("no linear layer")
    rows, k, n = prod(x[:-1]), weight[1], weight[0]
    return _Work(2 * rows * k * n, rows * k + k * n + rows * n)


def _convolution(call: _Call) -> _Work:
    """aten::convolution and _convolution: (input, weight, bias, stride, padding, dilation,
    transposed, output_padding, groups, ...)."""
    x, weight = call.shape(0), call.shape(1)
    space = len(x) - 2
    if space < 1 or len(weight) != len(x):
        raise ValueError("no convolution")
    stride, padding, dilation = (call.whole(at, space) for at in (3, 4, 5))
    if call.flag(6):
        raise ValueError("transposed: its output padding and groups make the result's shape")
    if min(stride) < 1:
        raise ValueError("no stride")
    out = [
        (x[2 + i] + 2 * padding[i] - dilation[i] * (weight[2 + i] - 1) - 1) // stride[i] + 1
        for i in range(space)
    ]
    if min(out) < 1:
        raise ValueError("no result")
    made = x[0] * weight[0] * prod(out)
    return _Work(2 * made * prod(weight[1:]), prod(x) + prod(weight) + made)


def _convolution_backward(call: _Call) -> _Work:
    """aten::convolution_backward: (grad_output, input, weight, bias_sizes, stride, padding,
    dilation, transposed, output_padding, groups, output_mask)."""
    grad, x, weight = call.shape(0), call.shape(1), call.shape(2)
    transposed, mask = call.flag(7), call.value(10)
    if not isinstance(mask, list) or len(mask) != 3:
        raise ValueError("no mask of gradients")
    gradients = int(bool(mask[0])) + int(bool(mask[1]))
    if gradients == 0:
        raise ValueError("no gradient but the bias's")
    one = 2 * prod(x if transposed else grad) * prod(weight[1:])
    # Each gradient reads two of the three tensors and writes the third.
    each = prod(grad) + prod(x) + prod(weight)
    return _Work(gradients * one, gradients * each)


def _cudnn_backward_input(call: _Call) -> _Work:
    """Of PyTorch up to 1.10: (input size, grad_output, weight, ...). Its sibling for the weights
    does not record the weights' size."""
    grad, kernel = call.shape(1), call.shape(2)
    return _Work(2 * prod(grad) * prod(kernel[1:]), prod(grad) + prod(kernel), 1)


def _attention(query: int, causal: int, products: int, extra: int) -> Callable[[_Call], _Work]:
    """Of (B, H, S, D) arguments ``query``, ``query + 1`` and ``query + 2``; ``extra``: tensors of
    the result's size moved beside the result."""

    def work(call: _Call) -> _Work:
        q, k, v = (call.shape(query + i) for i in range(3))
        if not len(q) == len(k) == len(v) == 4 or q[-1] != k[-1] or k[2] != v[2]:
            raise ValueError("no attention")
        pairs = q[2] * k[2]
        if call.flag(causal):
            if q[2] != k[2]:
                raise ValueError("causal over unequal lengths: where the mask lies is not told")
            pairs = q[2] * (q[2] + 1) // 2
        batch = q[0] * q[1] * pairs
        inner = q[-1] if products == 2 else 3 * q[-1]
        outer = v[-1] if products == 2 else 2 * v[-1]
        result = q[0] * q[1] * q[2] * v[-1]
        moved = prod(q) + prod(k) + prod(v)
        elements = moved + result if products == 2 else 2 * moved + extra * result
        return _Work(2 * batch * (inner + outer), elements, query)

    return work


_OPERATORS: Mapping[str, Callable[[_Call], _Work]] = {
    "aten::mm": _product(0, 1),
    "aten::bmm": _product(0, 1),
    "aten::addmm": _product(1, 2),
    "aten::_addmm_activation": _product(1, 2),
    "aten::baddbmm": _product(1, 2),
    "aten::_scaled_mm": _product(0, 1),
    "aten::linear": _linear,
    "aten::convolution": _convolution,
    "aten::_convolution": _convolution,
    "aten::convolution_backward": _convolution_backward,
    "aten::cudnn_convolution_backward_input": _cudnn_backward_input,
    "aten::_scaled_dot_product_flash_attention": _attention(0, 4, 2, 0),
    "aten::_scaled_dot_product_efficient_attention": _attention(0, 6, 2, 0),
    "aten::_scaled_dot_product_cudnn_attention": _attention(0, 6, 2, 0),
    "aten::_scaled_dot_product_flash_attention_backward": _attention(1, 11, 5, 2),
    "aten::_scaled_dot_product_efficient_attention_backward": _attention(1, 11, 5, 2),
    "aten::_scaled_dot_product_cudnn_attention_backward": _attention(1, 14, 5, 2),
}

COUNTED_OPERATORS = frozenset(_OPERATORS)
"""Operators whose FLOPs can be told from their arguments."""


def counted(name: str, args: Mapping[str, Any] | None) -> Counted | None:
    """The call's work; None where the name is not known or the arguments do not tell it."""
    rule = _OPERATORS.get(name)
    if rule is None or args is None:
        return None
    parts = [_listed(args, *keys) for keys in _KEYS]
    try:
        work = rule(_Call(*parts))
        at = work.operand
        dtype, size = _TYPES[str(parts[1][at])]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    if work.flops <= 0:
        return None
    return Counted(work.flops, work.elements * size, dtype, _operation(name))


def _operation(name: str) -> str:
    backward = "_backward" if "_backward" in name else ""
    if "attention" in name:
        return f"attention{backward}"
    # A backward convolution is two products: the name does not say which kernel is which.
    return "conv" if "convolution" in name else "gemm"


_KEYS = (
    ("Input Dims", "Input dims"),
    ("Input type", "Input Type"),
    ("Concrete Inputs",),
)


def _listed(args: Mapping[str, Any], *keys: str) -> Sequence[Any]:
    found = next((args[k] for k in keys if k in args), ())
    return found if isinstance(found, list) else ()
