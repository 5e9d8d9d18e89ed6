"""Keep a run as a folder of Parquet files that reopens in milliseconds.

The folder holds every event, the text of its arguments and the documented tables: the trace is not
needed any more. `laptime explain FOLDER` answers as from the trace, `laptime sql FOLDER` queries
it. It appears whole or not at all.
"""

from __future__ import annotations

import argparse

SUMMARY = "keep a run as a folder that reopens in milliseconds"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="what laptime explain takes; read as one run"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="RUN", help="the folder to make (run.laptime)"
    )
    parser.add_argument("--replace", action="store_true", help="replace a saved run of that name")


def run(args: argparse.Namespace) -> int:
    """Read, explain, save."""
    from laptime.cli._progress import reading
    from laptime.evidence.registry import open_run
    from laptime.explaining import explanation_of
    from laptime.report.numbers import visible
    from laptime.saving import save

    with reading() as progress:
        evidence = open_run(args.paths, progress=progress)
    folder = save(explanation_of(evidence), args.output, replace=args.replace)
    rows = sum(len(t.rows) for t in evidence.timelines)
    size = sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())
    print(visible(f"{folder}: {rows:,} rows in {size / 1e3:,.0f} kB"))
    return 0
