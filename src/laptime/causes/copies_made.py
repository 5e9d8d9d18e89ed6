"""Device work that only moves data: changes of layout and of number format.

Shared by the causes of either and by what must not count them again.
"""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.attention_patterns import attention
from laptime.causes.fallbacks import fallbacks
from laptime.causes.kernel_cost import kernels_where
from laptime.causes.launch_sites import launched_in
from laptime.causes.named import named
from laptime.causes.per_tensor import one_by_one, regions
from laptime.causes.view import DeviceView
from laptime.kernels.names import KernelName
from laptime.model.rows import Kind, Mask

LAYOUT_OPS = re.compile(r"^aten::(contiguous|reshape|flatten|_reshape_copy|_unsafe_view_copy)$")
CAST_OPS = re.compile(r"^aten::(to|_to_copy|type_as|float|half|bfloat16|double|_autocast_to_\w+)$")

SAME_FORMAT = re.compile(r"gpu_kernel_impl_nocast")
"""A copy of PyTorch's that converts nothing says so since 2.0."""

NEEDED = re.compile(r"transform_bias_rescale|add_padding|remove_padding|cast_transpose")
"""Kernels that change the layout on the way of other work."""

_OWN = frozenset({"Transformer Engine", "Marlin", "GPTQ/AWQ", "TensorRT-LLM", "vLLM", "SGLang"})
"""Libraries whose kernels take a layout that no other memory format gives."""


def taken(view: DeviceView) -> Mask:
    """Work that other causes speak of: the parts of an attention, and fallbacks."""
    mask: Mask = attention(view).member | fallbacks(view)
    return mask


def layout_changes(view: DeviceView) -> Mask:
    """Kernels that a library runs to transpose its operands, and copies made to get contiguous
    memory (where operators are recorded), outside the optimizer's loop."""
    if view.work is None:
        return np.zeros(0, dtype=np.bool_)
    moved = kernels_where(view, _transposes)
    copied = _copies(view) & launched_in(view, LAYOUT_OPS, Kind.CPU_OP)
    return (moved | (copied & ~casts(view))) & ~one_by_one(view, regions(view))


def casts(view: DeviceView) -> Mask:
    """Copy kernels launched to convert to another number format, outside the optimizer's loop."""
    if view.work is None:
        return np.zeros(0, dtype=np.bool_)
    converting = kernels_where(view, _may_convert)
    converting &= launched_in(view, CAST_OPS, Kind.CPU_OP)
    converting &= ~one_by_one(view, regions(view))
    return converting


def _copies(view: DeviceView) -> Mask:
    assert view.work is not None
    rows = view.case.timeline.rows
    copying = kernels_where(view, lambda k: k.operation == "copy")
    moves = rows.kind[view.work.row] == Kind.MEMCPY
    on_device = np.zeros(len(moves), dtype=np.bool_)
    on_device[moves] = named(rows, view.work.row[moves], _ON_DEVICE)
    mask: Mask = copying | on_device
    return mask


_ON_DEVICE = re.compile(r"DtoD|CopyDeviceToDevice|DeviceToDevice")


def _transposes(kernel: KernelName) -> bool:
    return (
        kernel.operation == "transpose"
        and kernel.library not in _OWN
        and not NEEDED.search(kernel.name)
    )


def _may_convert(kernel: KernelName) -> bool:
    return (
        kernel.operation == "copy"
        and kernel.library == "ATen"
        and not SAME_FORMAT.search(kernel.name)
    )
