"""Scenarios without a device: the thread that owns the laps is what the ledger partitions."""

from __future__ import annotations

from dataclasses import replace

from tests.builder.host import MS
from tests.builder.trace import TraceBuilder
from tests.builder.truth import Scenario, WindowTruth
from tests.builder.variant import Variant

LAPS = 6


def _cpu(name: str, variant: Variant | None, first: str, loader_ns: int, ops: int) -> Scenario:
    """Loader, then ``ops`` operators of 4 ms with 100 us between them that no row covers."""
    made = replace(variant or Variant(), vendor="cpu", collective_args=None)
    trace = TraceBuilder(made)
    main = trace.thread()
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.loader_next(loader_ns)
            for _ in range(ops):
                main.op("aten::addmm", 4 * MS)
                main.idle(MS // 10)
    accounts = {"input_wait": loader_ns, "operators": ops * 4 * MS, "between_ops": ops * MS // 10}
    windows = [
        WindowTruth(lap, start, end - start, False, accounts) for lap, start, end in trace.host_laps
    ]
    return Scenario(
        name, trace, first, {0: windows}, forbidden=frozenset({"launch-bound", "host-sync"}),
        steady=[True] * LAPS, cpu=True,
    )  # fmt: skip


def cpu_loader_bound(variant: Variant | None = None) -> Scenario:
    """73 ms of loading in 147 ms laps."""
    return _cpu("cpu_loader_bound", variant, "input-starvation", 73 * MS, 18)


def cpu_compute_bound(variant: Variant | None = None) -> Scenario:
    """1 ms of loading in 83 ms laps."""
    return _cpu("cpu_compute_bound", variant, "healthy", MS, 20)
