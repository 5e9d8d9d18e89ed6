"""A small deterministic simulation of host threads, streams and launches, in whole nanoseconds.

The author of a trace moves each host thread forward by hand; streams run what was launched on them
in order. Nothing is random and nothing is measured: every start and end follows from the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.builder.host import HostThread
from tests.builder.rows import DEVICE_KINDS, Row
from tests.builder.variant import Variant

START_NS = 1_750_000_000_000_000_000
"""Where built traces begin: an epoch time of June 2025, a whole number of microseconds."""


@dataclass
class Stream:
    """A device queue: ``tail_ns`` is when the work enqueued so far ends."""

    device: int
    id: int
    tail_ns: int


@dataclass(frozen=True)
class Window:
    """A lap's window on one device: from its first own work to the next lap's first own work."""

    device: int
    lap: int
    start_ns: int
    end_ns: int
    open: bool

    @property
    def dur_ns(self) -> int:
        """Length of the window."""
        return self.end_ns - self.start_ns


class TraceBuilder:
    """Rows of one trace file, and the clock of the simulation that makes them."""

    def __init__(self, variant: Variant | None = None, start_ns: int = START_NS) -> None:
        self.variant = variant or Variant()
        self.start_ns = start_ns
        self.rows: list[Row] = []
        self.threads: list[HostThread] = []
        self.host_laps: list[tuple[int, int, int]] = []
        """(number, start_ns, end_ns) of each lap's host window."""
        self.lap: int | None = None
        self._streams: dict[tuple[int, int], Stream] = {}
        self._correlation = 1000
        self._external = 0
        self._python = 0

    def thread(self, pid: int = 100, tid: int = 100, name: str = "python") -> HostThread:
        """A new host thread, at the trace's start."""
        made = HostThread(self, pid, tid, name, self.start_ns)
        self.threads.append(made)
        return made

    def stream(self, stream: int = 7, device: int = 0) -> Stream:
        """The named stream, made at first use."""
        return self._streams.setdefault((device, stream), Stream(device, stream, self.start_ns))

    def activity(
        self,
        kind: str,
        name: str,
        ready_ns: int,
        dur_ns: int,
        stream: Stream,
        gap_ns: int,
        **fields: object,
    ) -> Row:
        """Run work on a stream: when it is ready, and the stream's earlier work ended a gap ago."""
        start = max(ready_ns, stream.tail_ns + gap_ns)
        row = Row(kind, name, stream.device, stream.id, start, dur_ns, lap=self.lap)
        row.device, row.stream = stream.device, stream.id
        for key, value in fields.items():
            setattr(row, key, value)
        stream.tail_ns = row.end_ns
        self.rows.append(row)
        return row

    def device_row(
        self,
        name: str,
        start_ns: int,
        dur_ns: int,
        stream: int = 7,
        device: int = 0,
        kind: str = "kernel",
    ) -> Row:
        """Device work without a launch call, at ``start_ns`` after the trace's start."""
        queue = self.stream(stream, device)
        row = Row(kind, name, device, stream, self.start_ns + start_ns, dur_ns, lap=self.lap)
        row.device, row.stream, row.correlation = device, stream, self.next_correlation()
        queue.tail_ns = max(queue.tail_ns, row.end_ns)
        self.rows.append(row)
        return row

    def overhead(self, name: str, start_ns: int, dur_ns: int) -> Row:
        """A row of the profiler's own overhead, ``start_ns`` after the trace's start."""
        row = Row("overhead", name, -1, 0, self.start_ns + start_ns, dur_ns)
        self.rows.append(row)
        return row

    @contextmanager
    def lap_window(self, number: int, thread: HostThread) -> Iterator[None]:
        """Count what ``thread`` does inside as one lap. ``HostThread.step`` adds the mark."""
        start, before = thread.now_ns, self.lap
        self.lap = number
        try:
            yield
        finally:
            self.host_laps.append((number, start, thread.now_ns))
            self.lap = before

    def windows(self, device: int = 0) -> list[Window]:
        """The laps' windows on a device, by the definition of a device window; ascending."""
        own: dict[int, list[Row]] = {}
        for row in self.rows:
            if row.kind in DEVICE_KINDS and row.device == device and row.lap is not None:
                own.setdefault(row.lap, []).append(row)
        firsts = [(lap, min(r.start_ns for r in own[lap])) for lap in sorted(own)]
        made = []
        for at, (lap, start) in enumerate(firsts):
            last = at + 1 == len(firsts)
            end = max(r.end_ns for r in own[lap]) if last else firsts[at + 1][1]
            made.append(Window(device, lap, start, end, last))
        return made

    def next_correlation(self) -> int:
        """A correlation id that no row has yet."""
        self._correlation += 1
        return self._correlation

    def next_external(self) -> int:
        """An External id that no row has yet."""
        self._external += 1
        return self._external

    def next_python(self) -> int:
        """A Python id that no row has yet."""
        self._python += 1
        return self._python

    def text(self) -> str:
        """The trace as its year and vendor write it."""
        from tests.builder.kineto import kineto_text

        return kineto_text(self)

    def write(
        self, path: Path | str, *, gzip: bool = False, members: int = 1, zstd: bool = False
    ) -> Path:
        """Write the trace. ``gzip`` splits the text over ``members`` gzip members."""
        from tests.builder.files import write_text

        return write_text(path, self.text(), gzip=gzip, members=members, zstd=zstd)
