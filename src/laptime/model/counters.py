"""Counters of processes and of their host, sampled while a run was captured.

All times here are the host's monotonic clock (CLOCK_MONOTONIC, ns); ``Clock`` brings them to a
timeline's own. A counter that was not kept, or not read, has no reading: it is never 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from laptime.model.rows import I64

Span = tuple[I64, I64]


@dataclass(frozen=True)
class Series:
    """One counter: its value at the instants at which it was read, ascending."""

    at_ns: I64
    value: I64

    def increase(self, span: Span) -> float | None:
        """How much a running total grew inside disjoint stretches of time.

        Between two readings it is taken to grow evenly: what happens within one sampling period
        is not told apart. None where readings do not enclose all of the time, or the total falls
        between them: it began anew (a pid or a control group was given out again).
        """
        if len(self.at_ns) < 2 or len(span[0]) == 0:
            return None
        low, high = int(span[0].min()), int(span[1].max())
        if low < self.at_ns[0] or high > self.at_ns[-1]:
            return None
        first = int(np.searchsorted(self.at_ns, low, side="right")) - 1
        last = int(np.searchsorted(self.at_ns, high, side="left"))
        if (np.diff(self.value[max(first, 0) : last + 1]) < 0).any():
            return None
        return float((self._at(span[1]) - self._at(span[0])).sum())

    def read_of(self, span: Span) -> Span:
        """The part of disjoint, ascending stretches of time from the first to the last reading."""
        if len(self.at_ns) < 2:
            return span[0][:0], span[1][:0]
        low = np.clip(span[0], self.at_ns[0], self.at_ns[-1])
        high = np.clip(span[1], self.at_ns[0], self.at_ns[-1])
        return low[high > low], high[high > low]

    def inside(self, low_ns: int, high_ns: int) -> I64:
        """The readings taken from ``low_ns`` to ``high_ns``."""
        found: I64 = self.value[(self.at_ns >= low_ns) & (self.at_ns <= high_ns)]
        return found

    def _at(self, when: I64) -> npt.NDArray[np.float64]:
        first, base = int(self.at_ns[0]), int(self.value[0])  # small numbers keep floats exact
        known = (self.value - base).astype(np.float64)
        return np.interp((when - first).astype(np.float64), self.at_ns - first, known)


@dataclass(frozen=True)
class ProcessCounters:
    """One process: the state of its main thread at each tick, and its counters by name.

    Names are the capture folder's: utime, stime, run_ns, wait_ns, main_run_ns, main_wait_ns (of the
    main thread alone), minflt, majflt, vcs, ivcs, rchar, read_bytes, write_bytes (totals), threads,
    rss (levels). ``cpus`` are those that it may run on, as first seen; None where not recorded.
    """

    pid: int
    ppid: int | None
    comm: str | None
    cpus: tuple[int, ...] | None
    at_ns: I64
    state: npt.NDArray[np.uint8]
    series: Mapping[str, Series]

    def lifetime(self) -> tuple[int, int]:
        """First and last tick at which it was seen."""
        return int(self.at_ns[0]), int(self.at_ns[-1])

    def increase(self, counter: str, span: Span) -> float | None:
        """Growth of a total inside the span; None where it was not read over all of it."""
        series = self.series.get(counter)
        return None if series is None else series.increase(span)


@dataclass(frozen=True)
class HostCounters:
    """What the sampler read: ticks, processes by pid, and totals of the host by dotted name
    (``psi.cpu``, ``cgroup.throttled_ns``, ``cpu.busy_ns``, ``mem.available``, ...)."""

    at_ns: I64
    processes: Mapping[int, ProcessCounters]
    host: Mapping[str, Series]
    core_share: float | None = None
    """Share of one core that the sampler itself took; None where it could not say."""

    @property
    def period_ns(self) -> int | None:
        """Median time from tick to tick."""
        return int(np.median(np.diff(self.at_ns))) if len(self.at_ns) > 1 else None

    def ticks_in(self, low_ns: int, high_ns: int) -> int:
        """How many ticks lie in the stretch."""
        low, high = np.searchsorted(self.at_ns, (low_ns, high_ns)).tolist()
        return int(high - low)


@dataclass(frozen=True)
class LapRecord:
    """One lap as the probe counted it. ``phase``: warmup, plain (steady and not recorded),
    recorded, after. ``items`` are the batch's size in ``unit`` (samples), ``tokens`` its tokens
    with the padding; None where not known."""

    number: int
    start_ns: int
    end_ns: int
    phase: str
    items: int | None = None
    unit: str | None = None
    tokens: int | None = None

    @property
    def dur_ns(self) -> int:
        """Length of the lap."""
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Pause:
    """One garbage collection of the interpreter; ``tid`` is the thread it ran on, if known."""

    start_ns: int
    end_ns: int
    generation: int | None = None
    collected: int | None = None
    tid: int | None = None


@dataclass(frozen=True)
class LoaderSettings:
    """How a data loader was configured; None where the probe could not tell."""

    num_workers: int | None = None
    batch_size: int | None = None
    pin_memory: bool | None = None
    persistent_workers: bool | None = None
    prefetch_factor: int | None = None
    dataset: str | None = None


@dataclass(frozen=True)
class ProcessFacts:
    """One process of a capture, as its probe told it. ``workers`` are pids of the loader's."""

    pid: int
    ppid: int | None = None
    role: str | None = None
    rank: int | None = None
    world_size: int | None = None
    state: str | None = None
    reason: str | None = None
    lap_source: str | None = None
    affinity: tuple[int, ...] | None = None
    threads_intraop: int | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    laps: Sequence[LapRecord] = ()
    pauses: Sequence[Pause] = ()
    loaders: Sequence[LoaderSettings] = ()
    workers: Sequence[int] = ()
    saw_pauses: bool = False
    """Whether the probe listened for garbage collection at all."""

    def of_phase(self, *phases: str) -> list[LapRecord]:
        """The laps of some phases, in order."""
        return [lap for lap in self.laps if lap.phase in phases]


@dataclass(frozen=True)
class CaptureFacts:
    """A captured run: its settings, processes, host counters, and what went wrong.

    ``cpus_allowed`` is how many CPUs the program might use, ``cpu_quota`` the cores that its
    control group grants (None: no quota, or not known).
    """

    folder: str
    argv: Sequence[str] = ()
    host: str | None = None
    cores: int | None = None
    cpus_allowed: int | None = None
    cpu_quota: float | None = None
    exit_code: int | None = None
    signal: int | None = None
    ended: bool = False
    problems: Sequence[str] = ()
    processes: Sequence[ProcessFacts] = ()
    counters: HostCounters | None = None

    @property
    def usable_cores(self) -> float | None:
        """Cores that the program can use at once: CPUs allowed, or the quota where it is less."""
        known = [x for x in (self.cpus_allowed or self.cores, self.cpu_quota) if x]
        return float(min(known)) if known else None


@dataclass(frozen=True)
class Clock:
    """The monotonic clock brought to a timeline's.

    Two instants are known on both; between them the difference (``residual_ns``: how much the
    clocks drifted apart, or how badly they were read) is spread evenly, outside it stays.
    ``source``: "marks" in the trace, or "wall" where only the wall clock ties them, whose error
    is not known (``residual_ns`` is None).
    """

    mono_ns: tuple[int, int]
    trace_ns: tuple[int, int]
    source: str = "marks"

    @property
    def residual_ns(self) -> int | None:
        """Difference of the two offsets; None where there is only one."""
        return self._drift if self.source == "marks" else None

    @property
    def _drift(self) -> int:
        return (self.trace_ns[1] - self.trace_ns[0]) - (self.mono_ns[1] - self.mono_ns[0])

    def to_trace(self, mono: I64) -> I64:
        """Times of the monotonic clock as the timeline's."""
        return self._moved(mono, self.mono_ns, self.trace_ns[0] - self.mono_ns[0], self._drift)

    def to_mono(self, trace: I64) -> I64:
        """Times of the timeline as the monotonic clock's."""
        return self._moved(trace, self.trace_ns, self.mono_ns[0] - self.trace_ns[0], -self._drift)

    @staticmethod
    def _moved(when: I64, known: tuple[int, int], offset: int, drift: int) -> I64:
        whole = known[1] - known[0]
        since = np.clip(when - known[0], 0, max(whole, 0))
        spread = np.rint(since * (drift / whole)).astype(np.int64) if whole > 0 else 0
        moved: I64 = when + offset + spread
        return moved


@dataclass(frozen=True)
class Captured:
    """What a capture knows of one timeline. ``clock`` is None where nothing ties the clocks."""

    run: CaptureFacts
    process: ProcessFacts
    clock: Clock | None
