"""Clocks of host and device that disagree are told, however little, in units one can read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import laptime
from laptime.evidence.kineto_clocks import told


def events(
    skew_us: float,
    count: int = 40,
    every_us: float = 100,
    latency_us: float = 6,
    dur_us: float = 60,
    wait: bool = True,
    device: int = 0,
) -> list[dict[str, Any]]:
    """Launches with a kernel each, then a wait for the device; device rows ``skew_us`` too late."""
    host = {"ph": "X", "cat": "cuda_runtime", "pid": 1, "tid": 1}
    out: list[dict[str, Any]] = []
    over = 0.0
    for i in range(count):
        at = 1_000_000 + i * every_us
        args = {"correlation": i + 1}
        out.append(host | {"name": "cudaLaunchKernel", "ts": at, "dur": 4, "args": args})
        begin = max(at + latency_us, over)
        over = begin + dur_us
        kernel = {"ph": "X", "cat": "kernel", "name": "k", "pid": device, "tid": 7, "dur": dur_us}
        args = args | {"device": device, "stream": 7}
        out.append(kernel | {"ts": begin + skew_us, "args": args})
    if wait:
        begin = 1_000_000 + count * every_us
        out.append(
            host
            | {"name": "cudaDeviceSynchronize", "ts": begin, "dur": max(over + 3 - begin, 2)}
            | {"args": {"correlation": count + 1}}
        )
    return out


def warnings(tmp_path: Path, rows: list[dict[str, Any]]) -> list[str]:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": rows}))
    health = laptime.open(str(path)).health
    assert health.losses == []
    return [w.removeprefix(f"{path}: ") for w in health.warnings]


@pytest.mark.parametrize("skew_us", [0, -6, 3, -6.9])
def test_what_no_row_contradicts_is_not_said(tmp_path: Path, skew_us: float) -> None:
    """Latency is 6 us: a skew below it leaves no trace; 0.9 us are the rounding of whole us."""
    rows = events(skew_us, every_us=30) if skew_us > 0 else events(skew_us)
    assert warnings(tmp_path, rows) == []


@pytest.mark.parametrize(
    ("skew_us", "said"),
    [
        (-8, "40 of 40 device activities start before their own launch call, by up to 2.0 us"),
        (-11, "by up to 5.0 us: host and device clocks disagree by at least that"),
        (-56, "by up to 50.0 us"),
        (-5_006, "by up to 5.0 ms"),
        (-2_000_006, "by up to 2.0 s"),
        (-3_600_000_006, "40 of 40 device activities start before their own launch call, by up"),
        (-3_600_000_006, "by up to 1.0 h"),
    ],
)
def test_work_before_its_call(tmp_path: Path, skew_us: float, said: str) -> None:
    (warning,) = warnings(tmp_path, events(skew_us))
    assert said in warning
    assert "which lap device work belongs to are wrong by as much" in warning


def test_a_few_activities_are_enough(tmp_path: Path) -> None:
    """All but the first wait in the queue behind it: one in 400 shows the skew."""
    (warning,) = warnings(tmp_path, events(-11, count=400, every_us=5, dur_us=40))
    assert "1 of 400 device activities start before their own launch call, by up to 5.0 us" in (
        warning
    )


@pytest.mark.parametrize(("skew_us", "said"), [(8, "5.0 us"), (53, "50.0 us"), (1_003, "1.0 ms")])
def test_work_behind_the_wait_for_it(tmp_path: Path, skew_us: float, said: str) -> None:
    """The wait returns 3 us after the work is over."""
    (warning,) = warnings(tmp_path, events(skew_us, every_us=20))
    assert (
        f"device work ends up to {said} after the cudaDeviceSynchronize that waited for it "
        "returned (1 of 1 such calls)" in warning
    )


def test_a_wait_of_another_device_says_nothing(tmp_path: Path) -> None:
    other = [e | {"ts": e["ts"] - 10**4} for e in events(0, wait=False, device=1)]
    for e in other:
        e["args"] = e["args"] | {"correlation": e["args"]["correlation"] + 1000}
    assert warnings(tmp_path, other + events(53, every_us=20)) == []


def test_latency_that_is_never_short_may_be_the_clock(tmp_path: Path) -> None:
    (warning,) = warnings(tmp_path, events(5_000, wait=False))
    assert warning.startswith(
        "39 launches found their device idle, and none began sooner than 5.0 ms after its call: "
        "the device's clock may be ahead of the host's by up to that"
    )


def test_a_host_that_is_ahead_throughout_is_no_clock(tmp_path: Path) -> None:
    """The queue is never empty: latency is long because the device is busy."""
    rows = events(0, count=400, every_us=5, dur_us=40, latency_us=2_000, wait=False)
    assert warnings(tmp_path, rows) == []


def test_each_process_is_asked_by_itself(tmp_path: Path) -> None:
    """Ids are of a process: those that both use, the first at other times, say nothing."""
    second = [e | {"ts": e["ts"] + 10**7} for e in events(-56)]
    for e in second:
        e["args"] = e["args"] | {"correlation": e["args"]["correlation"] + 20}
        e.update({"pid": 2, "tid": 2} if e["cat"] != "kernel" else {"pid": 1})
        if e["cat"] == "kernel":
            e["args"] = e["args"] | {"device": 1}
    said = [w for w in warnings(tmp_path, events(0) + second) if "clocks" in w]
    assert len(said) == 1
    assert said[0].startswith(f"{tmp_path / 'trace.json'}, process 2: 40 of 40 device activities")


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (1_500, "1.5 us"),
        (999_900, "999.9 us"),
        (2_500_000, "2.5 ms"),
        (59_000_000_000, "59.0 s"),
        (3_600_000_000_000, "1.0 h"),
    ],
)
def test_units(ns: int, text: str) -> None:
    assert told(ns) == text
