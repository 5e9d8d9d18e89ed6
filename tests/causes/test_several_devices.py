"""One process with several devices: whose figures the verdict and a finding's head have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from laptime.cli import main

LAPS, LAP_US = 6, 1000
BUSY_US = {0: 500, 1: 340}


def _trace(path: Path, devices: tuple[int, ...]) -> str:
    """Laps of 1000 us of one thread, that launches one kernel to each device: gpu0 works for
    500 us of each and gpu1 for 340 us."""
    events: list[dict[str, Any]] = []

    def row(cat: str, name: str, ts: int, dur: int, tid: int = 1, **args: int) -> None:
        on = {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid}
        events.append({**on, "ts": ts, "dur": dur, "args": args})

    for lap in range(LAPS):
        at = LAP_US * (lap + 1)
        row("user_annotation", f"ProfilerStep#{lap}", at, LAP_US)
        for device in devices:
            id_ = 10 * lap + device + 1
            begin = at + 10 + 20 * device
            row("cuda_runtime", "cudaLaunchKernel", begin, 5, correlation=id_)
            busy = {"correlation": id_, "device": device, "stream": 7}
            row("kernel", "work", begin + 10, BUSY_US[device], 7, **busy)
    path.write_text(json.dumps({"traceEvents": events}))
    return str(path)


def _said(capsys: Any, *argv: str) -> str:
    assert main(["explain", *argv, "--width", "400"]) == 0
    return str(capsys.readouterr().out)


def test_the_device_is_named(tmp_path: Path, capsys: Any) -> None:
    """gpu1 is idle for 660 us of a lap, 5 us of it in launch latency: 655 us are the host's."""
    trace = _trace(tmp_path / "two.json", (0, 1))
    text = _said(capsys, trace)
    assert text.startswith("Launch-bound host: the device waits 655 us of each 1.00 ms lap (66 %)")
    assert text.splitlines()[0].endswith("a lap (gpu1, one of 2 devices).")
    assert "1. Launch-bound host (launch-bound, gpu1), 66% of the lap" in text
    assert _said(capsys, trace, "--why", "launch-bound").startswith(
        "Launch-bound host (launch-bound, gpu1), 66% of the lap"
    )
    assert "Launch-bound host (launch-bound, gpu1)" in _said(capsys, trace, "--markdown", "-")


def test_the_device_of_a_rank_is_named(tmp_path: Path, capsys: Any) -> None:
    for rank in (0, 1):
        _trace(tmp_path / f"rank{rank}.json", (0, 1))
    text = _said(capsys, str(tmp_path))
    assert text.splitlines()[0].endswith(
        "a lap (rank0/gpu1, one of 2 devices; rank 0; found on 2 of 2)."
    )
    assert "both ranks, worst by bound: rank 0 (rank0/gpu1)" in text


def test_one_device_is_not(tmp_path: Path, capsys: Any) -> None:
    trace = _trace(tmp_path / "one.json", (1,))
    text = _said(capsys, trace)
    assert text.splitlines()[0].endswith("1 kernel of mean 340 us a lap.")
    assert "1. Launch-bound host (launch-bound), 66% of the lap" in text


def test_one_process_of_several_is_no_plural(tmp_path: Path, capsys: Any) -> None:
    """Of two processes without ranks one has launch calls and no device rows."""
    whole = _trace(tmp_path / "a.json", (0,))
    events = json.loads(Path(whole).read_text())["traceEvents"]
    calls = [e for e in events if e["cat"] != "kernel"]
    (tmp_path / "b.json").write_text(json.dumps({"traceEvents": calls}))
    text = _said(capsys, whole, str(tmp_path / "b.json"))
    assert "1 process " in text
    assert "1 processes" not in text
