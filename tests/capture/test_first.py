"""A plain training loop, from ``laptime run`` to its explanation."""

from __future__ import annotations

import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

import pytest

import laptime
from tests.capture import running
from tests.capture.running import Ran

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("capture") / "run"
    return running.run(folder, [running.program("plain_loop"), "2"], ["--laps", "6"])


def test_program_is_as_without(ran: Ran) -> None:
    without = running.alone([running.program("plain_loop"), "2"])
    assert (ran.code, ran.out) == (0, without.stdout)


def test_laps_are_the_optimizer_steps(ran: Ran) -> None:
    (trainer,) = ran.trainers
    assert (trainer["state"], trainer["lap_source"]) == ("recorded", "optimizer")
    assert ran.phases(trainer)[:4] == [
        ("warmup", 5),
        ("plain", 10),
        ("warmup", 1),
        ("recorded", 6),
    ]
    laps = ran.lines(trainer, "laps.jsonl")
    assert [lap["n"] for lap in laps] == list(range(len(laps)))
    assert {lap["items"] for lap in laps} == {16}
    assert (trainer["window"]["first_lap"], trainer["window"]["laps"]) == (16, 6)


def test_trace_has_the_laps_and_both_clocks(ran: Ran) -> None:
    (trainer,) = ran.trainers
    path = ran.folder / f"p{trainer['pid']}" / "trace.json.gz"
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    marks = [e for e in events if str(e.get("name")).startswith("ProfilerStep#")]
    assert [e["name"] for e in marks] == [f"ProfilerStep#{n}" for n in range(16, 22)]
    clocks = [e for e in events if str(e.get("name")).startswith("laptime.clock/")]
    assert len(clocks) == 8
    told = ran.lines(trainer, "laps.jsonl")[16:22]
    # A mark starts and ends a moment after the lap as the probe timed it.
    off = [
        m["dur"] * 1000 - (lap["end"] - lap["start"]) for m, lap in zip(marks, told, strict=True)
    ]
    assert abs(median(off)) < 500_000
    ends = {int(c["name"].split("/")[1]): int(c["name"].split("/")[2]) for c in clocks}
    window = trainer["window"]
    assert ends[window["start_mono_ns"]] == window["start_wall_ns"]
    assert ends[window["end_mono_ns"]] == window["end_wall_ns"]


def test_clocks_agree_at_both_ends_to_microseconds(ran: Ran) -> None:
    """Of several marks at each end the least delayed counts; the first is 0.1 ms late."""
    (timeline,) = laptime.open(ran.folder).timelines
    assert timeline.capture is not None
    assert timeline.capture.clock is not None
    residual = timeline.capture.clock.residual_ns
    assert residual is not None
    assert abs(residual) < 50_000
    assert "trace and host counters joined by two marks, residual" in ran.err


def test_report_follows_the_program_on_stderr(ran: Ran) -> None:
    assert "6 laps counted by laptime run: optimizer" in ran.err
    assert "the recording is in" in ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "laptime: the recording is removed; -o DIR keeps it"),
        (["--laps", "0"], "laptime: no explanation: --laps 0 records no lap"),
    ],
)
def test_what_is_not_kept_or_not_recorded_is_said(
    options: list[str], said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "laptime", "run", *options, running.program("plain_loop"), "2"],
        capture_output=True,
        text=True,
        timeout=running.LIMIT_S,
        check=False,
        env=running.environment() | {"TMPDIR": str(tmp_path)},
    )
    assert done.returncode == 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("laptime-run-*"))


def test_the_folder_is_evidence(ran: Ran) -> None:
    answer = laptime.explain(laptime.open(ran.folder))
    (view,) = answer.views
    assert len(view.ledger.laps.laps) == 6
    (capture,) = answer.run.captures
    assert capture.exit_code == 0
