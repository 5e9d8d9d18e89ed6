"""A capture folder with known truth: one built trace beside laps, events and sampled counters.

Counters grow at constant rates, so that what they gained in any stretch of time is the rate times
its length, whatever the sampling.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.builder.host import MS, HostThread
from tests.builder.kineto import kineto_text
from tests.builder.trace import TraceBuilder
from tests.builder.variant import Variant

OFFSET_NS = 1_700_000_000_000_000_000
"""Trace clock minus monotonic clock."""
TOTALS = (
    "utime",
    "stime",
    "run_ns",
    "wait_ns",
    "main_run_ns",
    "main_wait_ns",
    "minflt",
    "majflt",
    "vcs",
    "ivcs",
    "rchar",
)
BYTES = ("read_bytes", "write_bytes")


@dataclass
class Sampled:
    """A process as the sampler sees it. ``rates`` are what totals gain in each nanosecond;
    ``states`` are shown tick by tick, again and again; a counter in ``absent`` is null."""

    pid: int
    ppid: int
    rates: Mapping[str, float] = field(default_factory=dict)
    states: str = "S"
    cpus: Sequence[int] | None = None
    threads: int = 1
    rss: int = 1 << 30
    absent: frozenset[str] = frozenset()
    alive: tuple[int, int] | None = None
    comm: str = "python"


@dataclass
class CaptureBuilder:
    """Builds the trace of process ``pid`` and everything a capture holds beside it."""

    pid: int = 100
    variant: Variant | None = None
    residual_ns: int = 0
    late_ns: Sequence[int] = ()
    cores: int = 4
    quota: float | None = None
    tick_ns: int = 50 * MS
    processes: list[Sampled] = field(default_factory=list)
    plain_ns: Sequence[int] = ()
    items: int | None = None
    events: list[dict[str, Any]] = field(default_factory=list)
    host_rates: dict[str, dict[str, float]] = field(default_factory=dict)
    host_levels: dict[str, dict[str, int]] = field(default_factory=dict)
    said: dict[str, Any] = field(default_factory=dict)
    of_process: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trace = TraceBuilder(self.variant)
        self.main: HostThread = self.trace.thread(pid=self.pid, tid=self.pid)
        self.marked: list[int] = []

    def mono(self, trace_ns: int) -> int:
        """A time of the trace as the monotonic clock's, before any drift."""
        return trace_ns - OFFSET_NS

    def clock_mark(self) -> None:
        """A clock mark here, after those that are late; the second one is off by the residual."""
        off = self.residual_ns if self.marked else 0
        for late in (*self.late_ns, 0):
            mono = self.mono(self.main.now_ns) - off - late
            with self.main.region(f"laptime.clock/{mono}/{self.main.now_ns}"):
                pass
            self.main.idle(1000)
        self.marked.append(mono)

    def pause(self, start_ns: int, dur_ns: int, generation: int = 2) -> None:
        """A garbage collection, in the trace's time."""
        start = self.mono(start_ns)
        self.events.append(
            {"k": "gc", "start": start, "end": start + dur_ns, "gen": generation, "collected": 3}
        )

    def write(self, root: Path) -> Path:
        """The whole folder; returns it."""
        own = root / f"p{self.pid}"
        own.mkdir(parents=True)
        (own / "trace.json.gz").write_bytes(gzip.compress(kineto_text(self.trace).encode()))
        laps = self._laps()
        _lines(own / "laps.jsonl", laps)
        _lines(own / "events.jsonl", self.events)
        process: dict[str, Any] = {
            "pid": self.pid, "ppid": 1, "argv": ["train.py"], "role": "trainer", "rank": None,
            "state": "recorded", "reason": None, "lap_source": "optimizer steps",
            "affinity": list(range(self.cores)), "threads_intraop": self.cores, "env": {},
        }  # fmt: skip
        process.update(self.of_process)
        (own / "process.json").write_text(json.dumps(process))
        low, high = laps[0]["start"] - 100 * MS, laps[-1]["end"] + 100 * MS
        _lines(root / "host.jsonl", self._ticks(low, high))
        capture: dict[str, Any] = {
            "schema": "laptime.capture/1", "argv": ["train.py"], "host": "made",
            "started_mono_ns": low, "started_wall_ns": low + OFFSET_NS, "cores": self.cores,
            "cpus_allowed": self.cores, "cpu_quota": self.quota, "settings": {}, "exit_code": 0,
            "signal": None, "ended_mono_ns": high, "ended_wall_ns": high, "problems": [],
        }  # fmt: skip
        capture.update(self.said)
        (root / "capture.json").write_text(json.dumps(capture))
        return root

    def _laps(self) -> list[dict[str, Any]]:
        first = self.mono(self.trace.host_laps[0][1]) - 10 * MS
        at = first - sum(self.plain_ns)
        laps: list[dict[str, Any]] = []
        unit = None if self.items is None else "samples"
        for dur in self.plain_ns:
            laps.append({"n": len(laps), "start": at, "end": at + dur, "phase": "plain"})
            at += dur
        for _, start, end in self.trace.host_laps:
            lap = {"start": self.mono(start), "end": self.mono(end), "phase": "recorded"}
            laps.append({"n": len(laps), **lap})
        return [{**lap, "items": self.items, "unit": unit} for lap in laps]

    def _ticks(self, low: int, high: int) -> list[dict[str, Any]]:
        ticks = []
        for number, at in enumerate(range(low, high + self.tick_ns, self.tick_ns)):
            since = at - low
            tick: dict[str, Any] = {
                "t": at,
                "procs": [
                    _reading(p, since, number)
                    for p in self.processes
                    if p.alive is None or p.alive[0] <= at <= p.alive[1]
                ],
                "psi": None, "cgroup": None, "cpu": None,
            }  # fmt: skip
            for group, rates in self.host_rates.items():
                tick[group] = {n: round(r * since) for n, r in rates.items()}
            for group, levels in self.host_levels.items():
                tick[group] = {**(tick.get(group) or {}), **levels}
            ticks.append(tick)
        return ticks


def _reading(p: Sampled, since: int, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {"pid": p.pid, "ppid": p.ppid, "comm": p.comm}
    found["st"] = p.states[number % len(p.states)]
    for name in (*TOTALS, *BYTES):
        found[name] = None if name in p.absent else round(p.rates.get(name, 0.0) * since)
    found["threads"], found["rss"] = p.threads, p.rss
    found["cpus"] = None if p.cpus is None else list(p.cpus)
    return found


def _lines(path: Path, items: Sequence[Mapping[str, Any]]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
