"""How long `laptime --help` takes, beside an interpreter that does nothing.

    python -m benchmarks.startup [--repeats 15]

The two take turns; medians, and the median of the ratios turn by turn.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from benchmarks.ingest import LAPTIME
from benchmarks.process import Ran, ran


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the start of the command line.")
    parser.add_argument("--repeats", type=int, default=15)
    asked = parser.parse_args()
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "laptime --help": [sys.executable, "-c", LAPTIME, "--help"],
    }
    runs: dict[str, list[Ran]] = {name: [] for name in commands}
    for turn in range(asked.repeats + 1):
        for name, command in commands.items():
            run = ran(command)
            if run.status:
                print(f"error: {name}: exit {run.status}", file=sys.stderr)
                return 1
            if turn:  # the first turn fills the caches
                runs[name].append(run)
    for name, found in runs.items():
        cpu = statistics.median(run.cpu_s for run in found)
        wall = statistics.median(run.wall_s for run in found)
        peak = statistics.median(run.peak_bytes for run in found)
        print(f"{name:16s} {cpu:.3f} s CPU  {wall:.3f} s wall  {peak / 1e6:.0f} MB")
    pairs = list(zip(runs["laptime --help"], runs["python -c pass"], strict=True))
    for what in ("cpu_s", "wall_s"):
        ratio = statistics.median(getattr(a, what) / getattr(b, what) for a, b in pairs)
        print(f"ratio of {what}: {ratio:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
