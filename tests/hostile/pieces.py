"""What the hostile inputs are made of: a small sound trace, and gzip of any size made quickly."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Event = dict[str, Any]
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 1 << 36, "numSms": 132}


def step(i: int, start_us: int = 1_000_000) -> Iterator[Event]:
    """One lap of 1 ms: four operators that each launch a kernel, after a loader's next."""
    at = start_us + 1000 * i
    host = {"ph": "X", "pid": 10, "tid": 10}
    yield {**host, "cat": "user_annotation", "name": f"ProfilerStep#{i}", "ts": at, "dur": 1000}
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    yield {**host, "cat": "user_annotation", "name": name, "ts": at + 10, "dur": 200}
    for k in range(4):
        begin, link = at + 250 + 150 * k, 1000 * i + k
        args = {"External id": link, "Ev Idx": link}
        yield {**host, "cat": "cpu_op", "name": "aten::mm", "ts": begin, "dur": 60, "args": args}
        args = {"correlation": link, "External id": link}
        call = {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "args": args}
        yield {**call, "ts": begin + 10, "dur": 5}
        yield {
            "ph": "X",
            "cat": "kernel",
            "name": "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
            "pid": 0,
            "tid": 7,
            "ts": begin + 20,
            "dur": 100,
            "args": {"device": 0, "stream": 7, "correlation": link, "External id": link},
        }


def events(steps: int = 5) -> list[Event]:
    return [e for i in range(steps) for e in step(i)]


def header(**entries: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "deviceProperties": [DEVICE], **entries}


def trace(items: Iterable[Event], **entries: Any) -> bytes:
    return json.dumps({**header(**entries), "traceEvents": list(items)}).encode()


def changed(**values: Any) -> list[Event]:
    """The sound events, each with some of its values replaced."""
    return [{**e, **values} for e in events()]


def with_args(**values: Any) -> list[Event]:
    """The sound events, each with some of its arguments replaced."""
    return [{**e, "args": {**e.get("args", {}), **values}} for e in events()]


def put(folder: Path, data: bytes, name: str = "trace.json") -> list[str]:
    """Write the input; the arguments that name it."""
    (folder / name).write_bytes(data)
    return [str(folder / name)]


def raw(ts: str = "1000", dur: str = "5", name: str = '"aten::mm"', **more: str) -> bytes:
    """One event with values as literally written."""
    items = {"ph": '"X"', "cat": '"cpu_op"', "name": name, "pid": "1", "tid": "1"}
    items.update({"ts": ts, "dur": dur, **more})
    return b"{" + b",".join(f'"{k}":{v}'.encode() for k, v in items.items() if v) + b"}"


def listed(items: Iterable[bytes], before: bytes = b"") -> bytes:
    """A trace of events as literally written."""
    return b"{" + before + b'"traceEvents":[' + b",\n".join(items) + b"]}"


def gzip_of(runs: Iterable[tuple[bytes, int]]) -> bytes:
    """One gzip member of texts each repeated so many times, compressed once for all repeats."""
    out, crc, size = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff"], 0, 0
    for text, times in runs:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        out += [packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH)] * times
        for _ in range(times):
            crc = zlib.crc32(text, crc)
        size += len(text) * times
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    out += [packer.flush(), struct.pack("<II", crc, size & 0xFFFFFFFF)]
    return b"".join(out)
