"""Random small traces for property tests of the ledger: any overlap, any order, missing pieces.

The rows make no sense as a program, on purpose: activities overlap on one stream, calls end after
their work, operators straddle one another, launches lack calls. A ledger must still conserve time.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Item = dict[str, Any]

_KERNELS = (
    "ampere_sgemm_128x64_nn",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)",
    "triton_poi_fused_add_3",
)
_COPIES = ("Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)",
           "Memcpy DtoH (Device -> Pageable)", "Memset (Device)")  # fmt: skip
_HOST = (
    ("cpu_op", "aten::mm"),
    ("cpu_op", "aten::item"),
    ("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    ("user_annotation", "Optimizer.step#SGD.step"),
    ("python_function", "train.py(10): main"),
    ("python_function", "Python GC"),
    ("cuda_runtime", "cudaStreamSynchronize"),
    ("cuda_runtime", "cudaMalloc"),
    ("cuda_runtime", "cudaEventQuery"),
    ("overhead", "Activity Buffer Request"),
)
HORIZON_NS = 200_000


def _us(ns: int) -> Any:
    """A time as a number whose text is exact (three decimals; small enough to print exactly)."""
    return ns / 1000


def _span(longest: int) -> SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(0, HORIZON_NS), st.integers(0, longest))


@st.composite
def items(draw: DrawFn, max_work: int = 12, max_host: int = 12, max_laps: int = 4) -> list[Item]:
    """``traceEvents`` of a random trace: times in microseconds from zero, one or two devices."""
    made: list[Item] = []
    threads = draw(st.integers(1, 3))
    for number in range(draw(st.integers(0, max_work))):
        made += _work(draw, 500 + number, threads)
    for _ in range(draw(st.integers(0, max_host))):
        category, name = draw(st.sampled_from(_HOST))
        start, dur = draw(_span(60_000))
        item = {"ph": "X", "cat": category, "name": name, "pid": 1, "ts": _us(start)}
        item |= {"tid": draw(st.integers(1, threads)), "dur": _us(dur)}
        if category == "overhead":
            item |= {"pid": -1, "tid": 0}
        if category == "cuda_runtime":
            item["args"] = {"correlation": 9000 + len(made)}
        made.append(item)
    start = draw(st.integers(0, 20_000))
    for number in range(draw(st.integers(0, max_laps))):
        dur = draw(st.integers(1, 60_000))
        item = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 1}
        made.append(item | {"tid": 1, "ts": _us(start), "dur": _us(dur)})
        start += dur + draw(st.integers(0, 500))
    return draw(st.permutations(made)) if draw(st.booleans()) else made


def _work(draw: DrawFn, correlation: int, threads: int) -> list[Item]:
    """One activity, with its call and flow or without."""
    start, dur = draw(_span(40_000))
    kernel = draw(st.booleans())
    name = draw(st.sampled_from(_KERNELS if kernel else _COPIES))
    device, stream = draw(st.integers(0, 1)), draw(st.sampled_from((7, 20)))
    category = "kernel" if kernel else "gpu_memset" if "Memset" in name else "gpu_memcpy"
    item: Item = {"ph": "X", "cat": category, "name": name, "pid": device, "tid": stream}
    item |= {"ts": _us(start), "dur": _us(dur)}
    item["args"] = {"device": device, "stream": stream, "correlation": correlation}
    if draw(st.integers(0, 4)) == 0:
        return [item]
    before, length = draw(st.integers(-2_000, 30_000)), draw(st.integers(0, 10_000))
    called = "cudaLaunchKernel" if kernel else "cudaMemcpyAsync"
    call: Item = {"ph": "X", "cat": "cuda_runtime", "name": called, "pid": 1}
    call |= {"tid": draw(st.integers(1, threads)), "ts": _us(max(start - before, 0))}
    call |= {"dur": _us(length), "args": {"correlation": correlation}}
    made = [item, call]
    if draw(st.booleans()):
        flow = {"cat": "ac2g", "name": "ac2g", "id": correlation}
        made.append({"ph": "s", **flow, "pid": 1, "tid": call["tid"], "ts": call["ts"]})
        made.append({"ph": "f", **flow, "pid": device, "tid": stream, "ts": item["ts"], "bp": "e"})
    return made


def trace_texts(**how: int) -> SearchStrategy[str]:
    """Trace text of random items."""
    return items(**how).map(
        lambda made: json.dumps({"schemaVersion": 1, "traceEvents": made, "displayTimeUnit": "ms"})
    )
