"""A host thread of a built trace: a cursor in time that operators, calls and waits push forward."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.builder.rows import Row

if TYPE_CHECKING:
    from tests.builder.trace import TraceBuilder

LOADER = "enumerate(DataLoader)#{}.__next__"
US = 1_000
MS = 1_000_000


class HostThread:
    """One host thread. Every method moves ``now_ns`` by what it says and records its rows there."""

    def __init__(self, trace: TraceBuilder, pid: int, tid: int, name: str, now_ns: int) -> None:
        self.trace = trace
        self.pid = pid
        self.tid = tid
        self.name = name
        self.now_ns = now_ns
        self._ops: list[Row] = []
        self._frames: list[Row] = []

    # -- host states ---------------------------------------------------------------------------

    def idle(self, dur_ns: int) -> None:
        """Time that no row covers."""
        self.now_ns += dur_ns

    def until(self, at_ns: int) -> None:
        """Time that no row covers, up to an absolute time; nothing if it has passed."""
        self.now_ns = max(self.now_ns, at_ns)

    def op(self, name: str, dur_ns: int, shapes: Sequence[Sequence[int]] = ()) -> Row:
        """An operator without calls inside."""
        with self.within(name, shapes) as row:
            self.now_ns += dur_ns
        return row

    @contextmanager
    def within(self, name: str, shapes: Sequence[Sequence[int]] = ()) -> Iterator[Row]:
        """An operator around what happens inside the block."""
        row = self._open("cpu_op", name, external_id=self.trace.next_external())
        if self.trace.variant.shapes:
            dims = [list(s) for s in shapes] or [[64, 1024], [1024, 1024], []]
            row.args["Input Dims"] = dims
            row.args["Input type"] = ["float"] * len(dims)
        self._ops.append(row)
        yield row
        self._ops.pop()
        row.dur_ns = self.now_ns - row.start_ns

    @contextmanager
    def region(self, name: str) -> Iterator[Row]:
        """A user annotation around what happens inside the block."""
        row = self._open("user_annotation", name, external_id=self.trace.next_external())
        self._ops.append(row)
        yield row
        self._ops.pop()
        row.dur_ns = self.now_ns - row.start_ns

    @contextmanager
    def frame(self, name: str, module: int | None = None) -> Iterator[Row | None]:
        """A Python function around the block; recorded only where the variant has stacks."""
        if not self.trace.variant.stacks:
            yield None
            return
        row = self._open("python_function", name, python_id=self.trace.next_python())
        row.python_parent = self._frames[-1].python_id if self._frames else None
        if module is not None:
            row.args["Python module id"] = module
        self._frames.append(row)
        yield row
        self._frames.pop()
        row.dur_ns = self.now_ns - row.start_ns

    @contextmanager
    def step(self, number: int) -> Iterator[None]:
        """One training step: the profiler's mark (if the variant has marks) around a lap."""
        with self.trace.lap_window(number, self):
            if self.trace.variant.step_marks:
                with self.region(f"ProfilerStep#{number}"):
                    yield
            else:
                yield

    def loader_next(self, dur_ns: int, workers: int = 0) -> None:
        """The loader's next: in this process with no workers, else waiting for one."""
        kind = "_MultiProcessingDataLoaderIter" if workers else "_SingleProcessDataLoaderIter"
        with self.region(LOADER.format(kind)):
            self.now_ns += dur_ns

    def gc(self, dur_ns: int) -> None:
        """A garbage collection, as the profiler records it."""
        row = self._open("python_function", "Python GC", python_id=self.trace.next_python())
        self.now_ns += dur_ns
        row.dur_ns = dur_ns

    def alloc(self, dur_ns: int, call: str = "cudaMalloc") -> None:
        """A device or pinned memory allocation (or release) call."""
        self._call(call, dur_ns)

    def memory(self, size_bytes: int, device: int = 0) -> None:
        """An instant of the allocator's record."""
        row = self._open("memory", "[memory]")
        row.dur_ns = None
        row.args = {"Device Type": 1, "Device Id": device, "Addr": 140255988547584}
        row.args |= {"Bytes": size_bytes, "Total Allocated": 1 << 30, "Total Reserved": 1 << 31}

    # -- calls ---------------------------------------------------------------------------------

    def launch(
        self,
        kernel: str,
        dur_ns: int,
        *,
        stream: int = 7,
        device: int = 0,
        call_ns: int = 6 * US,
        latency_ns: int = 4 * US,
        gap_ns: int = 0,
        call: str = "cudaLaunchKernel",
        args: dict[str, Any] | None = None,
    ) -> Row:
        """Launch a kernel: it starts ``latency_ns`` after the call ends, or ``gap_ns`` after its
        stream's earlier work, whichever is later."""
        made = self._call(call, call_ns, linked=True)
        row = self.trace.activity(
            "kernel",
            kernel,
            self.now_ns + latency_ns,
            dur_ns,
            self.trace.stream(stream, device),
            gap_ns,
            correlation=made.correlation,
            external_id=made.external_id,
        )
        row.args = {"grid": [608, 1, 1], "block": [256, 1, 1]} | (args or {})
        return row

    def kernel_op(self, op: str, kernel: str, dur_ns: int, *, before_ns: int, **how: Any) -> Row:
        """An operator that spends ``before_ns`` and then launches one kernel."""
        after_ns = int(how.pop("after_ns", 0))
        with self.within(op):
            self.now_ns += before_ns
            row = self.launch(kernel, dur_ns, **how)
            self.now_ns += after_ns
        return row

    def graph(
        self,
        kernels: Sequence[tuple[str, int]],
        *,
        stream: int = 7,
        device: int = 0,
        call_ns: int = 20 * US,
        latency_ns: int = 4 * US,
        gap_ns: int = 0,
        graph_id: int = 3,
    ) -> list[Row]:
        """Replay a captured graph: one call, many kernels of the same correlation."""
        made = self._call("cudaGraphLaunch", call_ns, linked=True)
        queue = self.trace.stream(stream, device)
        rows: list[Row] = []
        for node, (name, dur_ns) in enumerate(kernels):
            ready = self.now_ns + latency_ns if node == 0 else self.now_ns
            row = self.trace.activity("kernel", name, ready, dur_ns, queue, gap_ns if rows else 0)
            row.correlation, row.external_id = made.correlation, made.external_id
            row.args = {"grid": [132, 1, 1], "block": [128, 1, 1]}
            row.args |= {"graph id": graph_id, "graph node id": 10 + node}
            rows.append(row)
        return rows

    def copy(
        self,
        way: str,
        size_bytes: int,
        dur_ns: int,
        *,
        pageable: bool = False,
        stream: int = 7,
        device: int = 0,
        call_ns: int = 8 * US,
        latency_ns: int = 4 * US,
        tail_ns: int = 0,
        gap_ns: int = 0,
    ) -> Row:
        """Copy memory; ``way`` is HtoD, DtoH or DtoD.

        A pinned copy's call returns after ``call_ns``. A pageable one holds the call until the
        copy is done (it waits for the stream's earlier work, then is staged), and ``tail_ns`` more.
        """
        ends = {"H": "Pageable" if pageable else "Pinned", "D": "Device"}
        name = f"Memcpy {way} ({ends[way[0]]} -> {ends[way[3]]})"
        queue = self.trace.stream(stream, device)
        made = self._call("cudaMemcpyAsync", 0 if pageable else call_ns, linked=True)
        row = self.trace.activity(
            "memcpy", name, self.now_ns + latency_ns, dur_ns, queue, gap_ns,
            correlation=made.correlation, external_id=made.external_id,
        )  # fmt: skip
        row.args = {"bytes": size_bytes, "memory bandwidth (GB/s)": size_bytes / dur_ns}
        if pageable:
            self.now_ns = row.end_ns + tail_ns
            made.dur_ns = self.now_ns - made.start_ns
        return row

    def memset(self, size_bytes: int, dur_ns: int, *, stream: int = 7, device: int = 0) -> Row:
        """Set device memory."""
        made = self._call("cudaMemsetAsync", 5 * US, linked=True)
        row = self.trace.activity(
            "memset", "Memset (Device)", self.now_ns + 4 * US, dur_ns,
            self.trace.stream(stream, device), 0,
            correlation=made.correlation, external_id=made.external_id,
        )  # fmt: skip
        row.args = {"bytes": size_bytes}
        return row

    def sync(
        self,
        call: str = "cudaStreamSynchronize",
        *,
        stream: int = 7,
        device: int = 0,
        until: Row | None = None,
        least_ns: int = 3 * US,
        tail_ns: int = 0,
    ) -> Row:
        """A blocking call: until the stream's work (or the row ``until``) ends, and ``tail_ns``."""
        target = until.end_ns if until else self.trace.stream(stream, device).tail_ns
        made = self._call(call, 0)
        end = max(made.start_ns + least_ns, target + tail_ns)
        made.dur_ns = end - made.start_ns
        self.now_ns = end
        if self.trace.variant.sync_rows:
            kinds = {"cudaEventSynchronize": "Event Sync", "cudaDeviceSynchronize": "Context Sync"}
            self._sync_row(kinds.get(call, "Stream Sync"), made, stream, device)
        return made

    def wait_event(self, stream: int, on: Row, *, call_ns: int = 2 * US, device: int = 0) -> None:
        """Make a stream wait for earlier work of another (the device waits, the host does not)."""
        made = self._call("cudaStreamWaitEvent", call_ns)
        queue = self.trace.stream(stream, device)
        queue.tail_ns = max(queue.tail_ns, on.end_ns)
        if self.trace.variant.sync_rows:
            row = self._sync_row("Stream Wait Event", made, stream, device)
            row.args |= {"wait_on_stream": on.stream, "wait_on_cuda_event_id": 1}

    def item(self, *, stream: int = 7, copy_ns: int = 2 * US, tail_ns: int = 10 * US) -> Row:
        """``tensor.item()``: a four-byte copy to the host, then a wait for it. Gives the wait."""
        with self.within("aten::item"), self.within("aten::_local_scalar_dense"):
            row = self.copy("DtoH", 4, copy_ns, pageable=False, stream=stream)
            row.name = "Memcpy DtoH (Device -> Pageable)"
            return self.sync("cudaStreamSynchronize", stream=stream, tail_ns=tail_ns)

    def comm(self, collective: str = "allreduce", dur_ns: int = MS, **how: Any) -> Row:
        """A collective: its record, its annotation and its kernel (``collectives``)."""
        from tests.builder.collectives import collective as run

        return run(self, collective, dur_ns, **how)

    # -- rows ----------------------------------------------------------------------------------

    def _open(self, kind: str, name: str, **fields: Any) -> Row:
        row = Row(kind, name, self.pid, self.tid, self.now_ns, 0, lap=self.trace.lap, **fields)
        self.trace.rows.append(row)
        return row

    def _call(self, name: str, dur_ns: int, *, linked: bool = False) -> Row:
        kind = "driver" if name.startswith("cu") and name[2:3].isupper() else "runtime"
        row = self._open(kind, name, correlation=self.trace.next_correlation(), linked=linked)
        row.external_id = self._ops[-1].external_id if self._ops else None
        row.dur_ns = dur_ns
        self.now_ns += dur_ns
        return row

    def _sync_row(self, name: str, call: Row, stream: int, device: int) -> Row:
        row = Row("sync", name, device, stream, call.start_ns, call.dur_ns)
        row.device, row.stream, row.correlation = device, stream, call.correlation
        row.args = {"cuda_sync_kind": name}
        self.trace.rows.append(row)
        return row
