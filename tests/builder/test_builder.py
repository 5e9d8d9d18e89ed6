"""The builder keeps its promises: valid text, proper nesting, truth that sums to the windows."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings

from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS
from tests.builder import KINDS, MS, SCENARIOS, US, TraceBuilder, Variant, without, write_ranks
from tests.builder.collectives import multimem
from tests.builder.kineto import BASE_NS
from tests.builder.rows import DEVICE_KINDS
from tests.builder.strategies import trace_texts

VARIANTS = {
    "2021": Variant(year=2021),
    "2023": Variant(year=2023, collective_args="a"),
    "2024-epoch": Variant(year=2024, base_time=False, collective_args="b"),
    "2025": Variant(stacks=True, shapes=True, sync_rows=True, collective_args="d"),
    "amd": Variant(vendor="amd", vendor_copy_names=True, queue_for_stream=True),
    "no-flows": Variant(flows=False, collective_args="c"),
    "pairs": Variant(pairs=True),
    "shuffled": Variant(shuffle=3, layout="compact", device_annotations=True),
}


def load(text: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return made


def time_ns(trace: dict[str, Any], value: Any) -> int:
    exact = Decimal(value) * 1000
    assert exact == int(exact)
    return int(exact) + int(trace.get("baseTimeNanoseconds", 0))


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_text_holds_every_row_exactly(name: str, variant: Variant) -> None:
    trace = SCENARIOS[name](variant).trace
    loaded = load(trace.text())
    written = {
        (i["name"], time_ns(loaded, i["ts"]), int(Decimal(i["dur"]) * 1000))
        for i in loaded["traceEvents"]
        if i["ph"] == "X" and str(i.get("cat")).lower() == "kernel"
    }
    kernels = {(r.name, r.start_ns, r.dur_ns) for r in trace.rows if r.kind == "kernel"}
    assert written == kernels
    assert ("baseTimeNanoseconds" in loaded) == trace.variant.base_time


@pytest.mark.parametrize("name", SCENARIOS)
def test_rows_are_in_order(name: str) -> None:
    trace = SCENARIOS[name](Variant(stacks=True)).trace
    threads: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    streams: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for row in trace.rows:
        assert row.dur_ns is None or row.dur_ns >= 0
        if row.kind in DEVICE_KINDS:
            assert row.dur_ns
            streams[row.pid, row.tid].append((row.start_ns, row.end_ns))
        elif row.kind not in ("sync", "overhead"):
            threads[row.pid, row.tid].append((row.start_ns, row.end_ns))
    for spans in streams.values():
        spans.sort()
        assert all(a[1] <= b[0] for a, b in pairwise(spans))
    for spans in threads.values():
        stack: list[tuple[int, int]] = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1][1] <= start:
                stack.pop()
            assert not stack or end <= stack[-1][1]
            stack.append((start, end))


@pytest.mark.parametrize("name", SCENARIOS)
def test_calls_come_before_their_work(name: str) -> None:
    trace = SCENARIOS[name](None).trace
    calls = {r.correlation: r for r in trace.rows if r.linked}
    work = [r for r in trace.rows if r.kind in DEVICE_KINDS]
    if trace.variant.calls:
        assert all(calls[r.correlation].start_ns < r.start_ns for r in work)


@pytest.mark.parametrize("name", SCENARIOS)
def test_truth_sums_to_the_windows(name: str) -> None:
    scenario = SCENARIOS[name](None)
    accounts = CPU_ACCOUNTS if scenario.cpu else DEVICE_ACCOUNTS
    known = {a.id: a.parent for a in accounts}
    for device, windows in scenario.windows.items():
        assert len(windows) == len(scenario.trace.host_laps)
        for window in windows:
            assert sum(window.accounts.values()) == window.dur_ns
        for one, following in pairwise(windows):
            assert one.start_ns + one.dur_ns == following.start_ns
        if not scenario.cpu:
            check_busy(scenario.trace, device, [w.accounts for w in windows])
    for device, totals in scenario.totals.items():
        work = [r for r in scenario.trace.rows if r.device == device and r.kind in DEVICE_KINDS]
        whole = max(r.end_ns for r in work) - min(r.start_ns for r in work)
        assert sum(totals.values()) == whole
        check_busy(scenario.trace, device, [totals])
    every = [w.accounts for ws in scenario.windows.values() for w in ws]
    for held in [*every, *scenario.totals.values()]:
        ids = [part for key in held for part in key.split("+")]
        assert len(ids) == len(set(ids))
        assert set(ids) <= set(known)


def check_busy(trace: TraceBuilder, device: int, held: list[Any]) -> None:
    """Busy accounts against the union of the device rows, a different computation."""
    spans = sorted(
        (r.start_ns, r.end_ns) for r in trace.rows if r.device == device and r.kind in DEVICE_KINDS
    )
    union, reach = 0, spans[0][0]
    for start, end in spans:
        union += max(0, end - max(start, reach))
        reach = max(reach, end)
    busy = [a.id for a in DEVICE_ACCOUNTS if a.parent == "busy"]
    assert sum(ns for one in held for key, ns in one.items() if key in busy) == union


@pytest.mark.parametrize("kind", KINDS)
def test_without_deletes_one_kind_and_keeps_digits(kind: str) -> None:
    variant = Variant(stacks=True, sync_rows=True, device_annotations=True)
    text = SCENARIOS["host_sync_each_lap"](variant).trace.text()
    before, after = load(text), load(without(text, kind))
    test = KINDS[kind]
    assert after["traceEvents"] == [i for i in before["traceEvents"] if not test(i)]
    assert {k: v for k, v in after.items() if k != "traceEvents"} == {
        k: v for k, v in before.items() if k != "traceEvents"
    }
    assert without(after["traceEvents"], kind) == after["traceEvents"]


def test_pairs_match() -> None:
    text = SCENARIOS["input_no_workers"](Variant(pairs=True)).trace.text()
    open_names: dict[Any, list[str]] = defaultdict(list)
    count = 0
    for item in load(text)["traceEvents"]:
        if item["ph"] == "B":
            open_names[item["tid"]].append(item["name"])
            count += 1
        elif item["ph"] == "E":
            assert open_names[item["tid"]].pop() == item["name"]
    assert count == 6 * (20 + 2)
    assert not any(open_names.values())


def test_python_rows_name_their_parents() -> None:
    trace = TraceBuilder(Variant(stacks=True))
    main = trace.thread()
    with main.frame("train.py(10): main"), main.frame("nn.Module: Linear_0", module=4):
        main.op("aten::linear", 10 * US)
    main.gc(2 * MS)
    rows = [i for i in load(trace.text())["traceEvents"] if i.get("cat") == "python_function"]
    assert [(i["args"]["Python id"], i["args"]["Python parent id"]) for i in rows] == [
        (1, None), (2, 1), (3, None)
    ]  # fmt: skip
    assert rows[1]["args"]["Python module id"] == 4


def test_vocabulary_of_each_year() -> None:
    old = load(SCENARIOS["pageable_copies"](Variant(year=2021)).trace.text())["traceEvents"]
    assert {i["cat"] for i in old if "cat" in i} == {
        "Operator", "Runtime", "Kernel", "Memcpy", "Trace", "async"
    }  # fmt: skip
    assert all(isinstance(i["ts"], int) for i in old)
    assert {i["tid"] for i in old if i.get("cat") == "Kernel"} == {"stream 7"}
    amd = load(SCENARIOS["pageable_copies"](VARIANTS["amd"]).trace.text())["traceEvents"]
    calls = {i["name"] for i in amd if i.get("cat") == "cuda_runtime"}
    assert calls == {"hipLaunchKernel", "hipMemcpyAsync"}
    copies = [i for i in amd if i.get("cat") == "gpu_memcpy"]
    assert {i["name"] for i in copies} == {"CopyHostToDevice"}
    assert all("stream" not in i["args"] for i in copies)


@pytest.mark.parametrize(("generation", "keys"), [("a", 0), ("b", 9), ("c", 12), ("d", 19)])
def test_collective_arguments(generation: str, keys: int) -> None:
    trace = SCENARIOS["exposed_all_reduce"](Variant(collective_args=generation)).trace
    items = load(trace.text())["traceEvents"]
    record = next(i for i in items if i["name"] == "record_param_comms")
    kernel = next(i for i in items if i["name"].startswith("nccl") and i.get("cat") == "kernel")
    assert len(set(record["args"]) - {"External id"}) == keys
    assert ("Collective name" in kernel["args"]) == (generation in "cd")


def test_writing(tmp_path: Path) -> None:
    trace = SCENARIOS["healthy"](None).trace
    text = trace.text()
    assert trace.write(tmp_path / "a.json").read_text() == text
    packed = trace.write(tmp_path / "a.json.gz", gzip=True, members=3).read_bytes()
    assert gzip.decompress(packed).decode() == text
    assert packed.count(b"\x1f\x8b\x08\x00\x00\x00\x00\x00") == 3
    raw = trace.write(tmp_path / "a.json.zst", zstd=True).read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(raw).decode() == text


def test_ranks_of_a_folder(tmp_path: Path) -> None:
    def build(rank: int, world: int) -> TraceBuilder:
        return SCENARIOS["exposed_all_reduce"](Variant(rank=rank, world_size=world)).trace

    paths = write_ranks(tmp_path / "run", 3, build)
    about = [load(gzip.decompress(p.read_bytes()).decode())["distributedInfo"] for p in paths]
    assert [(a["rank"], a["world_size"]) for a in about] == [(0, 3), (1, 3), (2, 3)]


def test_two_processes_and_a_multimem_kernel() -> None:
    trace = TraceBuilder(Variant())
    for pid in (100, 200):
        main = trace.thread(pid=pid, tid=pid)
        main.idle(pid * US)
        multimem(main, 50 * US)
        main.alloc(100 * US)
        main.memory(512)
    trace.overhead("Activity Buffer Request", 0, 20 * US)
    items = load(trace.text())["traceEvents"]
    assert {i["pid"] for i in items if i.get("cat") == "cuda_runtime"} == {100, 200}
    assert sum("multimem" in i["name"] and i.get("cat") == "kernel" for i in items) == 2
    assert [i["pid"] for i in items if i.get("cat") == "overhead"] == [-1]


def test_whole_microseconds_are_not_rounded() -> None:
    trace = TraceBuilder(Variant(year=2023))
    trace.thread().op("aten::mm", 1_234)
    with pytest.raises(ValueError, match="not whole microseconds"):
        trace.text()


@settings(max_examples=50, deadline=None)
@given(trace_texts())
def test_random_traces_are_exact(text: str) -> None:
    for item in load(text)["traceEvents"]:
        for key in ("ts", "dur"):
            value = Decimal(item.get(key, 0)) * 1000
            assert value == int(value)
            assert value >= 0


def test_base_time_is_before_the_trace() -> None:
    trace = TraceBuilder()
    trace.thread().op("aten::mm", 1_234)
    loaded = load(trace.text())
    item = next(i for i in loaded["traceEvents"] if i.get("cat") == "cpu_op")
    assert loaded["baseTimeNanoseconds"] == BASE_NS
    assert time_ns(loaded, item["ts"]) == trace.start_ns
    assert item["dur"] == Decimal("1.234")
