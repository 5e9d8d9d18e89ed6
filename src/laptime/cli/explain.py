"""Account for every nanosecond of each lap (training step, engine iteration) and name the causes.

The report goes to stdout; errors, and progress on a terminal, go to stderr. --json replaces the
report on stdout by one JSON object; --html (a page) and --markdown write to a file and leave only
the verdict on stdout. With --json: the JSON on stdout and the page in its file, nothing else.
--html - puts the page on stdout, alone; so does --markdown -. --perfetto writes the trace again
with further tracks. No file replaces evidence: FILE may not be one of the inputs.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from laptime.cli import _files
from laptime.model.errors import CannotTell, UsageError

if TYPE_CHECKING:
    from laptime.explanation import Explanation

SUMMARY = "where the time of each lap went, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a trace (plain, gzip, zstd), a folder of ranks, a URL, or - for stdin; "
        "several are read as one run",
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object on stdout, schema laptime.explain/1"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write a self-contained page to FILE (- for stdout)"
    )
    parser.add_argument(
        "--markdown", metavar="FILE", help="write the report in Markdown to FILE (- for stdout)"
    )
    parser.add_argument(
        "--perfetto",
        metavar="FILE",
        help="write the trace again with laps, accounts and findings as further tracks, for "
        "ui.perfetto.dev (gzip where FILE ends in .gz); of several ranks, that of --rank",
    )
    parser.add_argument(
        "--why", metavar="ID", help="print the formula and the events behind one cause"
    )
    parser.add_argument("--lap", metavar="NAME", help="take marks of this name as the laps")
    parser.add_argument(
        "--loader",
        action="append",
        default=[],
        metavar="NAME",
        help="count this mark (its exact name) or Python function (the end of its frame) as "
        "loading of input, beside the recognised loaders; may be given several times",
    )
    parser.add_argument(
        "--rank",
        type=_rank,
        metavar="N",
        help="this rank only, with its ledger, laps and kernels (a run of several ranks shows only "
        "ranges over them)",
    )
    parser.add_argument(
        "--top",
        type=_whole,
        metavar="N",
        help="kernels to list (default 10, on a page 50, fewer of several ranks)",
    )
    parser.add_argument(
        "--width", type=_width, metavar="N", help="columns of the report (default: the terminal's)"
    )
    parser.add_argument(
        "--no-spill",
        action="store_true",
        help="write no temporary file when reading stdin; details that need a second look at the "
        "text are then not measured",
    )


def run(args: argparse.Namespace) -> int:
    """Explain the evidence and render the answer."""
    if args.json and args.why:
        raise UsageError("--why prints text and --json one object: choose one of them")
    if args.lap is not None and not args.lap.strip():
        raise UsageError("--lap: an empty name marks no lap; name a mark, or leave --lap out")
    _files.check(args)
    answer = explanation_for(args)
    if args.rank is not None:
        _require_rank(answer, args.rank)
    _files.write(answer, args)
    if not _files.fills_stdout(args):
        _write_stdout(answer, args)
    if not any(len(d.windows) for v in answer.views for d in v.ledger.devices):
        where, health = ", ".join(answer.run.sources), answer.run.health
        lost = f"; {health.lost} items were lost: {health.losses[0].reason}" if health.lost else ""
        raise CannotTell(
            f"{where}: nothing to account for (no device work and no thread with laps){lost}; "
            "profile with ProfilerActivity.CPU and .CUDA among the activities"
        )
    return 0


def explanation_for(args: argparse.Namespace) -> Explanation:
    """Read the evidence and explain it."""
    from laptime.cli._progress import reading
    from laptime.evidence.registry import open_run
    from laptime.explaining import explanation_of

    with reading() as progress:
        evidence = open_run(args.paths, progress=progress, spill=not args.no_spill)
    answer: Explanation = explanation_of(evidence, laps=args.lap, loader=args.loader)
    return answer


def _require_rank(answer: Explanation, rank: int) -> None:
    """Raise where no process of the run is known to be this rank."""
    known = sorted({v.timeline.rank for v in answer.views if v.timeline.rank is not None})
    if rank in known:
        return
    if known:
        raise UsageError(
            f"--rank {rank}: no such rank in this run; known: {', '.join(map(str, known))}"
        )
    raise UsageError(
        f"--rank {rank}: no process of this run is labelled with a rank (neither by "
        "distributedInfo in the trace nor by a file name such as rank0.json); leave --rank out, or "
        "explain one file by itself"
    )


def _write_stdout(answer: Explanation, args: argparse.Namespace) -> None:
    if args.json:
        from laptime.report import as_json

        as_json.write(answer, sys.stdout, args.rank)
        return
    from laptime.report import layout, terminal

    to = layout.console(sys.stdout, args.width)
    if args.why:
        from laptime.report import why

        why.render(answer, to, args.why, args.rank)
    elif _files.replaces_report(args):
        terminal.render_verdict(answer, to)
    else:
        terminal.render(answer, to, top=10 if args.top is None else args.top, rank=args.rank)


def _whole(text: str) -> int:
    return _number(text, "a whole number from 0", 0)


def _rank(text: str) -> int:
    return _number(text, "a rank, a whole number from 0", 0)


def _width(text: str) -> int:
    return _number(text, "a number of columns from 40 to 1000", 40, 1000)


def _number(text: str, wanted: str, least: int, most: int | None = None) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least or (most is not None and number > most):
        raise argparse.ArgumentTypeError(f"must be {wanted}, not {text!r}")
    return number
