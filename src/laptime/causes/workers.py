"""What loads while the loader is waited for: computing, short of a CPU, reading, or asleep.

Over the spans of the loader's next, brought to the counters' clock. On a CPU and in the run queue:
the kernel's own totals. Of the rest, the ticks at which the main thread of a worker was in
uninterruptible sleep (state D: storage) are reading. What is left sleeps: the network, a lock, a
timer, or no index to work on. Where the spans are too short for samples, all laps are taken: a
loader that is behind works whether it is waited for or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Need
from laptime.causes.cores import busy_cores, free_cores
from laptime.causes.counted import Counted, counted
from laptime.causes.limits import LEAST_TICKS, WORKERS_MOSTLY, WORKERS_STARVED
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.counters import ProcessCounters
from laptime.model.rows import Ints


@dataclass(frozen=True)
class Loading:
    """Who loads (``workers`` processes; 0: the training process itself) and what they do: shares of
    their time, which sum to 1. ``busy_cores`` is what the whole program uses of ``cores``,
    ``free_cores`` what neither it nor others use."""

    workers: int
    computing: float
    starved: float
    reading: float
    asleep: float
    busy_cores: float
    cores: float | None
    free_cores: float | None
    ticks: int
    while_waiting: bool = True
    """Whether the shares are over the loader's next, else over all laps (too short for samples)."""

    @property
    def phrase(self) -> str:
        """What the sentence of a finding says of it."""
        shares = (
            (self.computing, "compute", "computes"),
            (self.starved, "wait for a CPU", "waits for a CPU"),
            (self.reading, "read from storage", "reads from storage"),
            (self.asleep, "sleep", "sleeps"),
        )
        many = self.workers > 1
        who = f"its {self.workers} workers" if many else "its worker" if self.workers else "it"
        told = [f"{a if many else b} {wording.percent(s)}" for s, a, b in shares]
        return f"{who} {', '.join(told)} of {'that time' if self.while_waiting else 'the laps'}"

    @property
    def too_many(self) -> bool:
        """More workers than cores, and they wait for one another's."""
        crowded = self.cores is not None and self.workers > self.cores
        return crowded and self.starved >= WORKERS_STARVED.value

    def diagnosis(self) -> str | None:
        """What keeps the loader, in a few words; None where nothing stands out."""
        if self.workers == 0:
            return None
        if self.too_many:
            return f"too many for the {wording.count(self.cores or 0)} cores"
        if self.starved >= WORKERS_STARVED.value:
            return "short of CPU beside other threads"
        if self.reading >= WORKERS_STARVED.value:
            return "storage is the limit"
        if self.computing >= WORKERS_MOSTLY.value:
            free = self.free_cores
            return (
                "too few of them" if free is not None and free >= 1 else "no core is left for more"
            )
        if self.asleep >= WORKERS_MOSTLY.value:
            return "neither CPU nor disk is the limit"
        return None

    def next_steps(self) -> tuple[str, ...]:
        """Advice that fits what was seen."""
        free = self.free_cores
        if self.workers == 0:
            cores = "" if free is None else f" (about {wording.count(free)} cores are unused)"
            return (
                "load in worker processes: DataLoader(num_workers=N, persistent_workers=True), "
                f"N from 2 up to the cores free{cores}",
            )
        if self.too_many:
            return (
                f"lower num_workers to at most {int(self.cores or 1)}: workers take turns on the "
                "cores, and each batch is later for it",
                "make an item cheaper: decode less, cache, or transform on the device",
            )
        if self.starved >= WORKERS_STARVED.value:
            return (
                "lower the threads of the training process (torch.set_num_threads, "
                "OMP_NUM_THREADS) or of the workers, or give the job more cores",
            )
        if self.reading >= WORKERS_STARVED.value:
            return (
                "read less often and more at once: shards instead of small files, a local copy, "
                "readahead; more workers read more at a time",
            )
        if self.computing >= WORKERS_MOSTLY.value:
            more = (
                f"raise num_workers: the workers compute and about {wording.count(free)} cores "
                "are unused"
                if free is not None and free >= 1
                else "give the job more cores: the workers compute and no core is left"
            )
            return (more, "make an item cheaper: decode less, cache, or transform on the device")
        if self.asleep >= WORKERS_MOSTLY.value:
            return (
                "find what an item waits for (network, lock, timer): while it sleeps, more workers "
                "(num_workers) overlap the waiting at little cost",
            )
        return ()


def loading(case: Case, spans: Ints) -> Loading | None:
    """What loads during the rows ``spans``; None without counters over them."""
    if Need.SCHED not in case.has:
        return None
    of = counted(case)
    rows = case.timeline.rows
    start, end = rows.start_ns[spans], rows.end_ns(spans)
    span = intervals.union(of.clock.to_mono(start), of.clock.to_mono(end))
    if intervals.total(span) == 0:
        return None
    ticks = int(intervals.contains(span, of.counters.at_ns).sum())
    while_waiting = ticks >= LEAST_TICKS.value
    if not while_waiting:  # a loader that is behind works all the time, waited for or not
        span = of.span
        ticks = int(intervals.contains(span, of.counters.at_ns).sum())
    workers = of.workers()
    if of.process.workers and not workers:
        return None  # they lived between two ticks
    names = ("run_ns", "wait_ns") if workers else ("main_run_ns", "main_wait_ns")
    shares = [s for p in workers or [of.own] if (s := _shares(p, span, names))]
    if not shares:
        return None
    computing, starved, reading, asleep = np.array(shares).mean(axis=0).tolist()
    return Loading(
        _at_once(of, workers), computing, starved, reading, asleep, busy_cores(of),
        of.run.usable_cores, free_cores(of), ticks, while_waiting,
    )  # fmt: skip


def _at_once(of: Counted, workers: Sequence[ProcessCounters]) -> int:
    """The most of the workers that lived at one tick: those that follow others are no more of them.
    0 without any."""
    low, high = int(of.span[0][0]), int(of.span[1][-1])
    at = of.counters.at_ns[(of.counters.at_ns >= low) & (of.counters.at_ns <= high)]
    alive = sum(
        (np.isin(at, p.at_ns).astype(np.int64) for p in workers), np.zeros(len(at), np.int64)
    )
    return max(1, int(alive.max(initial=0))) if workers else 0


def _shares(
    process: ProcessCounters, span: Span, names: Sequence[str]
) -> tuple[float, float, float, float] | None:
    """Computing, starved, reading, asleep; None where the process did not live then."""
    lived = intervals.clip(span, *process.lifetime())
    whole = intervals.total(lived)
    run, wait = (process.increase(name, lived) for name in names)
    if not whole or run is None or wait is None:
        return None
    # Threads of one worker may run side by side: its time is then shared among what they do.
    used = max(1.0, (run + wait) / whole)
    computing, starved = run / whole / used, wait / whole / used
    rest = max(0.0, 1.0 - computing - starved)
    seen = process.state[intervals.contains(span, process.at_ns)]
    stuck, slept = int((seen == ord("D")).sum()), int((seen == ord("S")).sum())
    reading = rest * stuck / (stuck + slept) if stuck + slept else 0.0
    return computing, starved, reading, rest - reading
