"""The folder of one process: ``process.json``, ``laps.jsonl``, ``events.jsonl``, the trace.

JSON is written by a few lines of our own: importing ``json`` would decide for a program that has a
module of that name beside its script.
"""

from __future__ import annotations

import os
import sys
import time
from _json import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def as_json(value: Any) -> str:
    """The JSON text of plain values; anything else becomes the text of its ``repr``."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return "%d" % value
    if isinstance(value, float):
        return repr(value) if value == value and abs(value) != float("inf") else "null"
    if isinstance(value, dict):
        pairs = (encode_basestring_ascii(str(k)) + ":" + as_json(v) for k, v in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(as_json(v) for v in value) + "]"
    return encode_basestring_ascii(value if isinstance(value, str) else repr(value))


class Folder:
    """Files of this process. A forked child makes its folder when it first has something to say."""

    def __init__(self, root: str, made_by_fork: bool = False) -> None:
        self.pid = os.getpid()
        self.path = os.path.join(root, "p%d" % self.pid)
        self._files: dict[str, int] = {}
        self._made = False
        self.process: dict[str, Any] = {
            "pid": self.pid,
            "ppid": os.getppid(),
            "argv": list(getattr(sys, "orig_argv", None) or getattr(sys, "argv", None) or []),
            "exe": sys.executable,
            "python": "%d.%d.%d" % sys.version_info[:3],
            "torch": None,
            "role": "other",
            "rank": None,
            "local_rank": None,
            "world_size": None,
            "host": os.uname().nodename,
            "state": "waiting",
            "reason": None,
            "lap_source": None,
            "window": None,
            "affinity": _affinity(),
            "threads_intraop": None,
            "env": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_TELLING)},
            "forked": made_by_fork,
            "started_mono_ns": time.monotonic_ns(),
        }

    def write(self, **changes: Any) -> None:
        """Rewrite ``process.json`` whole, so that a reader never sees half of one."""
        self.process.update(changes)
        self._make()
        path = os.path.join(self.path, "process.json")
        with open(path + ".new", "wb") as file:
            file.write(as_json(self.process).encode())
        os.replace(path + ".new", path)

    def line(self, name: str, value: dict[str, Any]) -> None:
        """Append one object to a ``.jsonl`` file, in one write."""
        self.text(name, as_json(value) + "\n")

    def text(self, name: str, line: str) -> None:
        """Append a line that is JSON already."""
        file = self._files.get(name)
        if file is None:
            self._make()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
            file = self._files[name] = os.open(os.path.join(self.path, name), flags, 0o644)
        os.write(file, line.encode())

    def empty(self, name: str) -> None:
        """Begin a ``.jsonl`` file anew: what it held turned out to be no laps."""
        if name in self._files:
            os.ftruncate(self._files[name], 0)

    def event(self, kind: str, **values: Any) -> None:
        """Append to ``events.jsonl``, with the time."""
        self.line("events.jsonl", dict({"k": kind, "t": time.monotonic_ns()}, **values))

    def give_up(self, reason: str) -> None:
        """Say why nothing is recorded here, if anything can still be written. Never raises."""
        if self.process["state"] not in ("recorded", "given_up"):
            try:
                self.write(state="given_up", reason=reason)
            except OSError:  # the folder is gone, or the disk is full
                return

    def finish(self) -> None:
        """The process ends by its own will."""
        if self._made:
            self.write(ended_mono_ns=time.monotonic_ns())

    def close(self) -> None:
        """Drop the files: in a forked child they are the parent's."""
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def _make(self) -> None:
        if not self._made:
            os.makedirs(self.path, exist_ok=True)
            self._made = True


_TELLING = ("OMP_", "MKL_", "KMP_", "NCCL_", "CUDA_", "TORCH_", "PYTORCH_", "OPENBLAS_NUM")


def _affinity() -> Any:
    try:
        return sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None
