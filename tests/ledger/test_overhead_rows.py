"""Overhead rows: what the driver loads is compilation; the rest is what the profiler cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import laptime

PERIOD_US = 10_000
LAPS = 4


def loop(overhead: str, cat: str = "overhead") -> list[dict[str, Any]]:
    """Laps whose device is idle from the middle on, 1 ms of it under an overhead row."""
    events: list[dict[str, Any]] = []
    for lap in range(LAPS):
        at = lap * PERIOD_US
        number = lap + 1
        host = {"ph": "X", "pid": 1, "tid": 1}
        events += [
            host
            | {
                "cat": "user_annotation",
                "name": f"ProfilerStep#{lap}",
                "ts": at,
                "dur": PERIOD_US - 10,
            },
            host
            | {
                "cat": "cuda_runtime",
                "name": "cudaLaunchKernel",
                "ts": at + 10,
                "dur": 5,
                "args": {"correlation": number},
            },
            {
                "ph": "X",
                "cat": "kernel",
                "name": "gemm",
                "pid": 0,
                "tid": 7,
                "ts": at + 20,
                "dur": 5_000,
                "args": {"correlation": number, "device": 0, "stream": 7},
            },
            host | {"cat": cat, "name": overhead, "ts": at + 7_000, "dur": 1_000},
        ]
    return events


@pytest.mark.parametrize(
    ("name", "account"),
    [
        ("Lazy Function Loading", "compile"),
        ("CUDA Module Loading", "compile"),
        ("Runtime Triggered Module Loading", "compile"),
        ("Driver Compiler", "compile"),
        ("Activity Buffer Request", "profiler"),
        ("Instrumentation", "profiler"),
        ("Unknown", "profiler"),
    ],
)
def test_whose_overhead_it_is(tmp_path: Path, name: str, account: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": loop(name)}))
    ledger = laptime.explain(laptime.open(path)).views[0].ledger
    (device,) = ledger.devices
    other = {"compile": "profiler", "profiler": "compile"}[account]
    assert device.window_ns(account).tolist()[:-1] == [1_000_000] * (LAPS - 1)
    assert device.window_ns(other).tolist()[:-1] == [0] * (LAPS - 1)
    said = any("no profiler overhead rows" in note for note in device.notes)
    assert said == (account == "compile")
