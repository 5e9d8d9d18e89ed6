"""``laptime run`` as a command: its forms, its options, and a capture that fails."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.capture import running
from tests.capture.running import Ran

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def stopped(ran: Ran) -> None:
    assert ran.code == 0
    assert ran.capture["stopped"] is True
    assert ran.capture["problems"] == []
    for process in ran.processes:
        assert not alive(process["pid"])


def test_program_is_stopped_once_its_laps_are_recorded(tmp_path: Path) -> None:
    begin = time.monotonic()
    ran = running.run(
        tmp_path / "run", [running.program("plain_loop"), "100000"], ["--then", "stop"]
    )
    assert time.monotonic() - begin < 60
    stopped(ran)
    (trainer,) = ran.trainers
    assert (trainer["state"], trainer["window"]["laps"]) == ("recorded", 5)
    assert "5 laps counted by laptime run: optimizer" in ran.err


def test_what_a_stopped_program_leaves_behind_is_stopped_too(tmp_path: Path) -> None:
    ran = running.run(tmp_path / "run", [running.program("stubborn")], ["--then", "stop"])
    stopped(ran)
    assert len(ran.processes) == 2


def test_module_and_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "train.py").write_text(
        "import sys, torch\nprint(sys.argv[1:], __name__, sys.path[0])\n"
    )
    words = ["-m", "package.train", "--epochs", "1", "-o", "theirs"]
    before = running.alone(words, cwd=tmp_path)
    ran = running.run(tmp_path / "run", words, cwd=tmp_path)
    assert (ran.code, ran.out) == (0, before.stdout)
    assert ran.out.startswith("['--epochs', '1', '-o', 'theirs'] __main__")


def test_a_program_after_two_dashes(tmp_path: Path) -> None:
    words = ["--", "sh", "-c", "echo out; echo err >&2; exit 7", "--then", "stop"]
    ran = running.run(tmp_path / "run", words)
    assert (ran.code, ran.out) == (7, "out\n")
    assert "err\n" in ran.err
    assert "the probe was not loaded: no Python process of the command read" in ran.err


@pytest.mark.parametrize(
    ("source", "state", "laps"),
    [("loader", "recorded", 3), ("module", "waiting", None), ("mark", "waiting", None)],
)
def test_laps_from(tmp_path: Path, source: str, state: str, laps: int | None) -> None:
    options = ["--laps-from", source, "--laps", "3", "--no-explain"]
    ran = running.run(tmp_path / "run", [running.program("plain_loop"), "4"], options)
    assert ran.code == 0
    (process,) = ran.processes
    assert process["state"] == state
    assert (process["window"] or {}).get("laps") == laps
    assert process["lap_source"] == (source if laps else None)


def test_closed_interpreter_is_said_and_the_program_runs(tmp_path: Path) -> None:
    words = ["--", sys.executable, "-I", "-c", "print('ran')"]
    ran = running.run(tmp_path / "run", words)
    assert (ran.code, ran.out) == (0, "ran\n")
    assert "the probe will not be loaded" in ran.err
    assert "-I isolates it from PYTHONPATH; the program runs without it" in ran.err


def test_folder_lost_while_the_program_runs(tmp_path: Path) -> None:
    """The recording is gone half-way: the program still ends as it would, and it is said."""
    program = tmp_path / "losing.py"
    program.write_text(
        "import os, sys\n"
        f"sys.path.insert(0, {str(running.PROGRAMS)!r})\n"
        f"os.rename({str(tmp_path / 'run')!r}, {str(tmp_path / 'elsewhere')!r})\n"
        "from endings import main\n"
        "main('nothing')\n"
        "sys.exit(6)\n"
    )
    ran = running.run(tmp_path / "run", [str(program)])
    assert (ran.code, ran.out) == (6, "at 19\nto the end\n")
    assert "Traceback" not in ran.err
    assert "laptime: " in ran.err


def test_json_to_stdout_is_the_explanation(tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    words = [running.program("plain_loop"), "2"]
    ran = running.run(tmp_path / "run", words, ["--json", str(path)])
    assert (ran.code, ran.out) == (0, running.alone(words).stdout)
    said = json.loads(path.read_text())
    (capture,) = said["capture"]
    assert capture["lap_source"] == "optimizer"
    assert capture["unit"] == "samples"
    assert (capture["plain_laps"], capture["items_laps"], capture["recorded_laps"]) == (20, 20, 5)
    mean_s = capture["plain_mean_ns"] / 1e9
    assert capture["items_per_s"] == pytest.approx(16 / mean_s, rel=1e-6)
    assert capture["cost_low"] < capture["cost"] < capture["cost_high"]
    assert capture["clock"] == "marks"


def test_hooks_are_gone_after_the_last_counted_lap(tmp_path: Path) -> None:
    program = tmp_path / "looking.py"
    program.write_text(
        "import torch\n"
        "from torch.utils.data import dataloader\n"
        f"exec(open({running.program('plain_loop')!r}).read())\n"
        "for f in (torch.optim.Adam.step, dataloader._BaseDataLoaderIter.__next__,\n"
        "          torch.nn.Module.__call__):\n"
        "    path = f.__code__.co_filename\n"
        "    print(path.rpartition('site-packages')[1] or path)\n"
    )
    words = [str(program), "3"]
    ran = running.run(tmp_path / "run", words, ["--no-explain"])
    assert ran.out == running.alone(words).stdout
    assert ran.out.endswith("site-packages\n" * 3)


def test_counted_laps_are_all_written(tmp_path: Path) -> None:
    """Short laps are written some at a time; none is lost at a normal end, or before a window."""
    options = ["--warmup", "3", "--plain", "100", "--laps", "2", "--no-explain"]
    ran = running.run(tmp_path / "run", [running.program("plain_loop"), "3"], options)
    (trainer,) = ran.trainers
    phases = [("warmup", 3), ("plain", 100), ("warmup", 1), ("recorded", 2), ("after", 2)]
    # Three epochs of 40 steps: the first step opens lap 0.
    assert ran.phases(trainer) == [*phases, ("plain", 119 - 108)]
    laps = ran.lines(trainer, "laps.jsonl")
    assert [lap["n"] for lap in laps] == list(range(119))
    assert {lap["items"] for lap in laps} == {16}
    touching = [a["end"] == b["start"] for a, b in pairwise(laps)]
    assert touching.count(False) <= 4  # where the window was opened, begun and written
    assert os.path.getsize(ran.folder / f"p{trainer['pid']}" / "trace.json.gz") > 0
