"""Scenarios whose device sets the pace: compute, communication beside or after it, data types."""

from __future__ import annotations

from tests.builder.host import MS, US, HostThread
from tests.builder.kernels import gemm
from tests.builder.rows import Row
from tests.builder.trace import TraceBuilder
from tests.builder.truth import Scenario, device_truth
from tests.builder.variant import Variant

LAPS = 6
GAP_NS = US
"""The ordinary gap between two kernels of a stream that were both enqueued long before."""
KERNEL_NS = 500 * US
LAG_FORBIDDEN = frozenset({"input-starvation", "host-sync", "launch-bound", "pageable-copies"})


def _burst(main: HostThread, dtype: str, count: int, gap_ns: int) -> list[Row]:
    """Enqueue ``count`` matrix products: 30 us of host each, 500 us of device."""
    kernel = gemm(main.trace.variant, dtype)
    return [
        main.kernel_op(
            "aten::mm", kernel, KERNEL_NS, before_ns=20 * US, after_ns=4 * US, gap_ns=gap_ns
        )
        for _ in range(count)
    ]


def _compute_bound(
    name: str,
    variant: Variant | None,
    dtype: str,
    first: str | None,
    *,
    laps: int = LAPS,
    lag: int = 1,
    forbidden: frozenset[str] = LAG_FORBIDDEN,
    steady: list[bool | None] | None = None,
) -> Scenario:
    """40 kernels a lap, 1 us between neighbours; the host waits for the lap ``lag`` before it.

    The host needs 1.2 ms a lap and the device 20.04, so the queue is never empty: a closed window
    holds 40 kernels and the 40 gaps behind them, the open one 39 gaps. A gap is the ordinary one
    of its stream, except where it coincides with the latency of a launch further back in the queue:
    both hold work back, and the definitions test latency first.
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    done: list[Row] = []
    for lap in range(laps):
        with main.step(lap + 2):
            done.append(_burst(main, dtype, 40, GAP_NS)[-1])
            if lap >= lag:
                main.sync("cudaEventSynchronize", until=done[lap - lag], tail_ns=5 * US)
    closed = {"compute": 40 * KERNEL_NS, "launch_latency+kernel_gap": 40 * GAP_NS}
    last = {"compute": 40 * KERNEL_NS, "launch_latency+kernel_gap": 39 * GAP_NS}
    windows = {0: device_truth(trace, closed, last)}
    return Scenario(name, trace, first, windows, forbidden=forbidden, steady=steady)


def healthy(variant: Variant | None = None) -> Scenario:
    """Tensor-core matmuls back to back."""
    return _compute_bound("healthy", variant, "bf16", "healthy")


def fp32_sgemm(variant: Variant | None = None) -> Scenario:
    """The same with fp32 matmuls on a device that has tensor cores.

    AMD's fp32 products use its matrix units, so nothing is promised there.
    """
    if variant is not None and variant.vendor == "amd":
        return _compute_bound("fp32_sgemm", variant, "fp32", None)
    forbidden = LAG_FORBIDDEN | {"healthy"}
    return _compute_bound("fp32_sgemm", variant, "fp32", "fp32-matmul", forbidden=forbidden)


def tf32_gemm(variant: Variant | None = None) -> Scenario:
    """fp32 data through tensor cores: not an fp32 matmul."""
    forbidden = LAG_FORBIDDEN | {"fp32-matmul"}
    return _compute_bound("tf32_gemm", variant, "tf32", "healthy", forbidden=forbidden)


def too_short(variant: Variant | None = None) -> Scenario:
    """One lap only: no statistics."""
    forbidden = LAG_FORBIDDEN | {"healthy"}
    return _compute_bound(
        "too_short", variant, "bf16", "unhealthy-trace", laps=1, forbidden=forbidden
    )


def queue_filling(variant: Variant | None = None) -> Scenario:
    """The host runs three laps ahead before it first waits.

    Host laps: 1.2 ms three times, about 16 ms, then 20 ms; device periods are 20 ms throughout.
    The first three laps are not steady, the fourth may be judged either way.
    """
    steady: list[bool | None] = [False, False, False, None, True, True, True, True]
    return _compute_bound("queue_filling", variant, "bf16", "healthy", laps=8, lag=3, steady=steady)


def exposed_all_reduce(variant: Variant | None = None) -> Scenario:
    """10 ms of compute, then 5 ms of all-reduce that the next lap's compute waits for.

    2 us pass before the all-reduce starts after its event, and 2 us before the next lap's first
    kernel starts after the all-reduce: work was enqueued, so the time is held back on the device.
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    before: Row | None = None
    for lap in range(LAPS):
        with main.step(lap + 2):
            if before is not None:
                main.wait_event(7, before)
                trace.stream(7).tail_ns += 2 * US
            last = _burst(main, "bf16", 20, 0)[-1]
            main.wait_event(20, last)
            comm = main.comm("allreduce", 5 * MS, gap_ns=2 * US)
            if before is not None:
                main.sync("cudaEventSynchronize", until=before, tail_ns=5 * US)
            before = comm
    busy = {"compute": 20 * KERNEL_NS, "exposed_comm": 5 * MS}
    closed, end = busy | {"held": 4 * US}, busy | {"held": 2 * US}
    return Scenario(
        "exposed_all_reduce", trace, "exposed-collectives",
        {0: device_truth(trace, closed, end)},
        forbidden=frozenset({"healthy", "input-starvation", "launch-bound", "host-sync"}),
    )  # fmt: skip


def overlapped_all_reduce(variant: Variant | None = None) -> Scenario:
    """4 ms of all-reduce beside the middle of 10 ms of compute: nothing exposed."""
    trace = TraceBuilder(variant)
    main = trace.thread()
    before: Row | None = None
    for lap in range(LAPS):
        with main.step(lap + 2):
            ready = _burst(main, "bf16", 4, 0)[-1]
            main.wait_event(20, ready)
            main.comm("allreduce", 4 * MS)
            last = _burst(main, "bf16", 16, 0)[-1]
            if before is not None:
                main.sync("cudaEventSynchronize", until=before, tail_ns=5 * US)
            before = last
    truth = {"compute": 6 * MS, "compute_with_comm": 4 * MS}
    return Scenario(
        "overlapped_all_reduce", trace, "healthy", {0: device_truth(trace, truth, truth)},
        forbidden=LAG_FORBIDDEN | {"exposed-collectives"},
    )  # fmt: skip
