"""The project's own trace builder: traces whose truth is known because it was put there.

``TraceBuilder`` simulates host threads, streams and launches in whole nanoseconds and writes what
a PyTorch profiler of a given year and vendor would have recorded. ``SCENARIOS`` are built traces
with their exact accounts. ``without`` deletes every row of one kind. ``tests.builder.large`` writes
files of any size for benchmarks, ``tests.builder.strategies`` random ones for property tests.
"""

from __future__ import annotations

from tests.builder.files import write_ranks
from tests.builder.host import MS, US, HostThread
from tests.builder.rows import Row
from tests.builder.scenarios import SCENARIOS
from tests.builder.trace import TraceBuilder, Window
from tests.builder.truth import Scenario, WindowTruth
from tests.builder.variant import Variant
from tests.builder.without import KINDS, without

__all__ = [
    "KINDS",
    "MS",
    "SCENARIOS",
    "US",
    "HostThread",
    "Row",
    "Scenario",
    "TraceBuilder",
    "Variant",
    "Window",
    "WindowTruth",
    "without",
    "write_ranks",
]
