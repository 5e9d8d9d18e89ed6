"""Attention written as products around a softmax: which kernels belong to it."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.causes.kernel_cost import kernels_where
from laptime.causes.launch_sites import launched_in
from laptime.causes.view import DeviceView
from laptime.model.rows import Ints, Kind, Mask

BATCHED = re.compile(r"^aten::(bmm|baddbmm|bmm_out)$")
SDPA_MATH = re.compile(r"^aten::_scaled_dot_product_attention_math")
BETWEEN = frozenset({"elementwise", "activation", "copy", "dropout", "fill", "random", "transpose"})
MOST_BETWEEN = 8
"""Scale, mask, its conversion, dropout, and copies into a layout are fewer than this."""


@dataclass(frozen=True)
class Attention:
    """``member`` marks every kernel of a pattern, ``product`` the products among them;
    ``softmax`` holds the positions of the softmax kernels, one for each pattern."""

    member: Mask
    product: Mask
    softmax: Ints


def attention(view: DeviceView) -> Attention:
    """Batched product, softmax, batched product on one stream, with pointwise work and copies
    between them; backward the same around the softmax's gradient. Products that the operators do
    not show as batched are none of it, nor is what ``scaled_dot_product_attention`` runs itself.
    """
    work = view.work
    if work is None:
        none = np.zeros(0, dtype=np.bool_)
        return Attention(none, none, np.zeros(0, dtype=np.int64))
    member = np.zeros(len(work.row), dtype=np.bool_)
    product = member.copy()
    softmax = kernels_where(view, lambda k: k.operation in ("softmax", "softmax_backward"))
    found: list[int] = []
    if softmax.any():
        batched = kernels_where(view, lambda k: k.operation == "gemm")
        batched &= launched_in(view, BATCHED, Kind.CPU_OP)
        softmax &= ~launched_in(view, SDPA_MATH, Kind.CPU_OP)
        between = kernels_where(view, lambda k: k.operation in BETWEEN)
        between |= work.klass != 0  # copies and sets by the runtime
        between &= work.klass != 1
        for lane in np.unique(work.lane[softmax]).tolist():
            here = np.flatnonzero(work.lane == lane)
            for at in np.flatnonzero(softmax[here]).tolist():
                low = _product(here, at, -1, batched, between)
                high = _product(here, at, 1, batched, between)
                if low is None or high is None:
                    continue
                member[here[low : high + 1]] = True
                product[here[[low, high]]] = True
                found.append(int(here[at]))
    return Attention(member, product, np.array(found, dtype=np.int64))


def _product(here: Ints, at: int, step: int, batched: Mask, between: Mask) -> int | None:
    """The place of the batched product next to a softmax, over what may stand between."""
    for place in range(at + step, at + step * (MOST_BETWEEN + 2), step):
        if not 0 <= place < len(here):
            return None
        if batched[here[place]]:
            return place
        if not between[here[place]]:
            return None
    return None
