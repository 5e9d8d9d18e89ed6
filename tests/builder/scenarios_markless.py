"""Scenarios without step marks: device rows alone, and a server's graph replays."""

from __future__ import annotations

from dataclasses import replace

from tests.builder.host import US
from tests.builder.trace import TraceBuilder
from tests.builder.truth import Scenario
from tests.builder.variant import Variant

ROUNDS = 12


def gpu_only(variant: Variant | None = None) -> Scenario:
    """Only device rows: five kernels of 400 us, 100 us after each, twelve times over.

    Without calls nothing tells why the device idles: 59 gaps of merged idle time.
    """
    made = replace(variant or Variant(), host_rows=False, calls=False, flows=False)
    trace = TraceBuilder(made)
    names = ["embed_kernel", "attention_kernel", "gemm_kernel", "norm_kernel", "sample_kernel"]
    for at in range(5 * ROUNDS):
        trace.device_row(names[at % 5], at * 500 * US, 400 * US)
    totals = {"compute": 5 * ROUNDS * 400 * US, "idle": (5 * ROUNDS - 1) * 100 * US}
    return Scenario(
        "gpu_only", trace, None, totals={0: totals},
        forbidden=frozenset({"input-starvation", "host-sync", "launch-bound", "pageable-copies"}),
    )  # fmt: skip


def graph_decode(variant: Variant | None = None) -> Scenario:
    """A server's decode iterations: one eager kernel, a graph of 50, the token to the host.

    From an iteration's first kernel (10 us): the graph's call still runs for 10 us after it (20 us
    of call, begun 4 us after the first call), 4 us of latency, 50 kernels of 20 us, the copy
    (2 us), 10 us until the wait returns, 300 us that no row covers, 20 us in the next operator,
    6 in its call, 4 of latency.
    """
    made = replace(variant or Variant(), step_marks=False)
    trace = TraceBuilder(made)
    main = trace.thread()
    nodes = [(f"triton_poi_fused_{at % 10}", 20 * US) for at in range(50)]
    for at in range(ROUNDS):
        with trace.lap_window(at, main):
            main.idle(300 * US)
            main.kernel_op(
                "aten::embedding", "embed_kernel", 10 * US, before_ns=20 * US, after_ns=4 * US
            )
            main.graph(nodes)
            main.item(copy_ns=2 * US, tail_ns=10 * US)
    between = ROUNDS - 1
    totals = {
        "compute": ROUNDS * (10 + 50 * 20) * US,
        "exposed_copy": ROUNDS * 2 * US,
        "host": ROUNDS * 10 * US + between * (10 + 300 + 20 + 6) * US,
        "launch_latency": (ROUNDS + between) * 4 * US,
    }
    return Scenario(
        "graph_decode", trace, None, totals={0: totals},
        forbidden=frozenset({"input-starvation", "exposed-collectives"}),
    )  # fmt: skip
