"""Keys written with JSON escapes are the same keys: "\\u0070id" is pid."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scan import oracle

ARGS: dict[str, Any] = {
    "External id": 12,
    "correlation": 77,
    "device": 3,
    "stream": 7,
    "bytes": 4096,
    "Python id": 5,
    "Python parent id": 4,
    "Collective name": "allreduce",
    "wait_on_cuda_event_record_corr_id": 9,
    "unwanted": [1, {"a": 2}],
}
ITEM: dict[str, Any] = {
    "ph": "X",
    "cat": "kernel",
    "name": "gemm",
    "pid": 1,
    "tid": 2,
    "ts": 5,
    "dur": 7,
    "args": ARGS,
}
FLOW: dict[str, Any] = {"ph": "s", "id": 4, "pid": 1, "tid": 2, "ts": 5, "cat": "ac2g", "name": "x"}


def written(value: Any, which: Any) -> str:
    """JSON of a value, with the letters of keys escaped for which ``which(key, at)`` holds."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{key(k, which)}: {written(v, which)}" for k, v in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(written(v, which) for v in value) + "]"
    return json.dumps(value)


def key(text: str, which: Any) -> str:
    return (
        '"' + "".join(f"\\u{ord(c):04x}" if which(text, i) else c for i, c in enumerate(text)) + '"'
    )


def compare(text: str, chunk: int = 1 << 20) -> None:
    raw = text.encode()
    oracle.same(oracle.scan(raw, chunk), oracle.read(raw), raw)


@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
@pytest.mark.parametrize("where", ["all", "first", "last"])
def test_every_key_of_an_item(where: str, chunk: int) -> None:
    def which(text: str, at: int) -> bool:
        return where == "all" or at == (0 if where == "first" else len(text) - 1)

    compare(written({"traceEvents": [ITEM, FLOW, ITEM]}, which), chunk)


def test_values_are_read_and_not_absent() -> None:
    text = written({"traceEvents": [ITEM]}, lambda _, at: at == 0)
    found = oracle.scan(text.encode())
    assert found.lanes == [(1, 2, 3, 7)]
    assert (found.start_ns.tolist(), found.dur_ns.tolist()) == ([5_000], [7_000])
    assert found.correlation is not None
    assert found.correlation.tolist() == [77]
    assert found.int_args["bytes"][1].tolist() == [4096]


def test_an_escaped_key_is_a_duplicate_of_the_plain_one() -> None:
    compare('[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"\\u0070id":9,"tid":1}]')


def test_keys_too_long_or_with_bad_escapes_are_other_keys() -> None:
    long = "\\u0070" * 400
    compare('[{"ph":"X","name":"a","ts":1,"' + long + '":3,"dur":2,"pid":1,"tid":1}]')
    text = '[{"ph":"X","name":"a","ts":1,"\\qpid":3,"\\ud800":4,"dur":2,"pid":1,"tid":1}]'
    found = oracle.scan(text.encode())
    assert found.lanes == [(1, 1, None, None)]


@given(
    st.lists(st.sampled_from([ITEM, FLOW]), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_any_letters_of_any_keys(items: list[dict[str, Any]], draw: Any) -> None:
    share = draw.choice([0.02, 0.2, 0.9])
    compare(
        written({"traceEvents": items}, lambda *_: draw.random() < share),
        draw.choice([3, 64, 1 << 20]),
    )
