"""A discrete-event simulation of a host that launches work onto the streams of one device.

Host time passes on one thread at a time (backward hands it to the autograd thread and back). Each
activity is placed when it is enqueued: it starts when its launch has reached the device, its stream
has finished what was enqueued before, and every event that its stream was told to wait for has
happened. All of these lie in the past of the enqueueing, so the placement is exact. Times are
integer ns.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.planted_gpu.spec import G2021, Spec

QUEUE = 1024
"""Launches that may be outstanding on a stream before the launch call blocks."""


@dataclass
class Row:
    """One span. ``lane`` is a thread id for host kinds, a stream for device kinds."""

    kind: str
    name: str
    lane: int
    start_ns: int
    dur_ns: int
    args: dict[str, Any] = field(default_factory=dict)
    correlation: int | None = None
    external: int | None = None

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns


DEVICE_KINDS = ("kernel", "copy", "set")


@dataclass(frozen=True)
class Kernel:
    """What is launched: ``us`` is its duration alone on the device."""

    name: str
    us: float
    grid: tuple[int, int, int] = (1024, 1, 1)
    block: tuple[int, int, int] = (256, 1, 1)
    registers: int = 32
    shared: int = 0
    args: tuple[tuple[str, Any], ...] = ()
    api: str = "launch"


@dataclass
class Stream:
    tail_ns: int = 0
    barrier_ns: int = 0
    ends: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Event:
    at_ns: int
    stream: int
    correlation: int
    number: int


class Simulator:
    """The host, the device, and the rows that the profiler would have written."""

    def __init__(self, spec: Spec, noise: str) -> None:
        self.spec = spec
        self.rows: list[Row] = []
        self.random = random.Random(f"{spec.seed} {noise}")
        self.now_ns = 1_000_000
        self.main = spec.pid
        self.tid = spec.pid
        self.streams: dict[int, Stream] = {}
        self.blocking = False
        self.capturing = False
        self.slow_host = 1.0
        self._correlation = self.random.randint(200, 90_000)
        self._external = 0
        self._open: list[int] = []
        self._python: dict[int, list[int]] = {}
        self._python_ids = 0
        self._events = 0
        self.api = _HIP if spec.amd else _CUDA

    # The host

    def think(self, us: float) -> None:
        """The host does something for about ``us`` microseconds."""
        noise = self.random.lognormvariate(0.0, self.spec.host_noise)
        if self.random.random() < 0.0015:
            noise += self.random.uniform(5, 20)
        self.now_ns += max(1, round(us * 1000 * noise * self.spec.host_cost * self.slow_host))

    def spend(self, ms: float) -> None:
        """Host time that no slowness of dispatch scales: a planted stall."""
        self.now_ns += round(ms * 1e6 * self.random.lognormvariate(0.0, self.spec.host_noise / 2))

    @contextmanager
    def op(
        self,
        name: str,
        dims: Sequence[object] = (),
        types: Sequence[str] = (),
        before: float = 3.0,
        after: float = 1.0,
        **args: Any,
    ) -> Iterator[None]:
        """A dispatcher operator around what happens inside."""
        self._external += 1
        external = self._external
        self._open.append(external)
        start = self.now_ns
        self.think(before)
        yield
        self.think(after)
        self._open.pop()
        if self.spec.shapes and dims:
            args = {**args, "Input Dims": list(dims), "Input type": list(types)}
        self._add("op", name, start, args, external=external)

    @contextmanager
    def mark(self, name: str, device: bool = False) -> Iterator[None]:
        """A ``record_function`` of the program or of torch's Python."""
        self._external += 1
        external = self._external
        first = len(self.rows)
        start = self.now_ns
        self.think(1.5)
        yield
        self.think(1.0)
        self._add("mark", name, start, {}, external=external)
        if device and self.spec.generation != G2021:
            inside = [r for r in self.rows[first:] if r.kind in DEVICE_KINDS]
            here = [r for r in inside if r.lane == self.spec.compute_stream]
            if here:
                begin, end = here[0].start_ns, max(r.end_ns for r in here)
                row = Row("gpu_mark", name, self.spec.compute_stream, begin, end - begin)
                row.external = external
                self.rows.append(row)

    @contextmanager
    def frame(self, name: str) -> Iterator[None]:
        """A Python frame; a row only where stacks are recorded."""
        if not self.spec.stacks:
            yield
            return
        self._python_ids += 1
        mine = self._python_ids
        stack = self._python.setdefault(self.tid, [])
        parent = stack[-1] if stack else None
        stack.append(mine)
        start = self.now_ns
        self.think(0.4)
        yield
        self.think(0.3)
        stack.pop()
        self._add("python", name, start, {"Python parent id": parent, "Python id": mine})

    @contextmanager
    def frames(self, *names: str) -> Iterator[None]:
        if not names:
            yield
            return
        with self.frame(names[0]), self.frames(*names[1:]):
            yield

    @contextmanager
    def thread(self, tid: int) -> Iterator[None]:
        """Host time passes on another thread, while this one waits for it."""
        mine, self.tid = self.tid, tid
        opened, self._open = self._open, []
        self.think(8)
        yield
        self.think(5)
        self.tid, self._open = mine, opened

    def call(self, name: str, us: float, **args: Any) -> int:
        """A runtime call that only takes host time; gives its correlation."""
        start = self.now_ns
        self.think(us)
        return self._call(name, start, args)

    def stall(self, name: str, ms: float, drain: bool = False) -> None:
        """A runtime call that takes ``ms``; ``drain``: and first waits for all device work."""
        start = self.now_ns
        if drain:
            self.now_ns = max(self.now_ns, self.device_tail_ns())
        self.spend(ms)
        self._call(name, start, {})

    # The device

    def stream(self, number: int) -> Stream:
        return self.streams.setdefault(number, Stream())

    def device_tail_ns(self) -> int:
        return max((s.tail_ns for s in self.streams.values()), default=0)

    def launch(self, kernel: Kernel, stream: int | None = None) -> None:
        """Launch one kernel."""
        where = self.spec.compute_stream if stream is None else stream
        line = self.stream(where)
        start = self.now_ns
        if len(line.ends) >= QUEUE:
            self.now_ns = max(self.now_ns, line.ends[-QUEUE])
        self.think(4.2)
        name = self.api[kernel.api]
        args: dict[str, Any] = {}
        if self.spec.amd:
            args = {"kernel": kernel.name, "grid": list(kernel.grid), "block": list(kernel.block)}
        if self.capturing:
            self._call(name, start, args)
            return
        release = self.now_ns + self._jitter(2.2)
        row = self._place("kernel", kernel.name, where, release, kernel.us, dict(kernel.args))
        row.args.update(
            grid=kernel.grid, block=kernel.block, registers=kernel.registers, shared=kernel.shared
        )
        if self.blocking:
            self.now_ns = max(self.now_ns, row.end_ns) + self._jitter(4.0)
        row.correlation = self._call(name, start, args)
        row.external = self._open[-1] if self._open else None

    def graph(self, kernels: Sequence[Kernel], gap_us: float, number: int) -> None:
        """Replay a captured graph: one call, its nodes one after the other."""
        where = self.spec.compute_stream
        line = self.stream(where)
        start = self.now_ns
        if len(line.ends) >= QUEUE:
            self.now_ns = max(self.now_ns, line.ends[-QUEUE])
        self.think(18 + 0.08 * len(kernels))
        release = self.now_ns + self._jitter(5.0)
        rows = []
        for node, kernel in enumerate(kernels):
            row = self._place(
                "kernel", kernel.name, where, release, kernel.us, dict(kernel.args), gap_us
            )
            row.args.update(
                grid=kernel.grid,
                block=kernel.block,
                registers=kernel.registers,
                shared=kernel.shared,
                graph=(number, node),
            )
            rows.append(row)
        correlation = self._call(self.api["graph"], start, {})
        for row in rows:
            row.correlation = correlation

    def fill(self, size: int, stream: int | None = None) -> None:
        """Set device memory."""
        where = self.spec.compute_stream if stream is None else stream
        start = self.now_ns
        self.think(3.5)
        if self.capturing:
            self._call(self.api["memset"], start, {})
            return
        us = 1.2 + size / self.spec.device.memory * 1e6
        release = self.now_ns + self._jitter(2.0)
        row = self._place("set", "Memset (Device)", where, release, us, {"bytes": size})
        row.correlation = self._call(self.api["memset"], start, {})
        row.external = self._open[-1] if self._open else None

    def copy(self, way: str, size: int, pinned: bool, stream: int | None = None) -> None:
        """A copy of ``way`` HtoD, DtoH or DtoD. Pageable ones hold the host (see formats)."""
        where = self.spec.compute_stream if stream is None else stream
        line = self.stream(where)
        start = self.now_ns
        self.think(4.5)
        rate = self.spec.device.memory / 2
        if way != "DtoD":
            rate = self.spec.device.pcie * (1.0 if pinned else 0.25)
        us = 1.1 + size / rate * 1e6
        release = self.now_ns + self._jitter(2.5)
        if way == "HtoD" and not pinned and size > 65536:
            self.now_ns = max(self.now_ns, line.tail_ns)
            release = self.now_ns + self._jitter(8)
        row = self._place("copy", _copy_name(self.spec, way, pinned), where, release, us)
        row.args.update(bytes=size, way=way)
        if not pinned and way == "DtoH":
            self.now_ns = max(self.now_ns, row.end_ns) + self._jitter(3)
        elif not pinned and way == "HtoD" and size > 65536:
            self.now_ns = max(self.now_ns, row.end_ns - 40_000)
        args: dict[str, Any] = {}
        if self.spec.amd:
            args = {"bytes": str(size), "kind": {"HtoD": "1", "DtoH": "2", "DtoD": "3"}[way]}
        blocking = self.spec.amd and way != "DtoD" and not pinned
        row.correlation = self._call(
            self.api["memcpy_stream" if blocking else "memcpy"], start, args
        )
        row.external = self._open[-1] if self._open else None

    def sync(self, stream: int | None = None, device: bool = False) -> None:
        """Block the host until a stream, or the device, has finished."""
        where = self.spec.compute_stream if stream is None else stream
        start = self.now_ns
        self.think(1.2)
        tail = self.device_tail_ns() if device else self.stream(where).tail_ns
        if tail > self.now_ns:
            self.now_ns = tail + self._jitter(4.0)
        name = self.api["device_sync" if device else "stream_sync"]
        correlation = self._call(name, start, {})
        if self.spec.sync_rows:
            kind = "Context Sync" if device else "Stream Sync"
            inner = self.now_ns - start
            row = Row("sync", kind, where, start + inner // 8, inner - inner // 4)
            row.correlation = correlation
            row.args = {"stream": -1 if device else where}
            self.rows.append(row)

    def record(self, stream: int) -> Event:
        """Record an event on a stream: it happens when what was enqueued so far has finished."""
        correlation = self.call(self.api["record"], 1.0)
        self._events += 1
        at = max(self.stream(stream).tail_ns, self.now_ns)
        return Event(at, stream, correlation, self._events)

    def wait(self, stream: int, event: Event) -> None:
        """What is enqueued on ``stream`` from now on waits for the event."""
        start = self.now_ns
        correlation = self.call(self.api["wait"], 1.0)
        line = self.stream(stream)
        line.barrier_ns = max(line.barrier_ns, event.at_ns)
        if self.spec.sync_rows:
            row = Row("sync", "Stream Wait Event", stream, start + 300, 0)
            row.correlation = correlation
            row.args = {
                "stream": stream,
                "wait_on_stream": event.stream,
                "wait_on_cuda_event_record_corr_id": event.correlation,
                "wait_on_cuda_event_id": event.number,
            }
            self.rows.append(row)

    def overhead(self, name: str, ms: float) -> None:
        """Time that the profiler itself takes."""
        start = self.now_ns
        self.spend(ms)
        self._add("overhead", name, start, {})

    # Rows

    def _place(
        self,
        kind: str,
        name: str,
        stream: int,
        release: int,
        us: float,
        args: dict[str, Any] | None = None,
        gap_us: float = 1.1,
    ) -> Row:
        line = self.stream(stream)
        gap = self._jitter(gap_us)
        start = max(release, line.tail_ns + gap, line.barrier_ns + gap)
        dur = us * 1000 * self.random.lognormvariate(0.0, self.spec.device_noise)
        row = Row(kind, name, stream, start, max(600, round(dur)), args or {})
        line.tail_ns = row.end_ns
        line.ends.append(row.end_ns)
        self.rows.append(row)
        return row

    def _jitter(self, us: float) -> int:
        return max(100, round(us * 1000 * self.random.uniform(0.85, 1.2)))

    def _call(self, name: str, start: int, args: dict[str, Any]) -> int:
        self._correlation += 1
        row = Row("call", name, self.tid, start, self.now_ns - start, args)
        row.correlation = self._correlation
        row.external = self._open[-1] if self._open else None
        self.rows.append(row)
        self.now_ns += 80
        return self._correlation

    def _add(
        self, kind: str, name: str, start: int, args: dict[str, Any], external: int | None = None
    ) -> None:
        row = Row(kind, name, self.tid, start, self.now_ns - start, args)
        row.external = external
        self.rows.append(row)
        self.now_ns += 40


_CUDA = {
    "launch": "cudaLaunchKernel",
    "launch_ex": "cudaLaunchKernelExC",
    "driver": "cuLaunchKernel",
    "graph": "cudaGraphLaunch",
    "memset": "cudaMemsetAsync",
    "memcpy": "cudaMemcpyAsync",
    "memcpy_stream": "cudaMemcpyAsync",
    "stream_sync": "cudaStreamSynchronize",
    "device_sync": "cudaDeviceSynchronize",
    "event_sync": "cudaEventSynchronize",
    "record": "cudaEventRecord",
    "wait": "cudaStreamWaitEvent",
    "malloc": "cudaMalloc",
    "free": "cudaFree",
    "host_alloc": "cudaHostAlloc",
    "begin_capture": "cudaStreamBeginCapture",
    "end_capture": "cudaStreamEndCapture",
    "instantiate": "cudaGraphInstantiate",
    "module": "cuModuleLoadData",
}
_HIP = {
    "launch": "hipLaunchKernel",
    "launch_ex": "hipExtModuleLaunchKernel",
    "driver": "hipModuleLaunchKernel",
    "graph": "hipGraphLaunch",
    "memset": "hipMemsetAsync",
    "memcpy": "hipMemcpyAsync",
    "memcpy_stream": "hipMemcpyWithStream",
    "stream_sync": "hipStreamSynchronize",
    "device_sync": "hipDeviceSynchronize",
    "event_sync": "hipEventSynchronize",
    "record": "hipEventRecord",
    "wait": "hipStreamWaitEvent",
    "malloc": "hipMalloc",
    "free": "hipFree",
    "host_alloc": "hipHostMalloc",
    "begin_capture": "hipStreamBeginCapture",
    "end_capture": "hipStreamEndCapture",
    "instantiate": "hipGraphInstantiate",
    "module": "hipModuleLoadData",
}


def _copy_name(spec: Spec, way: str, pinned: bool) -> str:
    if way == "DtoD":
        return "Memcpy DtoD (Device -> Device)"
    host = "Host" if spec.amd else ("Pinned" if pinned else "Pageable")
    ends = (host, "Device") if way == "HtoD" else ("Device", host)
    return f"Memcpy {way} ({ends[0]} -> {ends[1]})"
