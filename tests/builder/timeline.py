"""A built trace as the model's timeline, without the text in between.

For tests of what comes after reading: they need neither the scanner nor a file, and a fault of the
reader cannot hide one of the ledger. Rows are those that the variant records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from laptime.model.health import Health
from laptime.model.rows import ABSENT_DUR, Ints, Kind, Rows, SparseInts
from laptime.model.run import Device, Lane, Run, Timeline
from tests.builder.kineto import recorded
from tests.builder.rows import DEVICE_KINDS, Row
from tests.builder.trace import TraceBuilder

_KINDS = {
    "cpu_op": Kind.CPU_OP,
    "user_annotation": Kind.ANNOTATION,
    "python_function": Kind.PYTHON,
    "runtime": Kind.RUNTIME,
    "driver": Kind.DRIVER,
    "kernel": Kind.KERNEL,
    "memcpy": Kind.MEMCPY,
    "memset": Kind.MEMSET,
    "gpu_user_annotation": Kind.DEVICE_ANNOTATION,
    "sync": Kind.SYNC,
    "overhead": Kind.OVERHEAD,
    "memory": Kind.MEMORY,
}
_INT_ARGS = ("bytes", "graph id", "graph node id")


def timeline_of(trace: TraceBuilder, source: str = "built") -> Timeline:
    """The timeline of a built trace; its origin is the trace's start."""
    kept = recorded(trace)
    lanes: dict[Lane, int] = {}
    names: dict[str, int] = {}
    categories: dict[str, int] = {}
    place = [lanes.setdefault(_lane(r), len(lanes)) for r in kept]
    name = [names.setdefault(r.name, len(names)) for r in kept]
    category = [categories.setdefault(r.kind, len(categories)) for r in kept]
    rows = Rows(
        start_ns=_column([r.start_ns - trace.start_ns for r in kept]),
        dur_ns=_column([ABSENT_DUR if r.dur_ns is None else r.dur_ns for r in kept]),
        name=_column(name),
        names=list(names),
        category=_column(category),
        categories=list(categories),
        kind=np.array([int(_KINDS[r.kind]) for r in kept], dtype=np.uint8),
        lane=np.array(place, dtype=np.int32),
        phase=np.array([ord("i" if r.dur_ns is None else "X") for r in kept], dtype=np.uint8),
        correlation=_ids([r.correlation for r in kept]),
        external_id=_ids([r.external_id for r in kept]),
        python_id=_ids([r.python_id for r in kept]),
        python_parent=_ids([r.python_parent for r in kept]),
        ints=_int_args(kept),
    )
    variant = trace.variant
    major, minor = variant.compute_capability
    about: dict[str, Any] = {"name": variant.device_name, "numSms": variant.sms}
    about |= {"computeMajor": major, "computeMinor": minor}
    used = sorted({r.device for r in kept if r.device is not None and r.kind in DEVICE_KINDS})
    return Timeline(
        id=source,
        source=source,
        rows=rows,
        lanes=list(lanes),
        devices=[
            Device(f"gpu{d}", d, name=variant.device_name, rank=variant.rank, properties=about)
            for d in used
        ],
        origin_ns=trace.start_ns,
        pid=trace.threads[0].pid if trace.threads else None,
        rank=variant.rank,
        world_size=variant.world_size,
        vendor=None if variant.vendor == "cpu" else variant.vendor,
        facts={"with_stack": int(variant.stacks), "record_shapes": int(variant.shapes)},
    )


def run_of(trace: TraceBuilder, source: str = "built") -> Run:
    """A run of one built trace."""
    timeline = timeline_of(trace, source)
    return Run([timeline], Health(items=len(timeline.rows)), [source])


def _lane(row: Row) -> Lane:
    if row.device is not None:
        return Lane(None, None, device=f"gpu{row.device}", stream=row.stream)
    return Lane(row.pid, row.tid)


def _column(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def _ids(values: Sequence[int | None]) -> Ints | None:
    absent = np.iinfo(np.int64).max
    if all(v is None for v in values):
        return None
    return _column([absent if v is None else v for v in values])


def _int_args(kept: Sequence[Row]) -> dict[str, SparseInts]:
    made = {}
    for key in _INT_ARGS:
        having = [i for i, r in enumerate(kept) if key in r.args]
        if having:
            made[key] = SparseInts(_column(having), _column([kept[i].args[key] for i in having]))
    return made
