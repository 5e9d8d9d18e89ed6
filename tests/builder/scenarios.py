"""Scenarios: built traces whose accounts and first finding are known before any ledger runs.

Each is a function of a variant. Its arithmetic is written out beside the rows that it places: the
amounts are the author's, never the outcome of an analysis. All times are whole microseconds, so
that every variant can write them exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.builder.scenarios_cpu import cpu_compute_bound, cpu_loader_bound
from tests.builder.scenarios_device import (
    exposed_all_reduce,
    fp32_sgemm,
    healthy,
    overlapped_all_reduce,
    queue_filling,
    tf32_gemm,
    too_short,
)
from tests.builder.scenarios_host import host_sync_each_lap, launch_bound
from tests.builder.scenarios_input import (
    input_hidden,
    input_no_workers,
    input_slow_workers,
    pageable_copies,
    pinned_copies,
)
from tests.builder.scenarios_markless import gpu_only, graph_decode
from tests.builder.truth import Scenario
from tests.builder.variant import Variant

SCENARIOS: Mapping[str, Callable[[Variant | None], Scenario]] = {
    made.__name__: made
    for made in (
        healthy,
        input_no_workers,
        input_slow_workers,
        input_hidden,
        pageable_copies,
        pinned_copies,
        host_sync_each_lap,
        launch_bound,
        exposed_all_reduce,
        overlapped_all_reduce,
        fp32_sgemm,
        tf32_gemm,
        too_short,
        cpu_loader_bound,
        cpu_compute_bound,
        gpu_only,
        graph_decode,
        queue_filling,
    )
}
"""Every scenario by name, in a fixed order."""
