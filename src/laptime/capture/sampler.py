"""Host counters of a program and its host, sampled from outside it into ``host.jsonl``.

A thread of the launcher reads /proc, /sys and the control group at a fixed rate; nothing runs in
the user's processes. One line a tick, flushed, so that a killed launcher leaves whole lines:

``{"t": monotonic ns, "procs": [...], "psi": ..., "cgroup": ..., "cpu": ..., "mem": ...}``

Counters are totals since the process's (or the host's) start. What is not kept by this host, or was
not read at this tick, is null, never 0. The last line is ``{"sampler": {...}, "problems": [...]}``.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from laptime.capture.cgroup import Cgroup
from laptime.capture.hostfiles import Cpus, Memory, Pressure
from laptime.capture.processes import ProcessTree

HOST_FILE = "host.jsonl"
_COMPACT = json.JSONEncoder(separators=(",", ":"))
HOST_EVERY = 2
"""Ticks from one reading of the host's totals and the control group's to the next."""
MEMORY_EVERY = 10
"""Ticks from one reading of the host's memory to the next."""


@dataclass(frozen=True)
class SamplerReport:
    """What the sampler did: ticks written and missed, and the CPU time of its thread."""

    hz: float
    ticks: int
    missed: int
    cpu_ns: int
    wall_ns: int
    problems: Sequence[str]

    @property
    def core_share(self) -> float | None:
        """Share of one core that sampling took; None where it did not run."""
        return self.cpu_ns / self.wall_ns if self.wall_ns else None


class Sampler:
    """Samples the process ``root_pid`` and its descendants into ``folder`` until stopped.

    Never raises: what goes wrong is in the report's ``problems``. Runs on Linux only; elsewhere it
    writes nothing and says so. ``proc`` and ``cgroups`` name the kernel's folders (tests).
    """

    def __init__(
        self,
        root_pid: int,
        folder: str | os.PathLike[str],
        hz: float = 20.0,
        *,
        proc: str = "/proc",
        cgroups: str = "/sys/fs/cgroup",
    ) -> None:
        self._root, self._path, self._hz = root_pid, Path(folder) / HOST_FILE, hz
        self._proc, self._cgroups = proc, cgroups
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._problems: list[str] = []
        self._ticks = self._missed = self._cpu_ns = self._wall_ns = 0

    def start(self) -> Sampler:
        """Begin; returns at once."""
        if not sys.platform.startswith("linux"):
            self._problems.append(f"host counters: read on Linux only (this is {sys.platform})")
            return self
        self._thread = threading.Thread(target=self._run, name="laptime-sampler", daemon=True)
        self._thread.start()
        return self

    def stop(self) -> SamplerReport:
        """Take a last sample, end, and say what was done. May be called more than once."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        return self._report()

    def _report(self) -> SamplerReport:
        return SamplerReport(
            self._hz,
            self._ticks,
            self._missed,
            self._cpu_ns,
            self._wall_ns,
            tuple(self._problems),
        )

    def _run(self) -> None:
        began = time.monotonic_ns()
        try:
            with open(self._path, "w", encoding="utf-8") as file:
                self._loop(file)
                self._cpu_ns, self._wall_ns = time.thread_time_ns(), time.monotonic_ns() - began
                said = asdict(self._report())
                problems = said.pop("problems")
                _line(file, {"sampler": said, "problems": list(problems)})
        except Exception as error:  # the user's program must not notice
            self._problems.append(f"host counters ended early: {type(error).__name__}: {error}")
            self._cpu_ns, self._wall_ns = time.thread_time_ns(), time.monotonic_ns() - began

    def _loop(self, file: IO[str]) -> None:
        tree = ProcessTree(self._root, self._proc)
        pressure, cpus, memory = Pressure(self._proc), Cpus(self._proc), Memory(self._proc)
        group = Cgroup(self._root, self._proc, self._cgroups)
        self._note_absent(pressure, cpus, group)
        period = round(1e9 / self._hz)
        due = time.monotonic_ns()
        try:
            last = False
            while True:
                now = time.monotonic_ns()
                line: dict[str, object] = {"t": now, "procs": tree.read()}
                host = last or self._ticks % HOST_EVERY == 0
                line["psi"] = pressure.read() if host else None
                line["cgroup"] = group.read() if host else None
                line["cpu"] = cpus.read() if host else None
                if self._ticks % MEMORY_EVERY == 0:
                    line["mem"] = memory.read()
                _line(file, line)
                self._ticks += 1
                if last or tree.empty:
                    break
                due += period
                late = time.monotonic_ns() - due
                if late > 0:
                    skipped = -(-late // period)
                    self._missed += skipped
                    due += skipped * period
                last = self._stop.wait(max(0, due - time.monotonic_ns()) / 1e9)
        finally:
            self._problems += [p for p in tree.problems if p not in self._problems]
            for one in (tree, pressure, cpus, memory, group):
                one.close()

    def _note_absent(self, pressure: Pressure, cpus: Cpus, group: Cgroup) -> None:
        if pressure.read() is None:
            self._problems.append("pressure is not known: this kernel keeps no /proc/pressure")
        if cpus.read() is None:
            self._problems.append("the host's CPU time is not known: /proc/stat is not readable")
        if group.problem is not None:
            self._problems.append(group.problem)


def _line(file: IO[str], item: dict[str, object]) -> None:
    file.write(_COMPACT.encode(item) + "\n")
    file.flush()
