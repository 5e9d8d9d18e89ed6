"""One run of a command as a process: CPU and wall seconds, peak memory, what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

MAXRSS_BYTES = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Ran:
    """A finished process. CPU is user and system time of it and of the children it waited for;
    ``peak_bytes`` is its largest resident set (of the largest single process)."""

    cpu_s: float
    wall_s: float
    peak_bytes: int
    status: int
    out: str
    err: str


def ran(command: Sequence[str], keep_out: bool = True) -> Ran:
    """Run a command to its end. Its output goes to a file, or nowhere."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out if keep_out else subprocess.DEVNULL,
            stderr=err,
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Ran(
            cpu_s=used.ru_utime + used.ru_stime,
            wall_s=wall,
            peak_bytes=used.ru_maxrss * MAXRSS_BYTES,
            status=process.returncode,
            out=out.read().decode("utf-8", "replace"),
            err=err.read().decode("utf-8", "replace"),
        )
