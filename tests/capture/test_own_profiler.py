"""Programs with a profiler of their own: it comes first, in whatever order the two would start."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture import running

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="torch is not installed"
)

TAKEN = "the program's own profile was taken"
ARMED = "the program's own profiler was armed"
# Ours opens with lap 16, after one lap of its own warm-up, and would record laps 16 to 20.
ORDERS: dict[str, tuple[str, int | None, str | None, bool]] = {
    "ours first": ("counting", None, TAKEN, True),
    "theirs first": ("counting", None, TAKEN, True),
    "theirs around": ("counting", None, TAKEN, True),
    "in our warm-up": ("counting", None, TAKEN, True),
    "theirs after": ("recorded", 5, None, False),
    "legacy first": ("counting", None, TAKEN, True),
    "legacy in ours": ("recorded", 1, ARMED, False),
    "legacy unexported": ("recorded", 5, None, False),
    "nvtx": ("recorded", 1, ARMED, False),
    "thread first": ("counting", None, TAKEN, True),
}
"""State, laps of our window, reason, and whether the answer is from the program's own trace."""


def steps_in(path: Path) -> list[str]:
    events = json.loads(path.read_text())["traceEvents"]
    return [e["name"] for e in events if str(e.get("name")).startswith("ProfilerStep#")]


@pytest.mark.parametrize(
    "how",
    ["ours first", *(pytest.param(h, marks=pytest.mark.slow) for h in list(ORDERS)[1:])],
)
def test_order(tmp_path: Path, how: str) -> None:
    alone, ours = tmp_path / "alone.json", tmp_path / "ours.json"
    words = [running.program("own_profiler"), how]
    before = running.alone([*words, str(alone)])
    ran = running.run(tmp_path / "run", [*words, str(ours)], ["--no-explain"])
    assert (ran.code, ran.out) == (before.returncode, before.stdout) == (0, before.stdout)
    (trainer,) = ran.trainers
    window: Any = trainer["window"] or {}
    state, laps, reason, theirs = ORDERS[how]
    assert (trainer["state"], window.get("laps"), trainer["reason"]) == (state, laps, reason)
    assert trainer.get("user_trace") == (str(ours) if theirs else None)
    # Their profile is what it is without us.
    assert ours.exists() == alone.exists()
    if alone.exists():
        assert steps_in(ours) == steps_in(alone)
    # No lap that their profiler saw is called plain.
    events = ran.lines(trainer, "events.jsonl")
    told = [e for e in events if e["k"] == "user_profiler"]
    starts = [e["t"] for e in told if e["op"] in ("prepare", "start")]
    stops = [e["t"] for e in told if e["op"] == "stop"]
    for lap in ran.lines(trainer, "laps.jsonl"):
        if how != "thread first" and lap["phase"] == "plain":
            assert lap["end"] <= starts[0] or lap["start"] >= stops[-1]


@pytest.mark.slow
def test_profiler_in_another_thread_while_ours_runs(tmp_path: Path) -> None:
    """Ours is ended by the thread that it belongs to, and the other's works."""
    path = tmp_path / "theirs.json"
    words = [running.program("own_profiler"), "thread", str(path)]
    ran = running.run(tmp_path / "run", words, ["--no-explain", "--laps", "1000"])
    assert (ran.code, ran.out) == (0, "thread [1]\n")
    (trainer,) = ran.trainers
    assert (trainer["state"], trainer["reason"]) == ("recorded", ARMED)
    assert 1 <= trainer["window"]["laps"] < 1000
    assert path.exists()
