"""The sampler on real processes: whole lines, totals that only grow, children found, no harm."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from laptime.capture.sampler import Sampler, SamplerReport

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="host counters are read on Linux only"
)

PROGRAM = """
import subprocess, sys, threading, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep({life})"])
thread = threading.Thread(target=lambda: [subprocess.run([sys.executable, "-c",
    "import time; time.sleep({life})"])])
thread.start()
end = time.monotonic() + {life}
while time.monotonic() < end:
    sum(range(1000))
child.wait(); thread.join()
"""


def sampled(folder: Path, life: float = 1.5, hz: float = 50.0) -> tuple[SamplerReport, list[Any]]:
    program = subprocess.Popen([sys.executable, "-c", PROGRAM.format(life=life)])
    try:
        sampler = Sampler(program.pid, folder, hz).start()
        assert program.wait(60) == 0
        report = sampler.stop()
    finally:
        program.kill()
    return report, [json.loads(x) for x in (folder / "host.jsonl").read_text().splitlines()]


def test_a_tree_of_three_is_seen_and_its_totals_only_grow(tmp_path: Path) -> None:
    report, lines = sampled(tmp_path)
    ticks = lines[:-1]
    assert lines[-1]["sampler"]["ticks"] == report.ticks == len(ticks)
    assert [t["t"] for t in ticks] == sorted({t["t"] for t in ticks})
    by_pid: dict[int, list[Any]] = {}
    for tick in ticks:
        for one in tick["procs"]:
            by_pid.setdefault(one["pid"], []).append(one)
    root = min(by_pid)
    assert len(by_pid) == 3
    assert {p["ppid"] for pid, ps in by_pid.items() if pid != root for p in ps} == {root}
    for readings in by_pid.values():
        for name in ("utime", "run_ns", "wait_ns", "minflt", "rchar", "vcs"):
            values = [r[name] for r in readings if r[name] is not None]
            assert values == sorted(values)
        assert "cpus" in readings[0]
        assert all("cpus" not in r for r in readings[1:])
    busy = by_pid[root][-1]
    still = max(p[-1]["run_ns"] or 0 for pid, p in by_pid.items() if pid != root)
    assert busy["run_ns"] is None or busy["run_ns"] > still


def test_time_on_a_cpu_agrees_with_the_kernels_ticks(tmp_path: Path) -> None:
    _, lines = sampled(tmp_path)
    last = {p["pid"]: p for t in lines[:-1] for p in t["procs"]}
    root = last[min(last)]
    if root["run_ns"] is None:
        pytest.skip("this kernel keeps no schedstat")
    ticks = root["utime"] + root["stime"]
    assert root["run_ns"] == pytest.approx(ticks, abs=60_000_000, rel=0.1)


def test_stopping_early_leaves_the_program_alone(tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        sampler = Sampler(program.pid, tmp_path, 20.0).start()
        time.sleep(0.3)
        first, second = sampler.stop(), sampler.stop()
        assert first == second
        assert first.ticks >= 2
        assert program.poll() is None
    finally:
        program.kill()
        program.wait()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    report = Sampler(1, tmp_path / "absent", 20.0).start().stop()
    assert report.ticks == 0
    assert [p.partition(":")[0] for p in report.problems] == ["host counters ended early"]


def test_another_system_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    report = Sampler(1, tmp_path).start().stop()
    assert report.problems == ("host counters: read on Linux only (this is darwin)",)
    assert report.core_share is None
    assert list(tmp_path.iterdir()) == []


def test_absent_counters_are_null_with_the_reason(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "7" / "task").mkdir(parents=True)
    stat = " ".join(["7", "(odd ) name)", "S", "1", *["0"] * 15, "1", "0", "0", "0", "25", "0"])
    (proc / "7" / "stat").write_text(stat)
    (proc / "loadavg").write_text("0 0 0 1/1 7")
    sampler = Sampler(7, tmp_path, 50.0, proc=str(proc), cgroups=str(tmp_path / "none")).start()
    time.sleep(0.2)
    report = sampler.stop()
    lines = [json.loads(x) for x in (tmp_path / "host.jsonl").read_text().splitlines()]
    one = lines[0]["procs"][0]
    assert one["comm"] == "odd ) name"
    assert {n for n in one if one[n] is None} >= {"run_ns", "wait_ns", "rchar", "vcs"}
    assert (lines[0]["psi"], lines[0]["cgroup"], lines[0]["cpu"]) == (None, None, None)
    said = " ".join(report.problems)
    for word in ("run-queue", "pressure", "CPU time", "throttling", "bytes read"):
        assert word in said
