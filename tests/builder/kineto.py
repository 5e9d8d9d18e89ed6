"""The text of a built trace, as Kineto writes it in the variant's year and for its vendor."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

from tests.builder.rows import CALL_KINDS, DEVICE_KINDS, HOST_KINDS, Row

if TYPE_CHECKING:
    from tests.builder.trace import TraceBuilder
    from tests.builder.variant import Variant

Item = dict[str, Any]

BASE_NS = 1_735_632_360_000_000_000
"""``baseTimeNanoseconds`` of traces that have one."""

_MODERN = {
    "runtime": "cuda_runtime",
    "driver": "cuda_driver",
    "memcpy": "gpu_memcpy",
    "memset": "gpu_memset",
    "sync": "cuda_sync",
    "memory": "cpu_instant_event",
}
_OLD = {
    "cpu_op": "Operator",
    "user_annotation": "Operator",
    "python_function": "PythonFunction",
    "runtime": "Runtime",
    "driver": "Runtime",
    "kernel": "Kernel",
    "memcpy": "Memcpy",
    "memset": "Memset",
}
_HIP = {
    "cudaLaunchKernelExC": "hipExtLaunchKernel",
    "cudaMemcpyAsync": "hipMemcpyAsync",
    "cuLaunchKernel": "hipModuleLaunchKernel",
}
_HIP_COPIES = {"HtoD": "CopyHostToDevice", "DtoH": "CopyDeviceToHost", "DtoD": "CopyDeviceToDevice"}


class Time:
    """A time as text: microseconds with three decimals, or whole ones. Exact or refused."""

    __slots__ = ("ns", "whole_us")

    def __init__(self, ns: int, whole_us: bool) -> None:
        self.ns, self.whole_us = ns, whole_us

    def __str__(self) -> str:
        us, rest = divmod(abs(self.ns), 1000)
        sign = "-" if self.ns < 0 else ""
        if not self.whole_us:
            return f"{sign}{us}.{rest:03d}"
        if rest:
            raise ValueError(f"{self.ns} ns is not whole microseconds, which this variant writes")
        return f"{sign}{us}"


def kineto_text(trace: TraceBuilder) -> str:
    """The whole file."""
    variant = trace.variant
    items = [_dump(item) for item in kineto_items(trace)]
    head, tail = _header(variant), _footer(variant)
    if variant.layout == "compact":
        return "{" + head + ', "traceEvents": [' + ", ".join(items) + "]" + tail + "}"
    lined = head.replace(', "', ',\n  "')
    ending = tail.replace(', "', ',\n  "')
    rows = ",\n".join("  " + item.replace(', "args": ', ',\n    "args": ') for item in items)
    return "{\n  " + lined + ',\n  "traceEvents": [\n' + rows + "\n  ]" + ending + "\n}\n"


def kineto_items(trace: TraceBuilder) -> list[Item]:
    """The items of ``traceEvents``, times still exact (``Time``), in the order they are written."""
    variant = trace.variant
    kept = recorded(trace)
    items: list[Item] = []
    paired = [r for r in kept if variant.pairs and r.kind in ("cpu_op", "user_annotation")]
    for row in kept:
        if not (variant.pairs and row.kind in ("cpu_op", "user_annotation")):
            items.append(_item(row, variant))
            items += _flow(row, variant)
    items += _pairs(paired, variant)
    if variant.shuffle is not None:
        random.Random(variant.shuffle).shuffle(items)
    return _metadata(trace) + items + _ends(trace)


def recorded(trace: TraceBuilder) -> list[Row]:
    """The rows that the variant records, with the profiler's copies of annotations."""
    kept = [r for r in trace.rows if _recorded(r, trace.variant)]
    return kept + _device_annotations(trace) if trace.variant.device_annotations else kept


def _recorded(row: Row, variant: Variant) -> bool:
    if row.kind in DEVICE_KINDS:
        return variant.device_rows
    if row.kind in CALL_KINDS:
        return variant.calls
    if row.kind == "sync":
        return variant.calls and variant.sync_rows
    return variant.host_rows or row.kind not in HOST_KINDS


def _time(ns: int, variant: Variant, *, relative: bool) -> Time:
    base = BASE_NS if relative and variant.base_time else 0
    return Time(ns - base, variant.whole_us)


def _item(row: Row, variant: Variant) -> Item:
    item: Item = {"ph": "i" if row.dur_ns is None else "X"}
    old = variant.year < 2022
    if not (old and row.kind == "memory"):
        names = _OLD if old else _MODERN
        item["cat"] = names.get(row.kind, row.kind)
    if row.dur_ns is None:
        item["s"] = "t"
    item["name"] = _name(row, variant)
    item["pid"], item["tid"] = row.pid, _tid(row, variant)
    item["ts"] = _time(row.start_ns, variant, relative=True)
    if row.dur_ns is not None:
        item["dur"] = _time(row.dur_ns, variant, relative=False)
    args = _args(row, variant)
    if args:
        item["args"] = args
    return item


def _tid(row: Row, variant: Variant) -> int | str:
    if variant.year >= 2022 or row.kind == "memory":
        return row.tid
    return f"stream {row.tid}" if row.device is not None else str(row.tid)


def _name(row: Row, variant: Variant) -> str:
    if variant.vendor != "amd":
        return row.name
    if row.kind in CALL_KINDS:
        return _HIP.get(row.name, row.name.replace("cuda", "hip", 1))
    if row.kind == "memcpy":
        way = row.name.split()[1]
        ends = {"H": "Host", "D": "Device"}
        spelled = f"Memcpy {way} ({ends[way[0]]} -> {ends[way[3]]})"
        return _HIP_COPIES[way] if variant.vendor_copy_names else spelled
    return row.name.replace("Memset (Device)", "FillBuffer")


def _args(row: Row, variant: Variant) -> Item:
    args: Item = {}
    old = variant.year < 2022
    if row.external_id is not None and variant.host_rows:
        args["external id" if old and row.kind != "cpu_op" else "External id"] = row.external_id
    if row.kind in CALL_KINDS:
        args["cid" if variant.vendor == "amd" else "cbid"] = 211
    if row.python_id is not None:
        args["Python id"], args["Python parent id"] = row.python_id, row.python_parent
    if row.device is not None:
        args |= {"device": row.device} | ({} if variant.vendor == "amd" else {"context": 1})
        if variant.vendor == "amd" and variant.queue_for_stream:
            args["hsa_queue"] = str(row.stream)
        else:
            args["stream"] = row.stream
        if variant.vendor == "amd":
            args["kind"] = "Dispatch Kernel" if row.kind == "kernel" else row.name.split()[1]
        elif row.kind == "kernel":
            args |= {"queued": 0, "registers per thread": 64, "shared memory": 0}
    if row.correlation is not None:
        args["correlation"] = row.correlation
    return args | row.args


def _flow(row: Row, variant: Variant) -> list[Item]:
    if not variant.flows or row.correlation is None or row.kind == "sync":
        return []
    ends = row.kind in DEVICE_KINDS or not row.linked
    if row.kind in CALL_KINDS and not row.linked and variant.year < 2023:
        return []
    word, name = ("async", "launch") if variant.year < 2022 else ("ac2g", "ac2g")
    item: Item = {"ph": "f" if ends else "s", "id": row.correlation, "pid": row.pid}
    item |= {"tid": _tid(row, variant), "ts": _time(row.start_ns, variant, relative=True)}
    item |= {"cat": word, "name": name}
    return [item | {"bp": "e"} if ends else item]


def _pairs(rows: list[Row], variant: Variant) -> list[Item]:
    """B and E items of properly nested rows, thread by thread, in order of time."""
    made: list[Item] = []
    open_rows: list[Row] = []

    def close(row: Row) -> None:
        item: Item = {"ph": "E", "name": row.name, "pid": row.pid, "tid": _tid(row, variant)}
        made.append(item | {"ts": _time(row.end_ns, variant, relative=True)})

    for at in sorted(range(len(rows)), key=lambda i: (rows[i].pid, rows[i].tid, i)):
        row = rows[at]
        while open_rows and (
            (open_rows[-1].pid, open_rows[-1].tid) != (row.pid, row.tid)
            or open_rows[-1].end_ns <= row.start_ns
        ):
            close(open_rows.pop())
        item = _item(row, variant) | {"ph": "B"}
        del item["dur"]
        made.append(item)
        open_rows.append(row)
    while open_rows:
        close(open_rows.pop())
    return made


def _device_annotations(trace: TraceBuilder) -> list[Row]:
    """The profiler's copies of host annotations on the streams that their work ran on."""
    made: list[Row] = []
    marks = [r for r in trace.rows if r.kind == "user_annotation"]
    for mark in marks:
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        calls = {
            r.correlation for r in trace.rows
            if r.kind in CALL_KINDS and r.tid == mark.tid and mark.start_ns <= r.start_ns
            and r.end_ns <= mark.end_ns
        }  # fmt: skip
        for row in trace.rows:
            if row.kind in DEVICE_KINDS and row.correlation in calls:
                key = (row.device or 0, row.stream or 0)
                low, high = spans.get(key, (row.start_ns, row.end_ns))
                spans[key] = (min(low, row.start_ns), max(high, row.end_ns))
        for (device, stream), (low, high) in sorted(spans.items()):
            copy = Row("gpu_user_annotation", mark.name, device, stream, low, high - low)
            copy.external_id = mark.external_id
            made.append(copy)
    return made


def _metadata(trace: TraceBuilder) -> list[Item]:
    variant = trace.variant
    at = _time(trace.start_ns, variant, relative=True)

    def meta(what: str, pid: int, tid: int | str, args: Item) -> Item:
        return {"name": what, "ph": "M", "ts": at, "pid": pid, "tid": tid, "args": args}

    made = []
    for pid in sorted({t.pid for t in trace.threads}):
        made += [meta("process_name", pid, 0, {"name": "python3"})]
        made += [meta("process_labels", pid, 0, {"labels": "CPU"})]
    for thread in trace.threads:
        tid = str(thread.tid) if variant.year < 2022 else thread.tid
        made.append(meta("thread_name", thread.pid, tid, {"name": f"thread {tid} ({thread.name})"}))
    for device in sorted({r.device for r in trace.rows if r.device is not None}):
        made += [meta("process_name", device, 0, {"name": "python3"})]
        made += [meta("process_labels", device, 0, {"labels": f"GPU {device}"})]
    return made


def _ends(trace: TraceBuilder) -> list[Item]:
    variant = trace.variant
    end = max([r.end_ns for r in trace.rows], default=trace.start_ns)
    tids = "Traces" if variant.year < 2022 else "Spans"
    start = _time(trace.start_ns, variant, relative=True)
    span: Item = {"ph": "X", "cat": "Trace", "ts": start}
    span |= {"dur": _time(end - trace.start_ns, variant, relative=False), "pid": tids}
    span |= {"tid": "PyTorch Profiler", "name": "PyTorch Profiler (0)", "args": {"Op count": 0}}
    first: Item = {"name": "Iteration Start: PyTorch Profiler", "ph": "i", "s": "g"}
    first |= {"pid": "Traces", "tid": "Trace PyTorch Profiler", "ts": start}
    last: Item = {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": ""}
    return [span, first, last | {"ts": _time(end, variant, relative=True)}]


def _dump(item: Item) -> str:
    """One item as JSON; times are written as text that no float ever held."""
    parts = []
    for key, value in item.items():
        text = str(value) if isinstance(value, Time) else json.dumps(value)
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ", ".join(parts) + "}"


def _header(variant: Variant) -> str:
    parts = ['"schemaVersion": 1']
    if variant.vendor != "cpu":
        major, minor = variant.compute_capability
        device = {"id": 0, "name": variant.device_name, "totalGlobalMem": 85_899_345_920}
        device |= {"computeMajor": major, "computeMinor": minor, "maxThreadsPerBlock": 1024}
        device |= {"warpSize": 64 if variant.vendor == "amd" else 32, "numSms": variant.sms}
        parts.append('"deviceProperties": ' + json.dumps([device], separators=(",", ":")))
    if variant.year >= 2024:
        if variant.vendor == "nvidia":
            parts.append('"cuda_runtime_version": 12040, "cuda_driver_version": 12090')
        elif variant.vendor == "amd":
            parts.append('"hip_runtime_version": 60443483, "hip_driver_version": 60443483')
        flags = {"with_stack": variant.stacks, "record_shapes": variant.shapes}
        parts += [f'"{name}": {int(on)}' for name, on in flags.items() if on]
    if variant.rank is not None:
        about = {"backend": "nccl", "rank": variant.rank, "world_size": variant.world_size}
        parts.append('"distributedInfo": ' + json.dumps(about, separators=(",", ":")))
    return ", ".join(parts)


def _footer(variant: Variant) -> str:
    text = ""
    if variant.year >= 2023:
        text = ', "traceName": "./worker0.pt.trace.json"'
    if variant.year >= 2024:
        text += ', "displayTimeUnit": "ms"'
    if variant.base_time:
        text += f', "baseTimeNanoseconds": {BASE_NS}'
    return text
