"""What a cause looks at, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from laptime.kernels.names import KernelName
from laptime.ledger.ledger import Ledger
from laptime.ledger.work import Work
from laptime.model.run import Run, Timeline


class Need(str, Enum):
    """What a cause needs of the evidence; an absent need makes it abstain."""

    GPU_ROWS = "gpu_rows"
    LAUNCH_CALLS = "launch_calls"
    HOST_ROWS = "host_rows"
    STACKS = "stacks"
    SHAPES = "shapes"
    LOADER_SPANS = "loader_spans"
    THREE_LAPS = "three_laps"
    DEVICE_PROPERTIES = "device_properties"
    CAPTURE = "capture"
    COUNTERS = "counters"
    SCHED = "sched"


SUPPLY: Mapping[Need, str] = {
    Need.GPU_ROWS: "profile with ProfilerActivity.CUDA among the activities",
    Need.LAUNCH_CALLS: "profile with ProfilerActivity.CUDA (records runtime calls) and CPU",
    Need.HOST_ROWS: "profile with ProfilerActivity.CPU among the activities",
    Need.STACKS: "profile with with_stack=True",
    Need.SHAPES: "profile with record_shapes=True",
    Need.LOADER_SPANS: "iterate a torch DataLoader under the profiler, or name the mark or "
    "function that loads with --loader NAME (in Python, loader=[NAME])",
    Need.THREE_LAPS: "profile at least 3 steady steps: schedule(wait=1, warmup=1, active=5) and "
    "prof.step() at each step",
    Need.DEVICE_PROPERTIES: "keep deviceProperties in the trace's header",
    Need.CAPTURE: "record with `laptime run`",
    Need.COUNTERS: "record with `laptime run` on Linux, with laps that together last at least "
    "half a second (--laps N)",
    Need.SCHED: "record with `laptime run` on a kernel that keeps schedstat (CONFIG_SCHED_INFO)",
}

NAMES: Mapping[str, str] = {
    Need.GPU_ROWS.value: "rows of a device",
    Need.LAUNCH_CALLS.value: "calls that launch device work",
    Need.HOST_ROWS.value: "rows of the host's threads",
    Need.STACKS.value: "Python stacks",
    Need.SHAPES.value: "shapes of operators",
    Need.LOADER_SPANS.value: "spans of a data loader",
    Need.THREE_LAPS.value: "three steady laps",
    Need.DEVICE_PROPERTIES.value: "the device's properties",
    Need.CAPTURE.value: "a capture",
    Need.COUNTERS.value: "host counters over the laps",
    Need.SCHED.value: "run-queue times of the process",
}
"""What a need is called where people read it; programs get its id."""

OF_A_CAPTURE = frozenset({Need.CAPTURE, Need.COUNTERS, Need.SCHED})
"""Needs that no trace alone can meet."""


@dataclass(frozen=True)
class Case:
    """One timeline as a cause sees it. ``has`` lists the needs that its evidence meets."""

    run: Run
    timeline: Timeline
    ledger: Ledger
    work: Mapping[str, Work]
    """Device work by device id."""
    kernel_names: Mapping[int, KernelName]
    """Decoded kernel names by index into ``timeline.rows.names``."""
    has: frozenset[Need]
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """What several causes ask for, made once."""


@dataclass(frozen=True)
class EventRef:
    """An event behind a finding. ``start_ns`` in the timeline's clock."""

    name: str
    lane: str
    start_ns: int
    dur_ns: int


@dataclass(frozen=True)
class Finding:
    """A cause found. ``share`` of steady lap time, 0..1; ``bound_ns`` the most it can cost, a mean
    per steady lap, by the arithmetic in ``formula``. A bound is not a gain."""

    id: str
    title: str
    sentence: str
    share: float | None
    bound_ns: int | None
    formula: str
    device: str | None
    rank: int | None
    events: Sequence[EventRef] = ()
    why: Sequence[str] = ()
    next_step: Sequence[str] = ()
    remedies: Sequence[str] = ()
    confidence: float = 1.0
    events_in_all: int | None = None
    """How many events there are where ``events`` are the longest of them; None where not told."""


@dataclass(frozen=True)
class Clear:
    """The cause was looked for and is not there; ``why`` gives the figure that shows it."""

    id: str
    why: str
    rank: int | None = None


@dataclass(frozen=True)
class Abstention:
    """The cause could not be judged: what is missing, and which flag would supply it."""

    id: str
    missing: Sequence[str]
    supply: str
    rank: int | None = None


Outcome = Finding | Clear | Abstention


class Cause(Protocol):
    """One cause. The class docstring is its catalogue page."""

    id: str
    title: str
    layer: str
    needs: Sequence[Need]
    silences: Sequence[str]
    """Ids of the symptoms that this cause explains when it is found."""

    def look(self, case: Case) -> Outcome:
        """Judge one timeline."""
        ...


@dataclass(frozen=True)
class Judgement:
    """Everything the causes said of one run, ranked."""

    findings: Sequence[Finding] = ()
    clear: Sequence[Clear] = ()
    abstentions: Sequence[Abstention] = ()
    silenced: Sequence[Finding] = field(default_factory=tuple)
