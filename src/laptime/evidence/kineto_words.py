"""What Kineto's categories and names mean, for every generation from 2021 on.

Sources: libkineto's ActivityType.h (current spellings); traces of 2021 (capitalised spellings).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.model.rows import Ints, Kind, slices

CATEGORIES: dict[str, Kind] = {
    "cpu_op": Kind.CPU_OP,
    "user_annotation": Kind.ANNOTATION,
    "gpu_user_annotation": Kind.DEVICE_ANNOTATION,
    "gpu_memcpy": Kind.MEMCPY,
    "gpu_memset": Kind.MEMSET,
    "kernel": Kind.KERNEL,
    "concurrent_kernel": Kind.KERNEL,
    "cuda_runtime": Kind.RUNTIME,
    "hip_runtime": Kind.RUNTIME,
    "xpu_runtime": Kind.RUNTIME,
    "mtia_runtime": Kind.RUNTIME,
    "glow_runtime": Kind.RUNTIME,
    "privateuse1_runtime": Kind.RUNTIME,
    "hpu_runtime": Kind.RUNTIME,
    "cuda_driver": Kind.DRIVER,
    "xpu_driver": Kind.DRIVER,
    "privateuse1_driver": Kind.DRIVER,
    "hpu_op": Kind.KERNEL,
    "mtia_ccp_events": Kind.KERNEL,
    "python_function": Kind.PYTHON,
    "overhead": Kind.OVERHEAD,
    "cuda_sync": Kind.SYNC,
    "xpu_sync": Kind.SYNC,
    "cuda_event": Kind.DEVICE_EVENT,
    "cpu_instant_event": Kind.INSTANT,
    "cuda_profiler_range": Kind.COUNTER_RANGE,
    "xpu_scope_profiler": Kind.COUNTER_RANGE,
    "mtia_counters": Kind.COUNTER,
    "hardware_counters": Kind.COUNTER,
    "collective_comm": Kind.COMM_RECORD,
    "Trace": Kind.PROFILER_SPAN,
    "laptime": Kind.OTHER,  # tracks that an explanation added
    # 2021
    "Operator": Kind.CPU_OP,
    "Kernel": Kind.KERNEL,
    "Runtime": Kind.RUNTIME,
    "Memcpy": Kind.MEMCPY,
    "Memset": Kind.MEMSET,
    "PythonFunction": Kind.PYTHON,
    "Python": Kind.PYTHON,
    "Overhead": Kind.OVERHEAD,
    "Sync": Kind.SYNC,
}

CAPITALISED = frozenset({"Operator"})
"""Categories of 2021 that hold user annotations as well as operators."""

ANNOTATION_OF_2021 = re.compile(
    r"^(ProfilerStep#|Optimizer\.|enumerate\(DataLoader\)|DistributedDataParallel\."
    r"|nccl:|gloo:|## )"
)


def kinds(
    category: Ints, categories: Sequence[str], name: Ints, names: Sequence[str], phase: Ints
) -> Ints:
    """``Kind`` of each row, as uint8, from its category, name and phase."""
    by_category = np.array(
        [int(CATEGORIES.get(c, Kind.OTHER)) for c in categories] or [0], dtype=np.uint8
    )
    kind: Ints = np.zeros(len(category), dtype=np.uint8)
    for part in slices(len(category)):
        kind[part] = by_category[category[part]]
    instant = phase != ord("X")
    if instant.any():
        memory = np.array([n == "[memory]" for n in names] or [False], dtype=np.bool_)
        kind[instant] = np.where(
            memory[name[instant]],
            np.uint8(Kind.MEMORY),
            np.where(phase[instant] == ord("C"), np.uint8(Kind.COUNTER), np.uint8(Kind.INSTANT)),
        )
    if any(c in CAPITALISED for c in categories):
        marked = np.array([bool(ANNOTATION_OF_2021.match(n)) for n in names], dtype=np.bool_)
        old = np.array([c in CAPITALISED for c in categories], dtype=np.bool_)
        again = old[category] & marked[name] & ~instant
        kind[again] = Kind.ANNOTATION
    return kind


API_VENDOR = (
    ("hip", "amd"),
    ("cuda", "nvidia"),
    ("cu", "nvidia"),
    ("ze", "intel"),
    ("ur", "intel"),
)


def vendor(api_names: Sequence[str], device_names: Sequence[str]) -> str | None:
    """Who made the accelerator, as far as call names or device names tell."""
    for prefix, maker in API_VENDOR:
        if any(re.match(rf"{prefix}[A-Z]", n) for n in api_names):
            return maker
    for text, maker in (("nvidia", "nvidia"), ("tesla", "nvidia"), ("amd", "amd")):
        if any(text in n.lower() for n in device_names):
            return maker
    return None
