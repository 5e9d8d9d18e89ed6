"""Ask a run in SQL: its events, laps, ledger, findings and more, as documented tables.

RUN is a saved run (laptime save), or whatever laptime explain reads: then only the tables that
the query names are made, in memory. The query is one SELECT. It reads the run and nothing else:
no other file, no network, no extension, no setting; memory and time are limited. Intermediate
results that need more memory go to a temporary folder, deleted at the end.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from typing import IO

from laptime.model.errors import UsageError

SUMMARY = "ask a run in SQL"
_HELD_BYTES = 64 << 20
"""Of an answer in memory; the rest goes to a temporary file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument("run", metavar="RUN", help="a saved run, a trace or a folder of ranks")
    parser.add_argument("query", nargs="?", metavar="QUERY", help="one SELECT, in DuckDB's dialect")
    parser.add_argument(
        "--tables", action="store_true", help="list the tables with their columns and units"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object, schema laptime.sql/1")
    parser.add_argument("--csv", action="store_true", help="comma-separated lines, with a head")
    parser.add_argument(
        "--rows",
        type=_whole,
        default=100,
        metavar="N",
        help="rows to show as a table (default 100); --json and --csv give all",
    )
    parser.add_argument(
        "--memory", default="2GB", metavar="SIZE", help="memory the query may use (default 2GB)"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=300.0,
        metavar="S",
        help="seconds the query may take (default 300)",
    )
    parser.add_argument(
        "--no-spill",
        action="store_true",
        help="write no temporary files: a query that needs more memory fails",
    )


def run(args: argparse.Namespace) -> int:
    """Answer the query, or list the tables."""
    if args.json and args.csv:
        raise UsageError("--json and --csv both fill stdout: choose one of them")
    from laptime.report import answers, layout
    from laptime.tables import LAYOUTS

    if args.tables:
        if args.query is not None:
            raise UsageError("--tables lists the tables: leave the query out")
        if args.json:
            answers.write_layouts(LAYOUTS, sys.stdout)
        else:
            answers.render_layouts(LAYOUTS, layout.console(sys.stdout, None))
        return 0
    if args.query is None:
        raise UsageError('no query given: laptime sql RUN "select * from laps", or --tables')
    from laptime.cli._progress import reading
    from laptime.querying import Limits, asked
    from laptime.report.numbers import visible

    limits = Limits(args.memory, args.timeout, not args.no_spill)
    with reading() as progress, asked(args.run, args.query, limits, progress) as answer:
        for note in answer.notes:
            print(f"laptime: {visible(note)}", file=sys.stderr)
        if args.json or args.csv:
            write = answers.write_json if args.json else answers.write_csv
            # All or nothing: a query that is stopped half-way must not leave a part of its answer.
            with _held(not args.no_spill) as whole:
                write(answer.columns, answer.rows, whole)
                whole.seek(0)
                shutil.copyfileobj(whole, sys.stdout)
        else:
            to = layout.console(sys.stdout, None)
            answers.render(answer.columns, answer.rows, to, args.rows)
    return 0


def _held(spill: bool) -> IO[str]:
    """A place for an answer until all of it is there. A lone surrogate passes through."""
    if not spill:
        return io.StringIO()
    return tempfile.SpooledTemporaryFile(
        _HELD_BYTES, "w+", encoding="utf-8", errors="surrogatepass", newline=""
    )


def _whole(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
