"""``host.jsonl`` of a capture: what the sampler read, as columns."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from laptime.evidence.capture_lines import numbers, objects_of, text, whole
from laptime.model.counters import HostCounters, ProcessCounters, Series
from laptime.model.health import Health, Loss
from laptime.model.rows import I64

HOST_FILE = "host.jsonl"
COUNTERS = (
    "utime", "stime", "run_ns", "wait_ns", "main_run_ns", "main_wait_ns", "minflt", "majflt",
    "vcs", "ivcs", "rchar", "read_bytes", "write_bytes", "threads", "rss",
)  # fmt: skip
GROUPS = ("psi", "cgroup", "cpu", "mem")


@dataclass
class _Column:
    """Readings of one counter as they come."""

    at: array[int] = field(default_factory=lambda: array("q"))
    value: array[int] = field(default_factory=lambda: array("q"))

    def add(self, at: int, value: Any) -> None:
        number = whole(value)
        if number is not None and number >= 0:
            self.at.append(at)
            self.value.append(number)

    def series(self) -> Series:
        return Series(_ints(self.at), _ints(self.value))


@dataclass
class _Process:
    ppid: int | None
    comm: str | None = None
    cpus: tuple[int, ...] | None = None
    at: array[int] = field(default_factory=lambda: array("q"))
    state: bytearray = field(default_factory=bytearray)
    columns: dict[str, _Column] = field(default_factory=dict)


def read_host(folder: Path, health: Health, problems: list[str]) -> HostCounters | None:
    """The counters of a capture's ``host.jsonl``; None where it holds no tick.

    Ticks that do not follow the one before (a clock that went back) are lost. What the sampler
    said it could not read is added to ``problems``.
    """
    ticks = array("q")
    processes: dict[int, _Process] = {}
    host: dict[str, _Column] = {}
    core_share: float | None = None
    back = 0
    for item in objects_of(folder / HOST_FILE, health):
        if "sampler" in item:
            core_share = _core_share(item["sampler"])
            said = item.get("problems")
            problems += [p for p in said if isinstance(p, str)] if isinstance(said, list) else []
            continue
        at = whole(item.get("t"))
        if at is None or (len(ticks) and at <= ticks[-1]):
            back += 1
            continue
        ticks.append(at)
        procs = item.get("procs")
        for one in procs if isinstance(procs, list) else ():
            if isinstance(one, dict):
                _add(processes, at, one)
        for group in GROUPS:
            values = item.get(group)
            if isinstance(values, dict):
                for name, value in values.items():
                    host.setdefault(f"{group}.{name}", _Column()).add(at, value)
    health.items += len(ticks)
    if back:
        health.losses.append(
            Loss("line without a time after the one before", back, str(folder / HOST_FILE))
        )
    if not len(ticks):
        return None
    return HostCounters(
        at_ns=_ints(ticks),
        processes={pid: _process(pid, p) for pid, p in sorted(processes.items())},
        host={name: c.series() for name, c in sorted(host.items()) if len(c.at)},
        core_share=core_share,
    )


def _add(processes: dict[int, _Process], at: int, one: dict[str, Any]) -> None:
    pid, state = whole(one.get("pid")), text(one.get("st"))
    if pid is None:
        return
    process = processes.get(pid)
    if process is None:
        process = processes[pid] = _Process(whole(one.get("ppid")))
    if len(process.at) and process.at[-1] == at:
        return
    process.comm = process.comm or text(one.get("comm"))
    process.cpus = process.cpus or numbers(one.get("cpus"))
    process.at.append(at)
    process.state.append(ord(state[0]) if state and ord(state[0]) < 128 else ord("?"))
    for name in COUNTERS:
        process.columns.setdefault(name, _Column()).add(at, one.get(name))


def _process(pid: int, p: _Process) -> ProcessCounters:
    return ProcessCounters(
        pid=pid,
        ppid=p.ppid,
        comm=p.comm,
        cpus=p.cpus,
        at_ns=_ints(p.at),
        state=np.frombuffer(bytes(p.state), dtype=np.uint8),
        series={name: c.series() for name, c in p.columns.items() if len(c.at)},
    )


def _ints(values: array[int]) -> I64:
    return np.array(values, dtype=np.int64)


def _core_share(said: Any) -> float | None:
    if not isinstance(said, dict):
        return None
    cpu, wall = whole(said.get("cpu_ns")), whole(said.get("wall_ns"))
    return cpu / wall if cpu is not None and wall else None
