"""Scenarios whose host holds the device back: a synchronisation each lap, and tiny kernels."""

from __future__ import annotations

from tests.builder.host import MS, US
from tests.builder.kernels import gemm
from tests.builder.trace import TraceBuilder
from tests.builder.truth import Scenario, device_truth
from tests.builder.variant import Variant

LAPS = 6


def host_sync_each_lap(variant: Variant | None = None) -> Scenario:
    """``loss.item()`` at the end of each lap, then 3 ms of host work before the queue refills.

    Device, from a lap's first kernel: 20 kernels of 500 us back to back; the four-byte copy right
    behind them (2 us); 10 us until the wait returns; 3 ms in operators, then the next lap's first
    operator: 20 us, 6 in the call, 4 of latency. The host has just left the blocking call and
    refills until that call has ended: all of it is ``host_sync``.
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.op("aten::zero_grad", 3 * MS)
            for _ in range(20):
                main.kernel_op(
                    "aten::mm", gemm(trace.variant, "bf16"), 500 * US,
                    before_ns=20 * US, after_ns=4 * US,
                )  # fmt: skip
            main.item(copy_ns=2 * US, tail_ns=10 * US)
    busy = {"compute": 10 * MS, "exposed_copy": 2 * US}
    host = 10 * US + 3 * MS + 20 * US + 6 * US
    closed = busy | {"host_sync": host, "launch_latency": 4 * US}
    return Scenario(
        "host_sync_each_lap", trace, "host-sync", {0: device_truth(trace, closed, busy)},
        forbidden=frozenset({"healthy", "input-starvation", "pageable-copies"}),
        steady=[True] * LAPS,
    )  # fmt: skip


def launch_bound(variant: Variant | None = None) -> Scenario:
    """400 kernels of 3 us each lap, 20 us of host for each.

    From the end of a launch call: 4 us of latency, 3 of kernel, then the device waits while the
    host is in the next operator (from 4 to 14, of which 7 to 14 idle) and its call (14 to 20).
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    kernels = 400
    for lap in range(LAPS):
        with main.step(lap + 2):
            for _ in range(kernels):
                main.kernel_op(
                    "aten::add_", "void at::native::vectorized_elementwise_kernel<4, "
                    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, "
                    "at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)",
                    3 * US, before_ns=10 * US, call_ns=6 * US, latency_ns=4 * US, after_ns=4 * US,
                )  # fmt: skip

    def held(gaps: int) -> dict[str, int]:
        waits = {"host_ops": 7 * US, "host_launch": 6 * US, "launch_latency": 4 * US}
        return {"compute": kernels * 3 * US} | {k: gaps * ns for k, ns in waits.items()}

    return Scenario(
        "launch_bound", trace, "launch-bound",
        {0: device_truth(trace, held(kernels), held(kernels - 1))},
        forbidden=frozenset({"healthy", "input-starvation", "host-sync"}),
        steady=[True] * LAPS,
    )  # fmt: skip
