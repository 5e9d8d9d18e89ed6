"""Regions in which a program treats its parameters one by one: update, averaging, clipping."""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.kernel_cost import kernels_where
from laptime.causes.launch_sites import inside, launched_in
from laptime.causes.view import DeviceView
from laptime.kernels.names import KernelName
from laptime.model.rows import Ints, Kind, Mask

STEP = re.compile(r"^Optimizer\.step#(?P<name>.+?)(\.step)?$")
"""The mark that torch.optim puts around every optimizer's step."""

FRAMES = re.compile(
    r"torch/optim/\w+\.py\(\d+\): (step|_?single_tensor_\w+|_multi_tensor_\w+)$"
    r"|torch/optim/swa_utils\.py\(\d+\): update_parameters$"
    r"|torch/nn/utils/clip_grad\.py\(\d+\): \w+$"
    r"|: (update_ema|ema_update|update_average|_?update_ema_\w+)$"
    r"|(^|/|_)ema\w*\.py\(\d+\): (update|step|_update|__call__|lerp\w*)$"
)
MARKS = re.compile(r"^(clip_grad\w*|gradient[_ ]clipping|(update_)?ema(_update)?)$", re.IGNORECASE)

MULTI = re.compile(r"^aten::_(foreach|fused|amp_foreach)_|^(apex|fused)_?(adam|sgd|lamb)")
"""Operators that take a list of tensors at once."""

WORK = frozenset({"elementwise", "copy", "fill", "reduce"})


def regions(view: DeviceView) -> Ints:
    """Rows of such regions, in the timeline."""
    rows = view.case.timeline.rows
    marks = rows.names_like(STEP) | rows.names_like(MARKS)
    own = rows.of_kind(Kind.ANNOTATION)
    found: Ints = np.sort(
        np.concatenate((own[marks[rows.name[own]]], rows.like(FRAMES, Kind.PYTHON)))
    )
    return found


def one_by_one(view: DeviceView, where: Ints) -> Mask:
    """Kernels launched in the regions for one tensor each: PyTorch's pointwise kernels, copies,
    fills and reductions that no operator over lists of tensors launched."""
    if view.work is None:
        return np.zeros(0, dtype=np.bool_)
    if len(where) == 0:
        return np.zeros(len(view.work.row), dtype=np.bool_)
    single: Mask = kernels_where(view, _single)
    return single & inside(view, where) & ~launched_in(view, MULTI, Kind.CPU_OP)


def _single(kernel: KernelName) -> bool:
    return (
        kernel.library == "ATen"
        and kernel.operation in WORK
        and "multi_tensor_apply" not in kernel.name
    )
