"""The scanner without the instructions that only some machines have: the same answer, always.

Where this machine has those instructions the tests beside this one try them; these try the path of
every other machine, against the oracle and, on texts the oracle cannot read, against the fast one.
"""

from __future__ import annotations

import gzip
import random
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime import _native
from tests.evidence_files import kineto_files, kineto_id, needs_evidence
from tests.scan import oracle
from tests.scan.test_against_oracle import BIG, ITEMS, written

portable = partial(oracle.scan, portable=True)

COLUMNS = [name for name in vars(_native.ScanResult) if not name.startswith("_")]


def _plain(value: Any) -> Any:
    """A column, with its type, as what ``==`` compares whole."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    return value


def assert_alike(text: bytes, chunk: int = 1 << 20) -> None:
    """Both paths give the same in every column, loss and counter."""
    fast, slow = oracle.scan(text, chunk), portable(text, chunk)
    for name in COLUMNS:
        assert _plain(getattr(slow, name)) == _plain(getattr(fast, name)), name


def text_of(items: list[Any], draw: random.Random) -> bytes:
    document = {"schemaVersion": 1, "traceEvents": items, "z": [{}]}
    return written(document, draw).encode("utf-8", "surrogatepass")


def test_every_column_is_compared() -> None:
    assert {"start_ns", "dur_ns", "name", "lane", "losses", "counters", "meta"} <= set(COLUMNS)


@settings(max_examples=150, deadline=None)
@given(st.lists(ITEMS, max_size=8), st.randoms(use_true_random=False))
def test_generated_items(items: list[Any], draw: random.Random) -> None:
    text = text_of(items, draw)
    oracle.same(portable(text), oracle.read(text), text)
    assert_alike(text, draw.choice([1, 7, 33, 4096]))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(ITEMS, min_size=1, max_size=8),
    st.randoms(use_true_random=False),
    st.lists(st.tuples(st.integers(0, 1 << 20), st.binary(min_size=1, max_size=3)), max_size=4),
)
def test_damaged_text(
    items: list[Any], draw: random.Random, blows: list[tuple[int, bytes]]
) -> None:
    text = bytearray(text_of(items, draw))
    for at, blow in blows:
        at %= len(text)
        text[at : at + len(blow)] = blow
    assert_alike(bytes(text))


@pytest.mark.parametrize("length", [*range(70), 127, 128, 129, 4096])
def test_texts_of_every_length_around_a_step(length: int) -> None:
    """Quotes, escapes and ends at every place inside the 16 and 32 bytes looked at together."""
    for tail in ("", '\\"', "\\\\", "é", "\\u00e9", "\x01"):
        item = f'{{"ph":"X","name":"{"a" * length}{tail}","ts":{"1" * (length % 15 + 1)},"dur":2}}'
        text = f'{{"traceEvents":[{item},\n{item}{" " * length}]}}'.encode()
        oracle.same(portable(text), oracle.read(text), text)
        assert_alike(text)


@needs_evidence
@pytest.mark.parametrize(
    "path", [p for p in kineto_files() if p.stat().st_size <= BIG], ids=kineto_id
)
def test_evidence_file(path: Path) -> None:
    text = gzip.decompress(path.read_bytes())
    assert_alike(text)
