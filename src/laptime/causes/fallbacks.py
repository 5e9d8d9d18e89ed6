"""Device work of implementations that libraries and PyTorch use where no fast one fits."""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.kernel_cost import kernels_where
from laptime.causes.launch_sites import launched_in
from laptime.causes.view import DeviceView
from laptime.ledger.work import WorkClass
from laptime.model.rows import Kind, Mask

OPERATORS = re.compile(
    r"^aten::(_scaled_dot_product_attention_math(_for_mps)?|_?slow_conv\w+|thnn_conv2d\w*)$"
)
KERNELS = re.compile(r"naive_conv|(conv|dgrad|wgrad)2d_grouped_direct_kernel")


def fallbacks(view: DeviceView) -> Mask:
    """Compute kernels launched inside such an operator, or that are such kernels by name."""
    work = view.work
    if work is None:
        return np.zeros(0, dtype=np.bool_)
    mask: Mask = kernels_where(view, lambda k: bool(KERNELS.search(k.name)))
    mask |= launched_in(view, OPERATORS, Kind.CPU_OP) & (work.klass == int(WorkClass.COMPUTE))
    return mask
