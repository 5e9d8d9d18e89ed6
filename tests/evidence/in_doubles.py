"""The same quantities in the arithmetic that the truth file was made with: microseconds in doubles.

The truth file's script read time stamps as floats and took every length as ``(ts + dur) - ts``.
An epoch time stamp in microseconds has 51 bits before the point, so that a double holds it only to
a quarter of a microsecond; one that counts from ``baseTimeNanoseconds`` to about a nanosecond.
Reproducing its digits in this arithmetic, and only in this, shows where they are in error.
"""

from __future__ import annotations

import json

from laptime.model.rows import Ints
from tests.evidence.measured import Measured

Spans = list[tuple[float, float]]


def stretches(m: Measured, of: Ints) -> Spans:
    """``(ts, ts + dur)`` of rows as doubles of the text's own numbers."""
    rows = m.timeline.rows
    base = next((json.loads(v) for k, v, _ in m.scan.head if k == "baseTimeNanoseconds"), 0)
    clock_ns = m.timeline.origin_ns - base
    found = []
    for start_ns, dur_ns in zip(rows.start_ns[of].tolist(), rows.dur_ns[of].tolist(), strict=True):
        ts = (start_ns + clock_ns) / 1000  # correctly rounded, as float() of the text is
        found.append((ts, ts + max(dur_ns, 0) / 1000))
    return found


def merged(spans: Spans) -> Spans:
    out: Spans = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def length(spans: Spans) -> float:
    return sum(end - start for start, end in spans)


def inside(spans: Spans, windows: Spans) -> float:
    """Length of ``spans`` within ``windows``; both merged."""
    return sum(
        min(end, stop) - max(start, begin)
        for begin, stop in windows
        for start, end in spans
        if min(end, stop) > max(start, begin)
    )


def outside(spans: Spans, cover: Spans) -> float:
    return length(spans) - inside(spans, cover)


def quantities(m: Measured) -> dict[str, float]:
    """Every quantity of the truth file that is made of time stamps, as its script made it."""
    per_device = m.by_device(m.kernels)
    kernels = {d: stretches(m, of) for d, of in per_device.items()}
    work = {d: merged(stretches(m, of)) for d, of in m.by_device(m.work).items()}
    nccl = {d: merged(stretches(m, of)) for d, of in m.by_device(m.nccl).items()}
    others = m.by_device(m.kernels[[i not in set(m.nccl.tolist()) for i in m.kernels.tolist()]])
    steps = merged(stretches(m, m.step_rows))
    every = [s for spans in kernels.values() for s in spans]
    found = {
        "kernel_sum_us": sum(length(spans) for spans in kernels.values()),
        "kernel_union_us": sum(length(merged(spans)) for spans in kernels.values()),
        "gpu_busy_union_us": sum(length(spans) for spans in work.values()),
        "gpu_busy_inside_steps_us": sum(inside(spans, steps) for spans in work.values()),
        "nccl_union_us": sum(length(spans) for spans in nccl.values()),
        "nccl_exposed_us": sum(
            outside(spans, merged(stretches(m, others[d])) if d in others else [])
            for d, spans in nccl.items()
        ),
        "gpu_span_us": max((e for _, e in every), default=0)
        - min((s for s, _ in every), default=0),
    }
    return {name: round(value, 3) for name, value in found.items()}
