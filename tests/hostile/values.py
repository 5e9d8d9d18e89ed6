"""Traces whose values are absurd, of the wrong type, or contradict one another."""

from __future__ import annotations

import json
from typing import Any

from tests.hostile.containers import of
from tests.hostile.pieces import Event, changed, events, listed, raw, trace, with_args
from tests.hostile.running import ANSWER, ERROR, NOTHING, Case

ANY = ERROR | NOTHING | ANSWER
LAST = (1 << 63) - 1
SOUND = events()
WORDS = ["NaN", "Infinity", "-Infinity", "nan", "-inf", "null", "true", '"7"', "1e308", "-1e308"]


def everywhere(word: str) -> bytes:
    """The sound trace with every number that is written in it replaced by one word."""
    text = trace([{**e, "ts": "@", "dur": "@"} for e in SOUND]).replace(b'"@"', word.encode())
    return text


def only(key: str, word: str) -> bytes:
    return trace([{**e, key: "@"} for e in SOUND]).replace(b'"@"', word.encode())


def headed(key: str, value: Any) -> Case:
    label = json.dumps(value)[:40]
    return Case(f"{key} is {label}", of(trace(SOUND, **{key: value})), ANSWER)


def linked(value: str) -> bytes:
    return trace(with_args(correlation="@")).replace(b'"@"', value.encode())


def half(**values: Any) -> list[Event]:
    """The sound events; every other one with values replaced."""
    return [{**e, **values} if i % 2 else e for i, e in enumerate(events())]


def python(n: int, parent: Any) -> list[Event]:
    row = {"ph": "X", "cat": "python_function", "name": "f", "pid": 10, "tid": 10, "dur": 50}
    base = 1_000_000
    return [
        {**row, "ts": base + i, "args": {"Python id": i, "Python parent id": parent(i)}}
        for i in range(n)
    ]


HEADS: list[tuple[str, list[Any]]] = [
    ("deviceProperties", ["none", [1, 2.5, "x", None], {"id": 0}, [[[]]], [{"id": "0"}], 7, None]),
    ("deviceProperties", [[{"id": 0, "name": {"a": 1}, "numSms": "many", "totalGlobalMem": -1}]]),
    ("deviceProperties", [[{"id": 1 << 70, "name": "NVIDIA H100"}], [{"id": 0}] * 2]),
    ("distributedInfo", ["x", [1], 3, None, {"rank": "0"}, {"rank": 1.5}, {"rank": -1}]),
    ("distributedInfo", [{"rank": 1 << 80, "world_size": 1 << 80}, {"rank": True}]),
    ("distributedInfo", [{"rank": 3, "world_size": "8", "pg_config": "[0, 1]"}]),
    ("distributedInfo", [{"rank": 3, "world_size": -8, "pg_config": [[1], {"ranks": "x"}]}]),
    ("baseTimeNanoseconds", ["1700000000000000000", 1.7e18, -5, 1 << 70, None, [1], True, 1e308]),
    ("hostname", [7, "\u001b[31mhost\n", "<b>host</b>"]),
    ("schemaVersion", ["one", -1, {"a": 1}]),
    ("with_stack", ["yes", 2, None]),
    ("cuda_driver_version", ["12.4", {"a": []}]),
    ("displayTimeUnit", ["fortnight", 3]),
]

CASES = [
    *[Case(f"times are {w}", of(everywhere(w)), ANY) for w in WORDS],
    *[Case(f"durations are {w}", of(only("dur", w)), ANY) for w in WORDS],
    Case("process ids are text", of(trace(changed(pid="worker [0]", tid="main thread"))), ANSWER),
    Case("process ids are missing", of(trace(changed(pid=None, tid=None))), ANY),
    Case("process ids are floats", of(trace(changed(pid=1.5, tid=-2.5))), ANY),
    Case("process ids are huge", of(trace(changed(pid=1 << 64, tid=-(1 << 64)))), ANY),
    Case("process ids are lists", of(trace(changed(pid=[1], tid={"a": 1}))), ANY),
    Case("durations negative", of(trace(half(dur=-100))), ANSWER, "negative duration"),
    Case("durations zero", of(trace(changed(dur=0))), ANY),
    Case("durations past the last time", of(only("dur", str(LAST // 1000))), ANY),
    Case("durations of a century", of(trace(half(dur=3_000_000_000_000_000))), ANSWER, "104 days"),
    Case(
        "durations of 100 days",
        of(trace({**e, "dur": 86400_000_000 * 100} for e in events(200))),
        ANSWER,
    ),
    Case("starts negative", of(trace({**e, "ts": e["ts"] - 10**7} for e in SOUND)), ANSWER),
    Case("starts near the first time", of(trace(half(ts=-(LAST // 1000)))), ANY),
    Case("starts past the last time", of(trace(half(ts=LAST))), ANSWER, "out of range"),
    Case(
        "starts at both ends of time",
        of(listed([raw(ts=f"-{LAST // 1000}"), raw(ts=f"{LAST // 1000 - 10}")] * 5)),
        ANY,
    ),
    Case("starts all equal", of(trace(changed(ts=1_000_000))), ANY),
    Case("starts of forty digits", of(only("ts", "1" * 40)), ERROR, "out of range"),
    Case("starts of many decimals", of(only("ts", "1000." + "1" * 4000)), ANY),
    Case("starts with absurd exponents", of(only("ts", "1e999999999")), ANY),
    Case("starts with tiny exponents", of(only("ts", "1e-999999999")), ANY),
    Case("starts hexadecimal", of(only("ts", "0x10")), ANY),
    Case("arguments are a list", of(trace(changed(args=[1, 2]))), ANY),
    Case("arguments are text", of(trace(changed(args="correlation: 7"))), ANY),
    Case("arguments are a number", of(trace(changed(args=7))), ANY),
    Case("arguments are null", of(trace(changed(args=None))), ANY),
    *[
        Case(f"correlation is {w}", of(linked(w)), ANSWER)
        for w in (
            '"7"',
            '"x"',
            "1.5",
            "-1",
            "0",
            str((1 << 64) - 1),
            str(1 << 64),
            "1e400",
            "null",
            "[1]",
        )
    ],
    Case("stream and device are text", of(trace(with_args(stream="a", device="b"))), ANY),
    Case("stream and device negative", of(trace(with_args(stream=-1, device=-1))), ANY),
    Case("stream and device huge", of(trace(with_args(stream=1 << 65, device=1 << 65))), ANY),
    Case("bytes are absurd", of(trace(with_args(bytes=1 << 63, Bytes="-1"))), ANY),
    Case(
        "Python rows are their own parents", of(trace([*SOUND, *python(500, lambda i: i)])), ANSWER
    ),
    Case(
        "Python rows in a ring", of(trace([*SOUND, *python(500, lambda i: (i + 1) % 500)])), ANSWER
    ),
    Case("Python parents missing", of(trace([*SOUND, *python(500, lambda i: i + 10**9)])), ANSWER),
    Case("Python parents are text", of(trace([*SOUND, *python(500, lambda i: "x")])), ANSWER),
    *[headed(key, value) for key, values in HEADS for value in values],
]
