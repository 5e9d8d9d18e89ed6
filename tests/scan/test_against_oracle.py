"""Every item of every evidence file and of generated traces, equal to the oracle's columns."""

from __future__ import annotations

import gzip
import json
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime import _native
from tests.evidence_files import kineto_files, kineto_id, needs_evidence
from tests.scan import oracle

BIG = 1_000_000
"""Compressed bytes from which a file belongs to the slow tests."""


def _cases() -> list[Any]:
    return [
        pytest.param(p, id=kineto_id(p), marks=[pytest.mark.slow] if p.stat().st_size > BIG else [])
        for p in kineto_files()
    ]


@needs_evidence
@pytest.mark.parametrize("path", _cases())
def test_evidence_file(path: Path) -> None:
    text = gzip.decompress(path.read_bytes())
    wanted = oracle.read(text)
    chunks = [1 << 20] if len(text) > 1_200_000 else [1 << 20, 4096, 7]
    if len(text) < 100_000:
        chunks.append(1)
    for chunk in chunks:
        result = oracle.scan(text, chunk)
        oracle.same(result, wanted, text, args=chunk == 1 << 20)
        assert result.losses == []
        assert result.root == "object"


# Texts as JSON may write them, integers beyond every width, numbers as strings, odd white space.
TEXTS = st.one_of(
    st.text(max_size=12),
    st.text(alphabet='"\\/\b\n\t{}[],: aé€😀', max_size=40),
    st.sampled_from(["aten::mm", "x" * 70, "C:\\dir\\", "", "naïve", "a\u2028b"]),
)
DECIMALS = st.one_of(
    st.integers(-(10**6), 5 * 10**18).map(str),
    st.decimals(
        min_value=Decimal(0), max_value=Decimal(10) ** 13, allow_nan=False, allow_infinity=False
    ).map(str),
    st.tuples(st.integers(0, 10**13), st.integers(0, 999)).map(lambda t: f"{t[0]}.{t[1]:03d}"),
    st.tuples(st.integers(0, 10**6), st.integers(0, 10**9)).map(lambda t: f"{t[0]}.{t[1]:09d}"),
    st.tuples(st.integers(0, 10**6), st.integers(-30, 30)).map(lambda t: f"{t[0]}e{t[1]}"),
    st.sampled_from(
        ["0", "0.0005", "0.0015", "1e400", "1E-400", "0e999999999", "NaN", "-Infinity"]
    ),
)
IDS = st.one_of(
    st.integers(-2, 2**64 + 2), st.sampled_from([2**32 - 1, 2**32 - 2, 2**63, 2**64 - 1])
)


class Raw(str):
    """JSON text to be written as it is."""


def _raw(value: object) -> Raw:
    return Raw(value)


NUMBERS = st.one_of(DECIMALS.map(_raw), DECIMALS.filter(lambda d: d[-1].isdigit()))
ANY_ID = st.one_of(IDS, IDS.map(str))
NESTED = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
ARGS = st.fixed_dictionaries(
    {},
    optional={
        "correlation": ANY_ID,
        "External id": ANY_ID,
        "Python id": ANY_ID,
        "Python parent id": ANY_ID,
        "device": st.integers(-1, 9),
        "stream": st.one_of(st.integers(-1, 99), TEXTS),
        "bytes": st.integers(-(2**63), 2**64 - 1),
        "Addr": st.integers(-(2**70), 2**70),
        "wait_on_stream": st.one_of(st.integers(0, 9), st.none(), st.just(_raw("1.5"))),
        "Collective name": TEXTS,
        "Process Group Ranks": st.one_of(TEXTS, st.lists(st.integers(0, 9), max_size=5)),
        "Input Dims": NESTED,
        "Call stack": TEXTS,
        "grid": NESTED,
    },
)
PIDS = st.one_of(st.integers(-(2**70), 2**70), TEXTS, st.none())
ITEMS = st.fixed_dictionaries(
    {"ph": st.sampled_from(["X", "X", "X", "i", "C", "s", "f", "t", "n", "?"])},
    optional={
        "ts": st.one_of(NUMBERS, NUMBERS, TEXTS.filter(lambda t: not t.strip()[:1].isdigit())),
        "dur": NUMBERS,
        "name": TEXTS,
        "cat": st.sampled_from(["kernel", "cpu_op", ""]),
        "pid": PIDS,
        "tid": PIDS,
        "id": IDS,
        "s": st.just("t"),
        "args": st.one_of(ARGS, ARGS, st.none()),
        "extra": NESTED,
    },
)


def written(value: Any, draw: random.Random) -> str:
    """JSON text with random white space and key order."""

    def space() -> str:
        return draw.choice(["", "", " ", "\n    ", "\t", " " * 40])

    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        pairs = list(value.items())
        draw.shuffle(pairs)
        inner = ",".join(
            f"{space()}{json.dumps(k)}{space()}:{space()}{written(v, draw)}{space()}"
            for k, v in pairs
        )
        return "{" + (inner or space()) + "}"
    if isinstance(value, list):
        inner = ",".join(space() + written(v, draw) + space() for v in value)
        return "[" + (inner or space()) + "]"
    return json.dumps(value, ensure_ascii=draw.random() < 0.5)


def scan_cut(text: bytes, draw: random.Random) -> _native.ScanResult:
    scanner = _native.Scanner()
    at = 0
    while at < len(text):
        size = draw.choice([1, 2, 17, 300, 5000])
        scanner.feed(text[at : at + size])
        at += size
    return scanner.finish()


@settings(max_examples=300, deadline=None)
@given(st.lists(ITEMS, max_size=8), st.randoms(use_true_random=False), st.booleans())
def test_generated_items(items: list[Any], draw: random.Random, as_list: bool) -> None:
    document: Any = items if as_list else {"schemaVersion": 1, "traceEvents": items, "z": [{}]}
    text = written(document, draw).encode("utf-8", "surrogatepass")
    wanted = oracle.read(text)
    oracle.same(oracle.scan(text), wanted, text)
    oracle.same(scan_cut(text, draw), wanted, text)


@settings(max_examples=200, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=8), st.randoms(use_true_random=False), st.data())
def test_every_whole_item_before_a_cut_is_kept(
    items: list[Any], draw: random.Random, data: st.DataObject
) -> None:
    text = '{"schemaVersion": 1, "traceEvents": ['
    ends = []
    starts = []
    for i, item in enumerate(items):
        text += ", " if i else ""
        starts.append(len(text.encode("utf-8", "surrogatepass")))
        text += written(item, draw)
        ends.append(len(text.encode("utf-8", "surrogatepass")))
    raw = text.encode("utf-8", "surrogatepass")
    cut = data.draw(st.integers(starts[0], len(raw)))
    whole = [item for item, end in zip(items, ends, strict=True) if end <= cut]
    kept = raw[: ends[len(whole) - 1]] if whole else raw[: starts[0]]
    wanted = oracle.read(kept + b"]}")
    result = scan_cut(raw[:cut], draw)
    assert result.items == len(whole)
    result_of_whole = oracle.scan(kept + b"]}")
    for column in ("start_ns", "dur_ns", "phase"):
        assert getattr(result, column).tolist() == getattr(result_of_whole, column).tolist()
    assert [result.names[i] for i in result.name] == [r["name"] for r in wanted.rows]
    assert len(result.flow_id) == len(wanted.flows)
    assert result.counters["truncated"] == 1
    inside = next((s for s, e in zip(starts, ends, strict=True) if s < cut < e), cut)
    cuts = [loss for loss in result.losses if loss[1] == "text ends inside the trace"]
    assert cuts == [(inside, "text ends inside the trace", 1)]
