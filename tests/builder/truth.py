"""What is true of a built trace: the time in each account, known because it was put there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.builder.trace import TraceBuilder


@dataclass(frozen=True)
class WindowTruth:
    """One window of one device (for CPU-only traces: of the thread that owns the laps).

    ``accounts`` sums to ``dur_ns``. A key is an account (a leaf, or a parent for the sum of its
    leaves), or several joined by "+" where the definitions leave open which of them holds the time.
    Times are epoch nanoseconds.
    """

    lap: int
    start_ns: int
    dur_ns: int
    open: bool
    accounts: Mapping[str, int]


@dataclass(frozen=True)
class Scenario:
    """A built trace with its truth.

    ``windows`` by device ordinal, in order of time; a device whose laps cannot be known from the
    trace has ``totals`` instead: sums over the whole recording, from its first to its last device
    work. ``first`` is the id of the finding that must come first, None where none is promised;
    ``forbidden`` are ids that must not be found. ``steady`` tells for each lap in order whether
    statistics may use it, None where not promised (for one lap or for all).
    """

    name: str
    trace: TraceBuilder
    first: str | None
    windows: Mapping[int, Sequence[WindowTruth]] = field(default_factory=dict)
    totals: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    forbidden: frozenset[str] = frozenset()
    steady: Sequence[bool | None] | None = None
    cpu: bool = False


def device_truth(
    trace: TraceBuilder,
    closed: Mapping[str, int],
    last: Mapping[str, int],
    device: int = 0,
) -> list[WindowTruth]:
    """Truth of a trace whose closed windows all hold ``closed`` and whose open one at the end holds
    ``last``. Zero entries are left out."""
    made = []
    for window in trace.windows(device):
        accounts = last if window.open else closed
        held = {key: ns for key, ns in accounts.items() if ns}
        made.append(WindowTruth(window.lap, window.start_ns, window.dur_ns, window.open, held))
    return made
