"""Cause: an operator runs through a slow general implementation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Need, Outcome
from laptime.causes.fallbacks import KERNELS, OPERATORS, fallbacks
from laptime.causes.kernel_cost import KernelCost, costliest
from laptime.causes.launch_sites import inside
from laptime.causes.limits import FALLBACK_SHARE
from laptime.causes.removable import Words, removable
from laptime.model.rows import Kind


class SlowFallbackKernel:
    """Operators that fell back to a slow implementation.

    What it is
        No fast kernel takes the operator with this mask, shape, layout, number format or version,
        and a general one runs instead, silently: ``scaled_dot_product_attention`` through products
        and a softmax, convolutions through ``naive_conv``, ``slow_conv`` or cuDNN's direct kernels
        for groups.

    How it shows
        Kernels launched inside ``aten::_scaled_dot_product_attention_math``, ``aten::slow_conv...``
        or ``aten::thnn_conv2d``; kernels named ``naive_conv...`` (MIOpen) or
        ``...2d_grouped_direct_kernel`` (cuDNN).

    Why it costs
        Such a kernel is written to take everything, not to be fast; 5 to 50 times is common.

    How the gain is predicted
        Bound: the counted time in which only such kernels run, and never more than the host waits
        for the device. What the fast kernel takes is not in the trace, and is not taken off.

    What is not flagged
        Less than 2 % of the lap. Kernels that are slow for other reasons. Operators are seen only
        where they were recorded.

    Must not flag
        - ``kineto/tracelens/h100/Qwen``: its attention is one fused kernel.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: cuDNN's own convolutions.
    """

    id = "slow-fallback-kernel"
    title = "Slow fallback kernels"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS,)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        cost = costliest(case, fallbacks)
        words = Words(
            "fallback kernels",
            (
                "attention: a boolean or no mask, is_causal=True, fp16 or bf16, a head size that "
                "the fused kernels take; torch.nn.attention.sdpa_kernel(FLASH_ATTENTION) says why "
                "a call cannot use them",
                "convolutions: another layout (channels_last), fewer groups, or "
                "torch.backends.cudnn.benchmark = True",
            ),
            why=() if cost is None else _which(cost),
        )
        return removable(self, cost, FALLBACK_SHARE, words)


def _which(cost: KernelCost) -> tuple[str, ...]:
    """Time of each operator that fell back, and of kernels that are fallbacks by name."""
    view, rows = cost.view, cost.view.case.timeline.rows
    durations = rows.dur_ns[cost.rows]
    told = []
    operators = rows.like(OPERATORS, Kind.CPU_OP)
    for name in np.unique(rows.name[operators]).tolist():
        hit = inside(view, operators[rows.name[operators] == name])[cost.at]
        if hit.any():
            ns = int(durations[hit].sum()) / view.laps
            told.append(f"inside {rows.names[name]}: {wording.time(ns)}{view.per_lap}")
    named = rows.names_like(KERNELS)[rows.name[cost.rows]]
    if named.any():
        ns = int(durations[named].sum()) / view.laps
        told.append(f"direct or naive convolutions by name: {wording.time(ns)}{view.per_lap}")
    return tuple(told)


CAUSE = SlowFallbackKernel()
