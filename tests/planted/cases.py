"""One case: a program with its fault and its clean twin, both under ``laptime run``, and the
judgement of what it answered."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.planted.declared import Kind

PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 180
LEAST_COST = 1.1
"""Planted lap over clean lap, by the programs' own clocks: a fault that costs less is none."""
LOUD = 0.05
"""Share of the lap from which a bounded finding on a clean program is a false alarm."""
TRIES = 2
"""How often the pair runs before the case is given up because its fault costs too little."""
SKIPPED = 6
"""First laps that the clock leaves out: warm-up."""


@dataclass(frozen=True)
class Answer:
    """What a run told of itself and what laptime told of it."""

    lap_ns: float
    """Mean of the program's own laps without the recorded ones and without both tails."""
    findings: tuple[tuple[str, float | None], ...]
    """Ids in order, each with its bound as a share of the mean lap; None where it has no bound."""
    verdict: str
    others_cores: float
    """Cores that programs outside this run used meanwhile."""

    @property
    def first(self) -> str | None:
        return self.findings[0][0] if self.findings else None

    @property
    def loud(self) -> tuple[str, ...]:
        return tuple(i for i, share in self.findings if share is not None and share > LOUD)


@dataclass(frozen=True)
class Case:
    """A pair of twins, judged."""

    program: str
    seed: int
    accepted: tuple[str, ...]
    planted: Answer
    clean: Answer
    drawn: Mapping[str, Any] = field(default_factory=dict)
    tries: int = 1

    @property
    def cost(self) -> float:
        return self.planted.lap_ns / self.clean.lap_ns

    @property
    def counts(self) -> bool:
        """Whether the twin shows that the fault costs a tenth of the lap."""
        return self.cost >= LEAST_COST

    @property
    def right(self) -> bool:
        return self.planted.first in self.accepted

    @property
    def false_alarm(self) -> bool:
        return bool(self.clean.loud)

    def line(self) -> str:
        said = "not counted" if not self.counts else "right" if self.right else "WRONG"
        alarm = f"  clean: {', '.join(self.clean.loud)}" if self.false_alarm else ""
        return (
            f"{self.program:22} seed {self.seed:<6} x{self.cost:5.2f} "
            f"{self.planted.lap_ns / 1e6:6.1f} ms  {said:11} {_ids(self.planted)}{alarm}"
            f"  [others {self.planted.others_cores:.1f}/{self.clean.others_cores:.1f}]"
        )

    def record(self) -> dict[str, Any]:
        told = asdict(self)
        told.update(cost=self.cost, counts=self.counts, right=self.right, alarm=self.false_alarm)
        return told


def run(kind: Kind, seed: int) -> Case:
    """Run the twins, once more where the fault seems to cost too little: the host is shared."""
    for tried in range(1, TRIES + 1):
        (planted, drawn), (clean, _) = (answer(kind, seed, planted=p) for p in (True, False))
        case = Case(kind.program, seed, tuple(sorted(kind.accepted)), planted, clean, drawn, tried)
        if case.counts:
            break
    return case


def answer(kind: Kind, seed: int, *, planted: bool) -> tuple[Answer, dict[str, Any]]:
    """Run one twin under ``laptime run``."""
    with tempfile.TemporaryDirectory() as place:
        folder, told, found = (Path(place, n) for n in ("run", "told.json", "found.json"))
        twin = ["--planted" if planted else "--clean", "--seed", str(seed), "--told", str(told)]
        words = [str(PROGRAMS / f"{kind.program}.py"), *twin]
        if kind.launcher:
            words = ["--", sys.executable, *kind.launcher, *words]
        command = [sys.executable, "-m", "laptime", "run", "-o", str(folder), "--json", str(found)]
        with _beside(kind.neighbour if planted else None):
            before, start = _busy_s(), time.monotonic()
            done = subprocess.run(
                [*command, *words],
                capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=place,
                env=_environment(),
            )  # fmt: skip
            wall = time.monotonic() - start
            host, own = (b - a for a, b in zip(before, _busy_s(), strict=True))
        if done.returncode or not found.exists():
            raise RuntimeError(f"{kind.program} {seed}: {done.returncode}\n{done.stderr[-2000:]}")
        clock = json.loads(told.read_text())
        said = json.loads(found.read_text())
        others = max(0.0, host - own) / wall
        return Answer(
            _lap_ns(clock["ends_ns"], folder), _findings(said), said["verdict"], round(others, 2)
        ), clock["drawn"]


@contextmanager
def _beside(program: str | None) -> Iterator[None]:
    """Another program on the host, as long as this one runs."""
    if program is None:
        yield
        return
    with subprocess.Popen([sys.executable, str(PROGRAMS / f"{program}.py")]) as neighbour:
        try:
            yield
        finally:
            neighbour.terminate()


def _environment() -> dict[str, str]:
    """Ours, without what would choose another interpreter, other threads or other output.

    Idle threads of the pool sleep rather than spin: on a host that others use too, each
    delay of one thread would else become CPU time of the other.
    """
    drop = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "COLUMNS", "OMP_NUM_THREADS")
    ours = {k: v for k, v in os.environ.items() if k not in drop}
    return ours | {"OMP_WAIT_POLICY": "PASSIVE"}


def _busy_s() -> tuple[float, float]:
    """Busy CPU time of the host, and of our ended children (0 where there is no /proc)."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, soft, steal = map(int, file.readline().split()[1:9])
    own = os.times()
    ticks = user + nice + system + irq + soft + steal
    return ticks / os.sysconf("SC_CLK_TCK"), own.children_user + own.children_system


def _lap_ns(ends_ns: Sequence[int], folder: Path) -> float:
    """Mean lap by the program's own clock, without warm-up, what the recording touched (by the
    probe's times of it) and a tenth at either end."""
    recorded = [
        (lap["start"], lap["end"])
        for path in folder.glob("p*/laps.jsonl")
        for line in path.read_text().splitlines()
        for lap in [json.loads(line)]
        if lap["phase"] in ("recorded", "after")
    ]
    # perf_counter and the probe's clock are both CLOCK_MONOTONIC on Linux.
    low = min((a for a, _ in recorded), default=0)
    high = max((b for _, b in recorded), default=0)
    pairs = list(pairwise(ends_ns))[SKIPPED:]
    first = next((i for i, (_, b) in enumerate(pairs) if b > low), len(pairs))
    last = next((i for i, (a, _) in enumerate(pairs) if a >= high), len(pairs))
    plain = sorted(b - a for a, b in (*pairs[: max(0, first - 1)], *pairs[last:]))
    cut = len(plain) // 10
    return statistics.fmean(plain[cut : len(plain) - cut])


def _findings(said: Mapping[str, Any]) -> tuple[tuple[str, float | None], ...]:
    """Findings in the order told; bounds over the mean counted lap."""
    windows = [w["dur_ns"] for w in said["device_laps"] if not w["open"]]
    steady = {lap["id"] for lap in said["laps"] if lap["steady"]}
    counted = [
        w["dur_ns"] for w in said["device_laps"] if not w["open"] and w["lap"] in steady
    ] or windows
    lap = statistics.fmean(counted) if counted else None
    return tuple(
        (f["id"], None if f["bound_ns"] is None or lap is None else f["bound_ns"] / lap)
        for f in said["findings"]
    )


def _ids(found: Answer) -> str:
    return (
        " ".join(f"{i}={'-' if s is None else f'{s:.2f}'}" for i, s in found.findings) or "nothing"
    )
