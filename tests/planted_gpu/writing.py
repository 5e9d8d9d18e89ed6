"""Rows as Kineto wrote them in three generations of its schema."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from tests.planted_gpu.engine import Row, Simulator
from tests.planted_gpu.spec import G2021, G2023, G2025, Spec

_CATEGORIES = {
    "op": "cpu_op",
    "mark": "user_annotation",
    "python": "python_function",
    "call": "cuda_runtime",
    "kernel": "kernel",
    "copy": "gpu_memcpy",
    "set": "gpu_memset",
    "sync": "cuda_sync",
    "gpu_mark": "gpu_user_annotation",
    "overhead": "overhead",
}
_OF_2021 = {
    "op": "Operator",
    "mark": "Operator",
    "call": "Runtime",
    "kernel": "Kernel",
    "copy": "Memcpy",
    "set": "Memset",
}
_DRIVER = ("cuLaunchKernel", "cuLaunchKernelEx", "cuModuleLoadData")
BASE_NS = 1_735_632_360_000_000_000


def text(simulator: Simulator) -> str:
    """The trace file's text."""
    return "".join(_Writer(simulator.spec).parts(simulator.rows))


def write(simulator: Simulator, path: Path) -> None:
    """The trace, plain or gzip by its name."""
    data = text(simulator).encode()
    path.write_bytes(gzip.compress(data, 1) if path.name.endswith(".gz") else data)


class _Writer:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.old = spec.generation == G2021
        self.external = "external id" if self.old else "External id"

    def parts(self, rows: list[Row]) -> list[str]:
        spec = self.spec
        head: dict[str, Any] = {"schemaVersion": 1, "deviceProperties": self.devices()}
        if spec.generation != G2021 and spec.shapes:
            head["record_shapes"] = 1
        if spec.generation == G2025:
            if spec.amd:
                head["roctracer_version"], head["hip_runtime_version"] = 4.1, 60443483
            else:
                head["cupti_version"], head["cuda_runtime_version"] = 22, 12040
            if spec.stacks:
                head["with_stack"] = 1
        if spec.generation != G2021 and any("nccl" in r.name for r in rows):
            head["distributedInfo"] = {"backend": "nccl", "rank": 0, "world_size": spec.ranks}
        text = json.dumps(head)
        events = self.metadata()
        for number, row in enumerate(rows):
            if row.kind in ("python", "sync", "overhead", "gpu_mark") and self.old:
                continue
            events.append(self.event(row, number))
            if spec.flows and row.correlation is not None:
                events.extend(self.flow(row))
        out = [text[:-1], ', "traceEvents": [\n', ",\n".join(events), "\n]"]
        out.append(f', "traceName": "/tmp/trace_{spec.seed}.json"')
        if spec.generation == G2025:
            out.append(', "displayTimeUnit": "ms"')
            if spec.time_form == "base":
                out.append(f', "baseTimeNanoseconds": {BASE_NS}')
        out.append("}\n")
        return out

    def devices(self) -> list[dict[str, object]]:
        count = max(1, self.spec.ordinal + 1)
        return [{**self.spec.device.properties, "id": i} for i in range(count)]

    def metadata(self) -> list[str]:
        pid = self.spec.pid
        rows = [
            {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": "python3"}},
            {"name": "process_labels", "ph": "M", "pid": pid, "tid": 0, "args": {"labels": "CPU"}},
            {"name": "process_labels", "ph": "M", "pid": self.spec.ordinal, "tid": 0,
             "args": {"labels": f"GPU {self.spec.ordinal}"}},
        ]  # fmt: skip
        return [json.dumps(r) for r in rows]

    def us(self, ns: int) -> str:
        if self.spec.time_form == "us":
            return str(ns // 1000)
        return f"{ns // 1000}.{ns % 1000:03d}"

    def ts(self, ns: int) -> int:
        """Absolute, or since the base, in ns."""
        absolute = self.spec.epoch_ns + ns
        return absolute - BASE_NS if self.spec.time_form == "base" else absolute

    def span(self, row: Row) -> tuple[str, str]:
        start, end = self.ts(row.start_ns), self.ts(row.end_ns)
        if self.spec.time_form == "us":
            return str(start // 1000), str(end // 1000 - start // 1000)
        return self.us(start), self.us(end - start)

    def place(self, row: Row) -> tuple[Any, Any]:
        if row.kind in ("kernel", "copy", "set", "sync", "gpu_mark"):
            return self.spec.ordinal, (f"stream {row.lane}" if self.old else row.lane)
        if row.kind == "overhead":
            return -1, 0
        return self.spec.pid, (str(row.lane) if self.old else row.lane)

    def event(self, row: Row, number: int) -> str:
        start, dur = self.span(row)
        pid, tid = self.place(row)
        category = (_OF_2021 if self.old else _CATEGORIES)[row.kind]
        if not self.old and row.name in _DRIVER:
            category = "cuda_driver"
        args = json.dumps(self.args(row, number))
        name = json.dumps(row.name)
        return (
            f'{{"ph": "X", "cat": "{category}", "name": {name}, "pid": {pid}, '
            f'"tid": {json.dumps(tid)}, "ts": {start}, "dur": {dur}, "args": {args}}}'
        )

    def args(self, row: Row, number: int) -> dict[str, Any]:
        spec = self.spec
        args: dict[str, Any] = {}
        if row.external is not None and not (spec.amd and row.kind in ("kernel", "copy", "set")):
            args[self.external] = row.external
        if row.kind in ("op", "mark", "python"):
            if spec.generation == G2025 and row.kind != "python":
                args["Record function id"] = 0
            args.update(row.args)
            if not self.old:
                args["Ev Idx"] = number
            return args
        if row.kind == "call":
            args["cid" if spec.amd else "cbid"] = 211
            args["correlation"] = row.correlation
            args.update(row.args)
            return args
        if row.kind == "sync":
            return {
                "cuda_sync_kind": row.name,
                **row.args,
                "correlation": row.correlation,
                "device": spec.ordinal,
                "context": 1,
            }
        if row.kind in ("gpu_mark", "overhead"):
            return args
        return {**args, **self.activity(row)}

    def activity(self, row: Row) -> dict[str, Any]:
        spec = self.spec
        base: dict[str, Any] = {"device": spec.ordinal}
        if not spec.amd:
            base["context"] = 1
        base["stream"] = row.lane
        base["correlation"] = row.correlation
        if row.kind != "kernel":
            size = row.args["bytes"]
            if spec.amd:
                return {**base, "kind": row.args.get("way", "Device")}
            rate = size / row.dur_ns
            return {**base, "bytes": size, "memory bandwidth (GB/s)": rate}
        known = {k: v for k, v in row.args.items() if k not in _LAUNCH}
        if spec.amd:
            base["kind"] = "Dispatch Kernel"
            if spec.grids:
                base.update(grid=row.args["grid"], block=row.args["block"])
            return {**base, **known}
        grid, block = row.args["grid"], row.args["block"]
        blocks = grid[0] * grid[1] * grid[2]
        threads = block[0] * block[1] * block[2]
        per_sm = blocks / spec.device.sms
        resident = min(
            2048 // max(32, threads),
            65536 // max(1, row.args["registers"] * threads),
            32,
        )
        shared = row.args["shared"]
        if shared:
            limit = spec.device.properties["sharedMemPerMultiprocessor"]
            assert isinstance(limit, int)
            resident = min(resident, limit // shared)
        occupancy = min(100, round(100 * min(per_sm, resident) * threads / 2048))
        base.update({
            "queued": 0,
            "registers per thread": row.args["registers"],
            "shared memory": shared,
            "blocks per SM": round(per_sm, 6),
            "warps per SM": round(per_sm * threads / 32, 6),
            "grid": list(grid),
            "block": list(block),
            "est. achieved occupancy %": occupancy,
        })  # fmt: skip
        if "graph" in row.args and spec.generation == G2025:
            base["graph id"], base["graph node id"] = row.args["graph"]
        return {**base, **known}

    def flow(self, row: Row) -> list[str]:
        """The arrow from a launch to its activity."""
        category, name = ("async", "launch") if self.old else ("ac2g", "ac2g")
        if row.kind in ("kernel", "copy", "set"):
            phase = '"f", "bp": "e"'
        elif row.kind == "call" and ("Launch" in row.name or "Mem" in row.name):
            phase = '"s"'
        else:
            return []
        start, _ = self.span(row)
        pid, tid = self.place(row)
        return [
            f'{{"ph": {phase}, "id": {row.correlation}, "pid": {pid}, "tid": {json.dumps(tid)}, '
            f'"ts": {start}, "cat": "{category}", "name": "{name}"}}'
        ]


_LAUNCH = ("grid", "block", "registers", "shared", "graph")
assert G2023 in (G2021, G2023, G2025)
