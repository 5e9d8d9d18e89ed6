"""Host counters of a case's own process over its laps: one denominator for every cause that asks.

The laps are the steady ones of the recording and those that the probe counted as steady outside it:
counters are the same for both, and more laps say more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.causes.case import Case
from laptime.causes.limits import LEAST_TICKS
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import Ledger
from laptime.model.counters import CaptureFacts, Clock, HostCounters, ProcessCounters, ProcessFacts
from laptime.model.run import Timeline

WORKER = "loader_worker"


@dataclass(frozen=True)
class Counted:
    """Counters over ``laps`` laps, whose time on the monotonic clock is ``span``."""

    run: CaptureFacts
    process: ProcessFacts
    clock: Clock
    counters: HostCounters
    own: ProcessCounters
    span: Span
    laps: int

    @property
    def wall_ns(self) -> int:
        """Length of the laps together."""
        return intervals.total(self.span)

    @property
    def lap_ns(self) -> float:
        """Mean length of these laps."""
        return self.wall_ns / self.laps

    @property
    def scheduled(self) -> bool:
        """Whether time on a CPU and in the run queue is known of the process."""
        known = (self.own.increase(name, self.span) for name in ("run_ns", "wait_ns"))
        return all(value is not None for value in known)

    @property
    def over(self) -> str:
        """What the figures are over ("over 24 laps, sampled every 50 ms")."""
        period = self.counters.period_ns or 0
        laps = "1 lap" if self.laps == 1 else f"{self.laps} laps"
        return f"over {laps}, sampled every {period / 1e6:.0f} ms"

    def host(self, counter: str) -> float | None:
        """Growth of a total of the host over the laps."""
        series = self.counters.host.get(counter)
        return None if series is None else series.increase(self.span)

    def cores(self, process: ProcessCounters, counter: str) -> float | None:
        """A process's time in a counter of ns, as cores: its growth against the laps' length."""
        grown = process.increase(counter, self.span)
        return None if grown is None else grown / self.wall_ns

    def part(self, process: ProcessCounters, counter: str) -> float | None:
        """The same of a process that need not live through all laps: what was read of it counts.

        None where it lived in them and nothing was read."""
        series = process.series.get(counter)
        read = None if series is None else series.read_of(self.span)
        if series is None or read is None or not len(read[0]):
            low, high = process.lifetime()
            return None if intervals.total(intervals.clip(self.span, low, high)) else 0.0
        grown = series.increase(read)
        return None if grown is None else grown / self.wall_ns

    def used(self, process: ProcessCounters) -> float:
        """Cores that a process uses; from user and kernel time, in ticks of 10 ms, where the
        scheduler's own totals were not read of it."""
        run = self.part(process, "run_ns")
        if run is not None:
            return run
        return sum(self.part(process, name) or 0.0 for name in ("utime", "stime"))

    def workers(self) -> list[ProcessCounters]:
        """The loader's worker processes that were sampled, by pid."""
        told = {p.pid for p in self.run.processes if p.role == WORKER and p.ppid == self.own.pid}
        pids = sorted({*self.process.workers, *told})
        return [self.counters.processes[p] for p in pids if p in self.counters.processes]


def counted(case: Case) -> Counted:
    """The counters of a case that has them (``Need.COUNTERS``)."""
    found = counters_of(case.timeline, case.ledger)
    assert found is not None, "the cause does not list Need.COUNTERS"
    return found


def counters_of(timeline: Timeline, ledger: Ledger) -> Counted | None:
    """The counters over a timeline's laps; None where they do not cover them, or too sparsely."""
    captured = timeline.capture
    if captured is None or captured.clock is None or captured.run.counters is None:
        return None
    counters = captured.run.counters
    own = counters.processes.get(captured.process.pid)
    recorded = ledger.laps.steady
    if own is None or ledger.laps.source == "window" or not recorded:
        return None
    low = np.array([lap.start_ns for lap in recorded], dtype=np.int64)
    high = np.array([lap.end_ns for lap in recorded], dtype=np.int64)
    plain = captured.process.of_phase("plain")
    starts = np.array([lap.start_ns for lap in plain], dtype=np.int64)
    ends = np.array([lap.end_ns for lap in plain], dtype=np.int64)
    clock = captured.clock
    span = intervals.both(
        intervals.union(clock.to_mono(low), clock.to_mono(high)), intervals.union(starts, ends)
    )
    first, last = own.lifetime()
    if int(span[0][0]) < first or int(span[1][-1]) > last:
        return None
    ticks = sum(counters.ticks_in(a, b) for a, b in zip(*map(np.ndarray.tolist, span), strict=True))
    if ticks < LEAST_TICKS.value:
        return None
    return Counted(
        captured.run, captured.process, clock, counters, own, span, len(recorded) + len(plain)
    )
