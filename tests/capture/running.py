"""Programs run under ``laptime run``, and without it, to be compared."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 240


@dataclass(frozen=True)
class Ran:
    """How a run ended, and its folder."""

    code: int
    out: str
    err: str
    folder: Path

    @cached_property
    def processes(self) -> list[dict[str, Any]]:
        """What each process told, those without torch left out, by rank and pid."""
        found = [json.loads(p.read_text()) for p in self.folder.glob("p*/process.json")]
        with_torch = [p for p in found if p["torch"] is not None]
        return sorted(with_torch, key=lambda p: (p["rank"] or 0, p["pid"]))

    @property
    def trainers(self) -> list[dict[str, Any]]:
        return [p for p in self.processes if p["role"] == "trainer"]

    @property
    def capture(self) -> dict[str, Any]:
        said: dict[str, Any] = json.loads((self.folder / "capture.json").read_text())
        return said

    def lines(self, process: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
        path = self.folder / f"p{process['pid']}" / name
        return [json.loads(line) for line in path.read_text().splitlines()]

    def phases(self, process: Mapping[str, Any]) -> list[tuple[str, int]]:
        """Phases of the laps in a row, with how many laps each has."""
        found: list[tuple[str, int]] = []
        for lap in self.lines(process, "laps.jsonl"):
            if found and found[-1][0] == lap["phase"]:
                found[-1] = (lap["phase"], found[-1][1] + 1)
            else:
                found.append((lap["phase"], 1))
        return found


def command(folder: Path, options: Sequence[str], words: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "laptime", "run", "-o", str(folder), *options, *words]


def environment() -> dict[str, str]:
    """Ours, without what would choose another interpreter or another output."""
    drop = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "COLUMNS")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    return env | {"OMP_NUM_THREADS": "1"}


def run(folder: Path, words: Sequence[str], options: Sequence[str] = (), **more: Any) -> Ran:
    """Run to the end; ``folder`` must not exist."""
    done = subprocess.run(
        command(folder, options, words),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=environment(),
        **more,
    )
    return Ran(done.returncode, done.stdout, done.stderr, folder)


def alone(words: Sequence[str], **more: Any) -> subprocess.CompletedProcess[str]:
    """Run without laptime."""
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
        env=environment(),
        **more,
    )


def program(name: str) -> str:
    return str(PROGRAMS / f"{name}.py")
