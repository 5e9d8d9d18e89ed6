"""Pauses of Python's garbage collector, from its own callbacks."""

import gc
import time
from _thread import get_native_id
from typing import Any, Dict, List

from .folder import Folder

LEAST_NS = 20_000
"""Shorter pauses are counted together, lap by lap: writing each would cost more than they do."""


class Collector:
    """Writes pauses to ``events.jsonl`` at the end of each lap, while it is on."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._on = False
        self._start = 0
        self._small_n = self._small_ns = 0
        self._pauses: List[Dict[str, Any]] = []

    def start(self) -> None:
        """Listen from now on."""
        if not self._on:
            self._on = True
            self._folder.event("gc_on")
            gc.callbacks.append(self._heard)

    def stop(self) -> None:
        """Listen no more."""
        if self._on:
            self._on = False
            if self._heard in gc.callbacks:
                gc.callbacks.remove(self._heard)

    def flush(self) -> None:
        """Write what was heard since the last call."""
        if not self._pauses and not self._small_n:
            return
        pauses, self._pauses = self._pauses, []
        for pause in pauses:
            self._folder.line("events.jsonl", pause)
        if self._small_n:
            small = {"k": "gc_small", "t": time.monotonic_ns(), "n": self._small_n}
            self._folder.line("events.jsonl", dict(small, ns=self._small_ns))
            self._small_n = self._small_ns = 0

    def _heard(self, phase: str, info: Dict[str, Any]) -> None:
        now = time.monotonic_ns()
        if phase == "start":
            self._start = now
        elif self._start:
            if now - self._start < LEAST_NS:
                self._small_n += 1
                self._small_ns += now - self._start
            else:
                pause = {"k": "gc", "start": self._start, "end": now}
                pause["gen"], pause["collected"] = info.get("generation"), info.get("collected")
                pause["tid"] = get_native_id()
                self._pauses.append(pause)
            self._start = 0
