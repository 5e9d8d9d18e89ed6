"""Programs as users write them, unmodified: what they print, how they end, which laps are found."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

import laptime
from tests.capture import running
from tests.capture.running import Ran

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]


def same(folder: Path, words: Sequence[str], options: Sequence[str] = ()) -> Ran:
    """Run under laptime and alone: code and output must not differ."""
    before = running.alone(words)
    ran = running.run(folder, words, options)
    assert (ran.code, ran.out) == (before.returncode, before.stdout)
    assert ran.code == 0, ran.err
    assert ran.capture["problems"] == []
    return ran


WINDOW = [("warmup", 5), ("plain", 10), ("warmup", 1), ("recorded", 5)]

EXPECTED = {
    "class_trainer": ("optimizer", {16}, 0),
    "iterable_workers": ("optimizer", {16}, 2),
    "spawned_workers": ("optimizer", {16}, 2),
    "inference_server": ("module", {None}, 0),
    "evaluation": ("loader", {10}, 0),
    "marked": ("mark", {None}, 0),
}
"""Source of the laps, samples of each lap, loader workers."""


@pytest.mark.parametrize("name", EXPECTED)
def test_one_process(tmp_path: Path, name: str) -> None:
    ran = same(tmp_path / "run", [running.program(name)])
    source, samples, workers = EXPECTED[name]
    (trainer,) = ran.trainers
    assert (trainer["state"], trainer["lap_source"]) == ("recorded", source)
    assert ran.phases(trainer)[:4] == WINDOW
    laps = [lap for lap in ran.lines(trainer, "laps.jsonl") if lap["phase"] == "recorded"]
    assert {lap["items"] for lap in laps} == samples
    told = [p for p in ran.processes if p["role"] == "loader_worker"]
    assert len(told) == workers
    if workers:
        named = [e["pid"] for e in ran.lines(trainer, "events.jsonl") if e["k"] == "worker"]
        assert sorted(named) == sorted(p["pid"] for p in told)
        assert {p["ppid"] for p in told} == {trainer["pid"]}
    (view,) = laptime.explain(laptime.open(ran.folder)).views
    assert len(view.ledger.laps.laps) == 5


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def both_ranks(ran: Ran) -> None:
    assert [t["rank"] for t in ran.trainers] == [0, 1]
    for trainer in ran.trainers:
        assert (trainer["state"], trainer["world_size"]) == ("recorded", 2)
        assert ran.phases(trainer)[:4] == WINDOW
    windows = [t["window"]["first_lap"] for t in ran.trainers]
    assert windows == [16, 16]
    assert [t.rank for t in laptime.open(ran.folder).timelines] == [0, 1]


def test_two_ranks_by_spawn(tmp_path: Path) -> None:
    both_ranks(same(tmp_path / "run", [running.program("ddp_spawn"), str(free_port())]))


def test_two_ranks_by_torchrun(tmp_path: Path) -> None:
    words = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
    words += ["--master-port", str(free_port()), running.program("ddp_torchrun")]
    ran = same(tmp_path / "run", words)
    both_ranks(ran)
    launcher = [p for p in ran.processes if p["role"] == "launcher"]
    assert len(launcher) == 1


FRAMEWORKS = {
    "lightning_fit": "lightning",
    "hf_trainer": "transformers",
    "accelerated": "accelerate",
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_frameworks(tmp_path: Path, name: str) -> None:
    module = FRAMEWORKS[name]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: pip install {module}")
    ran = running.run(tmp_path / "run", [running.program(name)], cwd=tmp_path)
    assert ran.code == 0, ran.err
    (trainer,) = ran.trainers
    assert (trainer["state"], trainer["lap_source"]) == ("recorded", "optimizer")
    assert ran.phases(trainer)[:4] == WINDOW
