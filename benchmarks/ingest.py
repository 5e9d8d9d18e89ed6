"""From a trace file to an explanation: CPU, wall time and memory against floors and a peer.

    python -m benchmarks.ingest [FILE ...] [--mb 500] [--sizes 50,500,1500] [--repeats 5]
                                [--hta PYTHON] [--keep FOLDER] [--json]

Without FILE, traces are written by the project's own builder: one of ``--mb`` for the ratios, one
of each of ``--sizes`` for growth. Each measurement is a process of its own; the repeats of all
measurements of one file take turns, so that a change in the machine's speed meets them alike.
Medians are shown, and ratios are medians of the ratios turn by turn. ``--hta`` names a Python
that has HolisticTraceAnalysis; it runs once, and ``explain`` before and after it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.process import Ran, ran

HERE = Path(__file__).parent
LAPTIME = "import sys; from laptime.cli import main; sys.exit(main())"
"""What the `laptime` command runs."""
BUFFER_BYTES = 8 << 20
"""The stated buffers: six pieces of 1 MiB of text in flight, stored bytes and decoder windows."""
FIXED_BYTES = 150_000_000
ITEM_BYTES = 60
RATIOS = (12.0, 20.0)
AN_ITEM = (220.0, 500.0)
PYTHON_SHARE = (0.28, 0.38)
"""What the builder's large traces must be like, to stand for real ones."""

TITLES = {
    "nothing": "interpreter and imports alone",
    "unpack": "floor a: isal, result dropped",
    "unpack_and_read": "floor b: isal and one read",
    "scan": "scan to columns",
    "read": "open_run (model)",
    "explain": "explain --json",
    "hta": "HolisticTraceAnalysis",
}


class BenchmarkError(Exception):
    """A measurement that did not run; one line."""


@dataclass
class Once:
    """One run of one measurement: of the measured stretch where it has one, else the process."""

    cpu_s: float
    wall_s: float
    process_cpu_s: float
    process_wall_s: float
    peak_bytes: int
    seen: dict[str, Any] = field(default_factory=dict)


@dataclass
class Measured:
    """All runs on one file."""

    path: str
    stored_bytes: int
    runs: dict[str, list[Once]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def seen(self, name: str, key: str) -> Any:
        """What a measurement counted; None where it did not."""
        return self.runs[name][0].seen.get(key) if self.runs.get(name) else None

    def median(self, name: str, what: str) -> float:
        """Median of a figure over the runs."""
        return float(statistics.median(getattr(run, what) for run in self.runs[name]))

    def ratio(self, above: str, below: str, what: str) -> float:
        """Median of the ratio of two measurements, turn by turn."""
        pairs = zip(self.runs[above], self.runs[below], strict=False)
        return float(statistics.median(getattr(a, what) / getattr(b, what) for a, b in pairs))


def _checked(run: Ran, what: str, path: str) -> Ran:
    if run.status:
        last = (run.err.strip().splitlines() or ["no message"])[-1]
        raise BenchmarkError(f"{what} on {path}: exit {run.status}: {last}")
    return run


def _once(name: str, path: str) -> Once:
    """Run one measurement in its own process."""
    if name == "explain":
        whole = [sys.executable, "-c", LAPTIME, "explain", "--json", path]
        run = _checked(ran(whole, keep_out=False), name, path)
        return Once(run.cpu_s, run.wall_s, run.cpu_s, run.wall_s, run.peak_bytes)
    command = [sys.executable, "-m", "benchmarks.measures", name, path]
    run = _checked(ran(command), name, path)
    seen = json.loads(run.out)
    return Once(seen.pop("cpu_s"), seen.pop("wall_s"), run.cpu_s, run.wall_s, run.peak_bytes, seen)


def measure(path: str, names: list[str], repeats: int) -> Measured:
    """Measure a file, the measurements taking turns."""
    found = Measured(path, os.stat(path).st_size)
    _once("unpack", path)
    for turn in range(repeats):
        for name in names:
            if sys.stderr.isatty():
                print(f"  {path}: {name} {turn + 1}/{repeats}", end="\033[K\r", file=sys.stderr)
            found.runs.setdefault(name, []).append(_once(name, path))
    if sys.stderr.isatty():
        print("\033[K", end="", file=sys.stderr)
    return found


def add_peer(found: Measured, python: str) -> None:
    """Run the peer once on the file, with an explanation right before and right after it."""
    before = _once("explain", found.path)
    run = ran([python, str(HERE / "peer_hta.py"), found.path])
    after = _once("explain", found.path)
    lines = run.out.strip().splitlines()
    if run.status or not lines or not lines[-1].startswith("{"):
        last = (run.err.strip().splitlines() or ["no message"])[-1]
        found.notes.append(f"HolisticTraceAnalysis did not run: exit {run.status}: {last}")
        return
    seen = json.loads(lines[-1])
    found.runs["hta"] = [Once(run.cpu_s, run.wall_s, run.cpu_s, run.wall_s, run.peak_bytes, seen)]
    found.runs["explain beside hta"] = [before, after]
    for part, outcome in seen["parts"].items():
        if isinstance(outcome, str):
            found.notes.append(f"HolisticTraceAnalysis, {part}: did not work: {outcome}")


def figures(found: Measured) -> dict[str, Any]:
    """Everything that is stated of a file, as numbers."""
    text = found.seen("scan", "text_bytes")
    items = found.seen("scan", "items")
    out: dict[str, Any] = {
        "file": os.path.basename(found.path),
        "text_bytes": text,
        "stored_bytes": found.stored_bytes,
        "items": items,
        "column_bytes": found.seen("scan", "column_bytes"),
        "measured": {
            name: {
                what: found.median(name, what)
                for what in ("cpu_s", "wall_s", "process_cpu_s", "process_wall_s", "peak_bytes")
            }
            | {"runs": len(runs), "cpu_s_range": [f(r.cpu_s for r in runs) for f in (min, max)]}
            for name, runs in found.runs.items()
        },
        "notes": found.notes,
    }
    ratios = {"scan_cpu_to_isal_cpu": found.ratio("scan", "unpack", "cpu_s")}
    for name in ("unpack_and_read", "read", "explain"):
        if name in found.runs:
            ratios[f"{name}_cpu_to_isal_cpu"] = found.ratio(name, "unpack", "cpu_s")
    if "hta" in found.runs:
        beside = found.runs["explain beside hta"]
        peer = found.runs["hta"][0]
        out["hta"] = peer.seen
        for what in ("cpu_s", "wall_s"):
            mean = statistics.mean(getattr(run, what) for run in beside)
            ratios[f"hta_{what}_to_explain"] = getattr(peer, what) / mean
    out["ratios"] = ratios
    budget = ITEM_BYTES * items + FIXED_BYTES + BUFFER_BYTES
    out["memory_budget_bytes"] = budget
    return out


def _show(stated: dict[str, Any]) -> None:
    text, items = stated["text_bytes"], stated["items"]
    print(
        f"\n{stated['file']}: {text / 1e6:.0f} MB of text, {items} items "
        f"({text / max(items, 1):.0f} bytes an item), {stated['stored_bytes'] / 1e6:.1f} MB stored "
        f"(ratio {text / stated['stored_bytes']:.1f}); "
        f"columns {stated['column_bytes'] / max(items, 1):.1f} bytes an item"
    )
    print(
        f"{'':32s}{'CPU s':>8s}{'wall s':>8s}{'MB/CPU s':>10s}{'process CPU s':>15s}{'peak MB':>9s}"
    )
    for name, row in stated["measured"].items():
        speed = f"{text / 1e6 / row['cpu_s']:.0f}" if name != "nothing" else ""
        print(
            f"{TITLES.get(name, name):32s}{row['cpu_s']:8.2f}{row['wall_s']:8.2f}{speed:>10s}"
            f"{row['process_cpu_s']:15.2f}{row['peak_bytes'] / 1e6:9.0f}"
        )
    for name, ratio in stated["ratios"].items():
        print(f"  {name}: {ratio:.2f}")
    budget = stated["memory_budget_bytes"]
    print(f"  memory budget ({ITEM_BYTES} bytes an item + 150 MB + buffers): {budget / 1e6:.0f} MB")
    if "hta" in stated:
        print(f"  HolisticTraceAnalysis {stated['hta']['hta']}, pandas {stated['hta']['pandas']}: "
              f"{stated['hta']['parts']}")  # fmt: skip
    for note in stated["notes"]:
        print(f"  note: {note}")


def _built(folder: Path, mb: float) -> str:
    """A trace of the builder, made in a process of its own (this one must stay small), checked."""
    path = folder / f"built-{mb:g}mb.json.gz"
    command = [sys.executable, "-m", "tests.builder.large", str(path), "--mb", f"{mb:g}"]
    said = _checked(ran(command), "builder", str(path)).out.strip()
    print(said, file=sys.stderr)
    found = re.search(r"\((\S+)% Python\).*\((\d+) an item\).*ratio ([\d.]+)", said)
    if found is None:
        raise BenchmarkError(f"builder: cannot read what it said: {said}")
    for value, (low, high), what in (
        (float(found[1]) / 100, PYTHON_SHARE, "share of Python items"),
        (float(found[2]), AN_ITEM, "bytes an item"),
        (float(found[3]), RATIOS, "compression"),
    ):
        if not low <= value <= high:
            raise BenchmarkError(f"builder: {what} is {value:g}, not {low:g} to {high:g}: {said}")
    return str(path)


def _machine() -> str:
    model = "unknown CPU"
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, Python {sys.version.split()[0]}, load {load}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure reading and explaining large traces.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="traces to measure")
    parser.add_argument("--mb", type=float, default=500, help="million bytes of the main trace")
    parser.add_argument("--sizes", default="50,500,1500", help="sizes for growth; empty for none")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--hta", metavar="PYTHON", help="a Python that has HolisticTraceAnalysis")
    parser.add_argument("--keep", metavar="FOLDER", help="build the traces here and leave them")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    asked = parser.parse_args()
    print(_machine(), file=sys.stderr if asked.json else sys.stdout)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(asked.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            stated = _all(asked, folder)
        except BenchmarkError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    if asked.json:
        json.dump({"machine": _machine(), "files": stated}, sys.stdout, indent=1)
        print()
    return 0


def _all(asked: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    sizes = sorted({asked.mb, *(float(s) for s in asked.sizes.split(",") if s)})
    names = [n for n in TITLES if n != "hta"]
    stated = []
    for source in asked.files or sizes:
        main_file = bool(asked.files) or source == asked.mb
        path = source if isinstance(source, str) else _built(folder, source)
        repeats = asked.repeats if main_file else min(asked.repeats, 3)
        found = measure(path, names, repeats)
        if asked.hta and main_file:
            add_peer(found, asked.hta)
        stated.append(figures(found))
        if not asked.json:
            _show(stated[-1])
        if not asked.files and not asked.keep:
            os.unlink(path)
    return stated


if __name__ == "__main__":
    sys.exit(main())
