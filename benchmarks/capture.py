"""What `laptime run` costs a program: its unrecorded laps, its recorded ones, and its whole run.

    python -m benchmarks.capture [--pairs 15] [--laps-of 1 10 100]

The same training loop runs alone and under `laptime run`, in turns (which goes first alternates),
and times its own laps. Laps of the same numbers are compared pair by pair: CPU time of the process
(the mean lap) and wall time (the median lap, which other programs of the machine disturb less).
A figure is the mean of the logarithms of the pairs' ratios, with Student's t interval at 95 %.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process import ran
from laptime.ledger.overhead import t_point

LOOP = Path(__file__).with_name("training_loop.py")
WARMUP, SETTLING = 5, 2
"""Laps skipped first, and laps after the window that are not called plain."""


@dataclass(frozen=True)
class Size:
    """A lap of about ``ms``: passes in a lap, plain laps before and after the window, recorded
    ones, and laps after all of them, when the probe has finished."""

    ms: int
    passes: int
    plain: int
    recorded: int
    done: int

    def ranges(self) -> dict[str, range]:
        """Numbers of the laps of each kind, as the program counts them.

        The probe counts from the end of the first step, and gives a lap to the profiler's warm-up.
        The last recorded lap is left out: the program sees the writing of the trace in it.
        """
        plain = 1 + WARMUP
        recorded = plain + self.plain + 1
        again = recorded + self.recorded + SETTLING
        done = again + self.plain
        return {
            "counted": range(plain, plain + self.plain),
            "recorded": range(recorded, recorded + self.recorded - 1),
            "after": range(done, done + self.done),
        }


SIZES = {
    1: Size(1, 1, 800, 100, 800),
    10: Size(10, 30, 100, 20, 100),
    100: Size(100, 330, 12, 6, 12),
}
KINDS = {
    "counted": "unrecorded, counted",
    "recorded": "recorded",
    "after": "unrecorded, after the last counted one",
}


@dataclass(frozen=True)
class Times:
    """When each lap ended, and what the whole process took from outside."""

    wall_ns: Sequence[int]
    cpu_ns: Sequence[int]
    all_wall_s: float

    def cpu_of(self, laps: range) -> float:
        """CPU time of the mean lap."""
        return (self.cpu_ns[laps.stop] - self.cpu_ns[laps.start]) / len(laps)

    def wall_of(self, laps: range) -> float:
        """Wall time of the median lap."""
        return statistics.median(self.wall_ns[n + 1] - self.wall_ns[n] for n in laps)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure what laptime run costs a program.")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--laps-of", type=int, nargs="+", default=list(SIZES), choices=list(SIZES))
    asked = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    print(f"{asked.pairs} pairs of runs in turns; mean of the pairs, 95 % interval")
    for ms in asked.laps_of:
        _measure(SIZES[ms], asked.pairs)
    return 0


def _measure(size: Size, pairs: int) -> None:
    found: list[tuple[Times, Times]] = []
    for turn in range(pairs + 1):
        with tempfile.TemporaryDirectory() as folder:
            runs = {"alone": lambda: _alone(size), "under": lambda: _under(size, folder)}
            order = list(runs) if turn % 2 else list(reversed(runs))
            times = {name: runs[name]() for name in order}
        if turn:  # the first turn fills the caches
            found.append((times["alone"], times["under"]))
    ranges = size.ranges()
    cpu_ms = statistics.median(a.cpu_of(ranges["counted"]) for a, _ in found) / 1e6
    wall_ms = statistics.median(a.wall_of(ranges["counted"]) for a, _ in found) / 1e6
    print(f"\nlaps of {cpu_ms:.2f} ms CPU, {wall_ms:.2f} ms wall")
    for kind, laps in ranges.items():
        cpu = _ratio(found, lambda t, laps=laps: t.cpu_of(laps))  # type: ignore[misc]
        wall = _ratio(found, lambda t, laps=laps: t.wall_of(laps))  # type: ignore[misc]
        print(f"  {KINDS[kind]:40s} CPU {cpu}   wall {wall}   ({len(laps)} laps a run)")
    longer = [b.all_wall_s - a.all_wall_s for a, b in found]
    mean, half = statistics.fmean(longer), _half(longer)
    print(
        f"  {'the whole run':40s} longer by {mean:.2f} s ({mean - half:.2f} to {mean + half:.2f})"
    )


def _ratio(found: Sequence[tuple[Times, Times]], of: Callable[[Times], float]) -> str:
    logs = [math.log(of(under) / of(alone)) for alone, under in found]
    mean, half = statistics.fmean(logs), _half(logs)
    low, mid, high = (100 * math.expm1(x) for x in (mean - half, mean, mean + half))
    return f"{mid:+.2f} % ({low:+.2f} to {high:+.2f})"


def _half(values: Sequence[float]) -> float:
    return t_point(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))


def _command(size: Size) -> list[str]:
    return [str(LOOP), str(size.ranges()["after"].stop), str(size.passes)]


def _alone(size: Size) -> Times:
    return _times([sys.executable, *_command(size)])


def _under(size: Size, folder: str) -> Times:
    kept = os.path.join(folder, "run")
    counts = ["--plain", str(size.plain), "--laps", str(size.recorded), "--no-explain"]
    options = ["-o", kept, *counts, "--python", sys.executable]
    times = _times([sys.executable, "-m", "laptime", "run", *options, *_command(size)])
    _check(size, Path(kept))
    return times


def _check(size: Size, folder: Path) -> None:
    """The laps compared are of the kind they are said to be."""
    (laps,) = folder.glob("p*/laps.jsonl")
    told = [json.loads(line) for line in laps.read_text().splitlines()]
    phases = {"counted": "plain", "recorded": "recorded"}
    for kind, phase in phases.items():
        numbers = size.ranges()[kind]
        if {lap["phase"] for lap in told[numbers.start - 1 : numbers.stop - 1]} != {phase}:
            raise SystemExit(f"laps {numbers} are not {phase}")
    if told[-1]["n"] + 1 != size.ranges()["after"].start - 1:
        raise SystemExit(f"the probe counted {told[-1]['n'] + 1} laps, unlike planned")


def _times(command: Sequence[str]) -> Times:
    run = ran(command)
    if run.status:
        raise SystemExit(f"{command}: exit {run.status}: {run.err}")
    said = json.loads(run.out)
    return Times(said["wall_ns"], said["cpu_ns"], run.wall_s)


if __name__ == "__main__":
    sys.exit(main())
