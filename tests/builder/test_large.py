"""The large generator: deterministic, well formed, as dense and as busy as it says."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.builder.large import LargeFile, generate


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[LargeFile, list[dict[str, Any]]]:
    target = tmp_path_factory.mktemp("large") / "trace.json.gz"
    file = generate(target, mb=1, seed=5)
    text = gzip.decompress(target.read_bytes())
    assert len(text) == file.text_bytes
    return file, json.loads(text, parse_float=Decimal)["traceEvents"]


def test_density(made: tuple[LargeFile, list[dict[str, Any]]]) -> None:
    file, items = made
    assert file.items == len(items)
    assert 220 <= file.text_bytes / file.items <= 500
    python = sum(i.get("cat") == "python_function" for i in items)
    assert file.python_items == python
    assert 0.30 <= python / len(items) <= 0.36
    assert 12 <= file.ratio <= 20
    assert 0.6 <= file.busy <= 0.9
    assert len({i["name"] for i in items}) > 2000


def test_structure(made: tuple[LargeFile, list[dict[str, Any]]]) -> None:
    _, items = made
    threads: dict[Any, list[tuple[Decimal, Decimal]]] = defaultdict(list)
    streams: dict[Any, list[tuple[Decimal, Decimal]]] = defaultdict(list)
    calls: dict[int, Decimal] = {}
    for item in items:
        if item["ph"] != "X":
            continue
        assert item["dur"] > 0
        span = (item["ts"], item["ts"] + item["dur"])
        if item["cat"] == "kernel":
            streams[item["tid"]].append(span)
        else:
            threads[item["tid"]].append(span)
        if item["cat"] == "cuda_runtime":
            calls[item["args"]["correlation"]] = span[1]
    assert set(streams) == {7, 20}
    for spans in streams.values():
        spans.sort()
        assert all(a[1] < b[0] for a, b in pairwise(spans))
    for spans in threads.values():
        stack: list[tuple[Decimal, Decimal]] = []
        for start, end in sorted(spans, key=lambda s: (s[0], -s[1])):
            while stack and stack[-1][1] <= start:
                stack.pop()
            assert not stack or end <= stack[-1][1]
            stack.append((start, end))
    kernels = [i for i in items if i.get("cat") == "kernel"]
    assert all(i["ts"] > calls[i["args"]["correlation"]] for i in kernels)
    flows = {(i["ph"], i["id"]) for i in items if i["ph"] in "sf"}
    assert flows == {(ph, i["args"]["correlation"]) for i in kernels for ph in "sf"}


def test_python_parents_exist(made: tuple[LargeFile, list[dict[str, Any]]]) -> None:
    _, items = made
    rows = {i["args"]["Python id"]: i for i in items if i.get("cat") == "python_function"}
    for row in rows.values():
        parent = row["args"]["Python parent id"]
        if parent is not None:
            outer = rows[parent]
            assert outer["ts"] <= row["ts"]
            assert row["ts"] + row["dur"] <= outer["ts"] + outer["dur"]
    assert sum(r["args"]["Python parent id"] is None for r in rows.values()) == 1


def test_ids_and_times_do_not_repeat(made: tuple[LargeFile, list[dict[str, Any]]]) -> None:
    _, items = made
    for key, category in (("External id", "cpu_op"), ("Python id", "python_function")):
        ids = [i["args"][key] for i in items if i.get("cat") == category]
        assert len(ids) == len(set(ids))
    spans = [(i["ts"], i["dur"], i["tid"]) for i in items if i["ph"] == "X"]
    assert len(spans) == len(set(spans))


def test_same_seed_same_text(tmp_path: Path) -> None:
    one = generate(tmp_path / "a.json", mb=0.1, seed=2).path.read_bytes()
    assert one == generate(tmp_path / "b.json", mb=0.1, seed=2).path.read_bytes()
    assert one != generate(tmp_path / "c.json", mb=0.1, seed=3).path.read_bytes()
