"""A tree of processes read from /proc: states, CPU time, run-queue delay, faults, I/O.

Counters are those that the kernel keeps anyway (proc(5)): reading them changes nothing in the
process. Run and wait times come from ``task/*/schedstat``, summed over threads, those that have
ended among them; a thread that lives between two readings is missed there, and counted in
``utime``. ``vcs`` and ``ivcs`` are the main thread's.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from laptime.capture.kept import KeptFile

Reading = dict[str, Any]

THREADS_A_TICK = 64
"""Threads read at each tick; with more of them, each process is read at every second tick, every
third, and so on, so that the sampler's own cost stays bounded."""
STATUS_EVERY = 5
"""Ticks from one reading of ``status`` (context switches) and ``io`` to the next."""
SCAN_EVERY = 10
"""Ticks from one look at all processes of the host to the next: it finds what other threads than
the main one have started."""
LIST_THREADS_EVERY = 20
"""Readings after which a process's threads are listed again though their number is the same."""


class ProcessTree:
    """The process ``root`` and everything that descends from it, as long as it lives.

    A process whose parent had ended before it was first seen is not found. ``problems`` says once
    what could not be read.
    """

    def __init__(self, root: int, proc: str = "/proc") -> None:
        self.problems: list[str] = []
        self._proc = proc
        self._members: dict[int, _Process] = {root: _Process(root, proc)}
        self._others: set[int] = set()
        self._last_pid = KeptFile(f"{proc}/loadavg")
        self._last: bytes | None = None
        self._tick = 0

    @property
    def empty(self) -> bool:
        """Whether every process of the tree has ended."""
        return not self._members

    def read(self) -> list[Reading]:
        """Every process that lives now, by pid."""
        self._find()
        threads = sum(p.threads for p in self._members.values())
        every = max(1, -(-threads // THREADS_A_TICK))
        found = []
        for at, pid in enumerate(sorted(self._members)):
            process = self._members[pid]
            turn = self._tick + at
            reading = process.read(turn % every == 0, turn % STATUS_EVERY == 0)
            if reading is None:
                self._members.pop(pid).close()
                continue
            self._say(process)
            found.append(reading)
        self._tick += 1
        return found

    def close(self) -> None:
        """Give every descriptor back."""
        for process in self._members.values():
            process.close()
        self._last_pid.close()

    def _find(self) -> None:
        """Children that main threads started, at each tick; at some ticks, where the kernel has
        given out a pid since, every process whose parent is in the tree."""
        for process in list(self._members.values()):
            for pid in process.children():
                if pid not in self._members:
                    self._members[pid] = _Process(pid, self._proc)
        if self._tick % SCAN_EVERY:
            return
        text = self._last_pid.read()
        last = text.split()[-1] if text else None
        if last is not None and last == self._last:
            return
        self._last = last
        try:
            pids = {int(name) for name in os.listdir(self._proc) if name.isdigit()}
        except OSError:
            return
        self._others &= pids
        new = pids - self._others - self._members.keys()
        parents = {pid: _parent(self._proc, pid) for pid in new}
        grew = True
        while grew:  # a child may have a smaller pid than its parent
            joined = [p for p in sorted(parents) if parents[p] in self._members]
            grew = bool(joined)
            for pid in joined:
                self._members[pid] = _Process(pid, self._proc)
                del parents[pid]
        self._others |= parents.keys()

    def _say(self, process: _Process) -> None:
        for problem in process.problems:
            if problem not in self.problems:
                self.problems.append(problem)


def _parent(proc: str, pid: int) -> int:
    try:
        with open(f"{proc}/{pid}/stat", "rb", buffering=0) as file:
            text = file.read(1024)
        return int(text.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1


class _Process:
    """One process: its files, and what its ended threads had used."""

    def __init__(self, pid: int, proc: str) -> None:
        self.pid = pid
        self.threads = 1
        self.problems: set[str] = set()
        self._base = f"{proc}/{pid}"
        self._stat = KeptFile(f"{self._base}/stat")
        self._io = KeptFile(f"{self._base}/io")
        self._status = KeptFile(f"{self._base}/status")
        self._children = KeptFile(f"{self._base}/task/{pid}/children")
        self._tasks: dict[int, _Thread] = {}
        self._ended = [0, 0]
        self._readings = 0
        self._told = False

    def read(self, threads: bool, status: bool) -> Reading | None:
        """The process now; None where it has ended."""
        text = self._stat.read()
        if text is None:
            return None
        head, _, tail = text.rpartition(b")")
        part = tail.split()
        if len(part) < 22 or part[0] in (b"Z", b"X"):
            return None
        self.threads = int(part[17])
        run, wait = self._sched() if threads else (None, None)
        main = self._tasks.get(self.pid) if run is not None else None
        rchar, read_bytes, write_bytes = self._io_counts() if status else (None, None, None)
        vcs, ivcs = self._switches() if status else (None, None)
        reading: Reading = {
            "pid": self.pid,
            "ppid": int(part[1]),
            "st": part[0].decode("ascii", "replace"),
            "utime": int(part[11]) * _TICK_NS,
            "stime": int(part[12]) * _TICK_NS,
            "run_ns": run,
            "wait_ns": wait,
            "main_run_ns": None if main is None else main.run,
            "main_wait_ns": None if main is None else main.wait,
            "minflt": int(part[7]),
            "majflt": int(part[9]),
            "vcs": vcs,
            "ivcs": ivcs,
            "rchar": rchar,
            "read_bytes": read_bytes,
            "write_bytes": write_bytes,
            "threads": self.threads,
            "rss": int(part[21]) * _PAGE,
        }
        if not self._told:
            self._told = True
            reading["comm"] = head.partition(b"(")[2].decode("utf-8", "replace")
            reading["cpus"] = _cpus(self.pid)
        return reading

    def close(self) -> None:
        own = (self._stat, self._io, self._status, self._children)
        for file in (*own, *(t.file for t in self._tasks.values())):
            file.close()

    def children(self) -> list[int]:
        """Pids that the main thread has started and that live; empty where the kernel keeps no
        such list (CONFIG_PROC_CHILDREN)."""
        text = self._children.read()
        return [int(pid) for pid in text.split()] if text else []

    def _sched(self) -> tuple[int | None, int | None]:
        """Time on a CPU and time runnable without one, all threads."""
        if len(self._tasks) != self.threads or self._readings % LIST_THREADS_EVERY == 0:
            self._list()
        self._readings += 1
        run, wait = self._ended
        known = False
        for tid in list(self._tasks):
            thread = self._tasks[tid]
            if thread.read():
                known = True
                run += thread.run
                wait += thread.wait
            else:
                self._end(tid)
                run += thread.run
                wait += thread.wait
        if not known:
            self.problems.add(
                "run-queue delay is not known: the kernel keeps no schedstat (CONFIG_SCHED_INFO)"
            )
            return None, None
        return run, wait

    def _list(self) -> None:
        try:
            now = {int(name) for name in os.listdir(f"{self._base}/task")}
        except OSError:
            return
        for tid in self._tasks.keys() - now:
            self._end(tid)
        for tid in now - self._tasks.keys():
            self._tasks[tid] = _Thread(f"{self._base}/task/{tid}/schedstat")

    def _end(self, tid: int) -> None:
        thread = self._tasks.pop(tid)
        thread.file.close()
        self._ended[0] += thread.run
        self._ended[1] += thread.wait

    def _io_counts(self) -> tuple[int | None, int | None, int | None]:
        text = self._io.read()
        if not text:
            self.problems.add("bytes read and written are not known: /proc/PID/io is not readable")
            return None, None, None
        part = text.split()  # name, value, name, value, ... in an order that is fixed (proc(5))
        if len(part) < 12 or part[8] != b"read_bytes:" or part[10] != b"write_bytes:":
            return None, None, None
        return int(part[1]), int(part[9]), int(part[11])

    def _switches(self) -> tuple[int | None, int | None]:
        text = self._status.read() or b""
        _, _, tail = text.partition(b"\nvoluntary_ctxt_switches:")
        part = tail.split()
        if len(part) < 3:
            return None, None
        return _int(part[0]), _int(part[2])


class _Thread:
    """A thread's ``schedstat``: what it said last."""

    __slots__ = ("file", "run", "wait")

    def __init__(self, path: str) -> None:
        self.file = KeptFile(path, 128)
        self.run = self.wait = 0

    def read(self) -> bool:
        text = self.file.read()
        part = text.split() if text else ()
        if len(part) < 2:
            return False
        self.run, self.wait = int(part[0]), int(part[1])
        return True


def _int(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.strip().isdigit() else None


def _cpus(pid: int) -> list[int] | None:
    if sys.platform != "linux":
        return None
    try:
        return sorted(os.sched_getaffinity(pid))
    except OSError:
        return None


_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 10_000_000
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
