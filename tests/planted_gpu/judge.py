"""Judges laptime by the simulated cases: is the first finding the fault that was planted?

A case counts when its planted lap is at least 10 % longer than its clean one. It is right when the
first finding of the planted trace is an accepted one. A clean trace is right when nothing is
bounded above 5 % of its lap; it counts when in the simulation, too, at most 5 % of the lap computes
nothing.

    python -m tests.planted_gpu.judge [--seeds N] [--first N] [--keep DIR] [FAULT ...]
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import laptime
from tests.planted_gpu.cases import PLANTS, Case, make, waste
from tests.planted_gpu.engine import Simulator
from tests.planted_gpu.writing import text, write

COUNTS_FROM = 0.10
CLEAN_BELOW = 0.05
NOTHING = "(nothing)"


@dataclass(frozen=True)
class Found:
    """A finding, with its bound as a share of the true lap; None where it has no bound."""

    id: str
    share: float | None


@dataclass(frozen=True)
class Judged:
    """What laptime said about one case."""

    fault: str
    seed: int
    device: str
    generation: str
    stacks: bool
    cost: float
    clean_waste: float
    planted: tuple[Found, ...]
    clean: tuple[Found, ...]

    @property
    def counts(self) -> bool:
        return self.fault != "healthy" and self.cost >= COUNTS_FROM

    @property
    def clean_counts(self) -> bool:
        return self.clean_waste <= CLEAN_BELOW

    @property
    def first(self) -> str:
        return self.planted[0].id if self.planted else NOTHING

    @property
    def right(self) -> bool:
        return self.first in PLANTS[self.fault].accepted

    @property
    def false_alarms(self) -> tuple[Found, ...]:
        """Findings on the clean trace that are bounded above the limit."""
        if not self.clean_counts:
            return ()
        return tuple(f for f in self.clean if f.share is not None and f.share > CLEAN_BELOW)


def found(simulator: Simulator, lap_ns: int, path: Path) -> tuple[Found, ...]:
    """The findings on a simulated trace, in laptime's order."""
    write(simulator, path)
    judgement = laptime.explain(str(path)).judgement
    return tuple(
        Found(f.id, None if f.bound_ns is None else f.bound_ns / lap_ns) for f in judgement.findings
    )


def judged(fault: str, seed: int, clean: bool = True) -> Judged:
    """One case, judged."""
    case = make(fault, seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "worker0.pt.trace.json"
        planted = found(case.planted, case.planted_lap_ns, path)
        without = found(case.clean, case.clean_lap_ns, path) if clean else ()
    spec = case.spec
    return Judged(
        fault,
        seed,
        spec.device.key,
        spec.generation,
        spec.stacks,
        case.cost,
        waste(case.clean),
        planted,
        without,
    )


def keep(case: Case, seed: int, folder: Path) -> Path:
    """Write a case's planted trace, its clean one and its truth beside each other."""
    path = folder / f"{case.fault}-{seed}.json.gz"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text(case.planted).encode(), 6))
    clean = folder / f"{case.fault}-{seed}.clean.json.gz"
    clean.write_bytes(gzip.compress(text(case.clean).encode(), 6))
    truth = {
        "fault": case.fault,
        "device": case.spec.device.key,
        "generation": case.spec.generation,
        "laps": case.spec.laps,
        "planted_lap_ns": case.planted_lap_ns,
        "clean_lap_ns": case.clean_lap_ns,
        "cost": round(case.cost, 4),
    }
    (folder / f"{case.fault}-{seed}.truth.json").write_text(json.dumps(truth, indent=1))
    return path


def wilson(right: int, of: int, z: float = 1.959964) -> tuple[float, float]:
    """The Wilson score interval of a rate at 95 %."""
    if not of:
        return 0.0, 1.0
    p = right / of
    middle = (p + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass
class Tally:
    """One line of the table."""

    fault: str
    clean: int = 0
    """Clean traces that count."""
    counted: int = 0
    right: int = 0
    alarmed: int = 0
    instead: Counter[str] = field(default_factory=Counter)
    alarms: Counter[str] = field(default_factory=Counter)

    def add(self, one: Judged) -> None:
        self.clean += one.clean_counts
        self.alarmed += bool(one.false_alarms)
        self.alarms.update({f.id for f in one.false_alarms})
        if one.counts:
            self.counted += 1
            self.right += one.right
            if not one.right:
                self.instead[one.first] += 1


def tallies(judgements: Iterable[Judged]) -> list[Tally]:
    lines = {fault: Tally(fault) for fault in PLANTS}
    for one in judgements:
        lines[one.fault].add(one)
    return [line for line in lines.values() if line.clean or line.counted]


def _rate(right: int, of: int) -> str:
    low, high = wilson(right, of)
    return f"{right}/{of} ({100 * low:.0f}-{100 * high:.0f} %)" if of else "-"


def _named(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in counts.most_common()) or "-"


def table(lines: Sequence[Tally]) -> str:
    """Markdown: what was counted, what was right, what was said instead, alarms on clean traces."""
    out = [
        "| planted | right of counted | found instead | clean with an alarm | alarms |",
        "| --- | --- | --- | --- | --- |",
    ]
    out.extend(
        f"| {t.fault} | {_rate(t.right, t.counted)} | {_named(t.instead)} "
        f"| {t.alarmed}/{t.clean} | {_named(t.alarms)} |"
        for t in lines
    )
    right, counted = sum(t.right for t in lines), sum(t.counted for t in lines)
    alarmed, clean = sum(t.alarmed for t in lines), sum(t.clean for t in lines)
    out.append(f"| **all** | **{_rate(right, counted)}** | | **{_rate(alarmed, clean)}** | |")
    return "\n".join(out)


def _one(job: tuple[str, int]) -> Judged:
    return judged(*job)


def main() -> None:
    parser = argparse.ArgumentParser(description="judge laptime by simulated faults")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=10, help="the first seed")
    parser.add_argument("--keep", type=Path, help="write misjudged cases here")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("faults", nargs="*", default=[])
    args = parser.parse_args()
    seeds = range(args.first, args.first + args.seeds)
    jobs = [(fault, seed) for fault in (args.faults or PLANTS) for seed in seeds]
    with ProcessPoolExecutor(args.jobs) as pool:
        judgements = list(pool.map(_one, jobs, chunksize=4))
    print(table(tallies(judgements)))
    for one in judgements:
        wrong = one.counts and not one.right
        if wrong or one.false_alarms:
            said = " ".join(
                f"{f.id}:{'-' if f.share is None else f'{100 * f.share:.0f}%'}"
                for f in (one.planted if wrong else one.clean)[:4]
            )
            where = f"{one.device} {one.generation}{' stacks' if one.stacks else ''}"
            kind = "WRONG" if wrong else "ALARM"
            print(f"{kind} {one.fault}-{one.seed} {where} cost {100 * one.cost:.0f}%: {said}")
            if args.keep:
                keep(make(one.fault, one.seed), one.seed, args.keep)


if __name__ == "__main__":
    main()
