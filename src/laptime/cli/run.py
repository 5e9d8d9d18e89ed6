"""Run a program as it is, record a few of its laps, and explain where their time goes.

  laptime run train.py --epochs 1
  laptime run -m package.train --epochs 1
  laptime run -- torchrun --nproc-per-node 2 train.py

The program's own output, exit code and signals are as without laptime. Laps are found by optimizer
steps, else by loader batches, else by calls of the outermost module; laptime.lap() in the program
marks them by hand. The report follows the program's end, on stderr, so that stdout stays the
program's; --json FILE and --html FILE write it to files (- for stdout). Without -o the recording is
removed once the report is shown. Options go before the program, what follows it is its own.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from laptime.model.errors import LaptimeError, UsageError

if TYPE_CHECKING:
    from laptime.capture.launch import Outcome
    from laptime.explanation import Explanation

SUMMARY = "run a program unmodified, record a few laps, explain them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.usage = "laptime run [options] (SCRIPT.py | -m MODULE | -- PROGRAM) [arguments ...]"
    parser.add_argument("-o", metavar="DIR", dest="out", help="keep the recording in DIR")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep the recording in a folder of its own beside the working files, and name it",
    )
    parser.add_argument(
        "--laps", type=_whole, default=5, metavar="N", help="laps to record (default 5)"
    )
    parser.add_argument(
        "--warmup", type=_whole, default=5, metavar="N", help="first laps to skip (default 5)"
    )
    parser.add_argument(
        "--plain",
        type=_whole,
        default=10,
        metavar="N",
        help="laps to time without recording before that, for the overhead (default 10)",
    )
    parser.add_argument(
        "--then",
        type=_one_of("continue", "stop"),
        metavar="{continue,stop}",
        default="continue",
        help="what becomes of the program once the laps are recorded (default: continue)",
    )
    parser.add_argument("--python", metavar="EXE", help="interpreter for the script or module")
    parser.add_argument(
        "--laps-from",
        type=_one_of("auto", "optimizer", "loader", "module", "mark"),
        metavar="{auto,optimizer,loader,module,mark}",
        default="auto",
        help="what makes a lap (default auto: marks, else optimizer steps, else loader batches, "
        "else calls of the outermost module)",
    )
    for name, what in (
        ("stacks", "record Python stacks: source lines, at a much higher cost"),
        ("shapes", "record the shapes of operators' inputs"),
        ("memory", "record allocations"),
        ("explain", "explain what was recorded (default)"),
    ):
        parser.add_argument(
            f"--{name}", action=argparse.BooleanOptionalAction, default=name == "explain", help=what
        )
    parser.add_argument("--json", metavar="FILE", help="write the explanation as JSON (- stdout)")
    parser.add_argument("--html", metavar="FILE", help="write it as a page (- for stdout)")
    parser.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        metavar="MODULE",
        help="run a module, as python -m does",
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="PROGRAM", help="what to run")


def run(args: argparse.Namespace) -> int:
    """Run the program, explain it, and end as the program did."""
    from laptime import __version__
    from laptime.capture import command, folder, launch, signals

    if args.json == "-" and args.html == "-":
        raise UsageError("--json - and --html - both fill stdout: name a file for one of them")
    _check_outputs(args)
    resolved = command.resolve(
        args.module or _words(args.program), module=args.module is not None, python=args.python
    )
    place, kept = _place(args, folder.make)
    try:
        if resolved.shut:
            _note(f"the probe will not be loaded: {resolved.shut}; the program runs without it")
        outcome = launch.run(resolved, _settings(args), place, __version__)
        _answer(args, outcome, kept)
    finally:
        if not kept:
            shutil.rmtree(place, ignore_errors=True)
    _flush()
    if outcome.signal is not None and not outcome.stopped:
        signals.die_of(outcome.signal)
    return 0 if outcome.stopped else outcome.code


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse before the program has run for hours what could not be written after it."""
    for option, path in (("--json", args.json), ("--html", args.html)):
        if path is None:
            continue
        if not args.explain:
            raise UsageError("--json and --html need the explanation: leave out --no-explain")
        if path == "-":
            continue
        place = os.path.dirname(os.path.abspath(path))
        if os.path.isdir(path):
            why = errno.EISDIR
        elif not os.path.isdir(place):
            why = errno.ENOENT
        elif not os.access(path if os.path.exists(path) else place, os.W_OK):
            why = errno.EACCES
        else:
            continue
        raise UsageError(f"{option} {path}: cannot be written: {os.strerror(why)}")


def _settings(args: argparse.Namespace) -> Any:
    from laptime.capture.settings import CaptureSettings

    return CaptureSettings(
        warmup=args.warmup,
        plain=args.plain,
        laps=args.laps,
        laps_from=args.laps_from,
        then=args.then,
        stacks=args.stacks,
        shapes=args.shapes,
        memory=args.memory,
    )


def _words(given: Sequence[str]) -> list[str]:
    words = list(given)
    return words[1:] if words[:1] == ["--"] else words


def _place(args: argparse.Namespace, make: Any) -> tuple[Path, bool]:
    """The folder of the recording, and whether it stays."""
    if args.out is not None:
        return make(args.out), True
    if args.keep or not args.explain:
        return Path(tempfile.mkdtemp(prefix="laptime-run-", dir=".")).absolute(), True
    return Path(tempfile.mkdtemp(prefix="laptime-run-")), False


def _answer(args: argparse.Namespace, outcome: Outcome, kept: bool) -> None:
    """Explain what was recorded. The program has run: what fails here is a note, no failure."""
    for problem in outcome.problems:
        _note(problem)
    try:
        if args.explain and args.laps == 0:
            _note("no explanation: --laps 0 records no lap")
        elif args.explain:
            _explain(args, outcome)
    except LaptimeError as error:
        _note(f"no explanation: {error}")
    except Exception as error:
        if os.environ.get("LAPTIME_DEBUG"):
            raise
        _note(
            f"no explanation: internal fault: {type(error).__name__}: {error}; please report it "
            "with the traceback that LAPTIME_DEBUG=1 shows"
        )
    if not kept and args.laps and _evidence(outcome):
        _note("the recording is removed; -o DIR keeps it, for laptime explain DIR and laptime sql")
    if kept:
        shown = os.path.relpath(outcome.folder)
        _note(f"the recording is in {shown}; laptime explain {shown} explains it again")


def _explain(args: argparse.Namespace, outcome: Outcome) -> None:
    traces = _evidence(outcome)
    if not traces:
        return
    from laptime.evidence.registry import open_run
    from laptime.explaining import explanation_of
    from laptime.report import layout, terminal

    answer: Explanation = explanation_of(open_run(traces))
    if args.json is not None:
        from laptime.report import as_json

        with _Out("--json", args.json) as to:
            as_json.write(answer, to)
    if args.html is not None:
        from laptime.report import html

        with _Out("--html", args.html) as to:
            to.write(html.page(answer))
    if args.json is None and args.html is None:
        _flush()
        terminal.render(answer, layout.console(sys.stderr, None), top=10, rank=None)


def _evidence(outcome: Outcome) -> list[str]:
    """What to open: the folder, if any process of it has a trace."""
    from laptime.capture.folder import processes

    has = [
        p
        for p in processes(outcome.folder)
        if p.get("state") == "recorded" or p.get("user_trace") is not None
    ]
    return [str(outcome.folder)] if has else []


class _Out:
    """A file to write to, or stdout for ``-``."""

    def __init__(self, option: str, path: str) -> None:
        self._option, self._path = option, path

    def __enter__(self) -> TextIO:
        if self._path == "-":
            return sys.stdout
        try:
            self._file = open(self._path, "w", encoding="utf-8")
        except OSError as error:
            raise UsageError(
                f"{self._option} {self._path}: cannot be written: {error.strerror or error}"
            ) from None
        return self._file

    def __exit__(self, *_: object) -> None:
        if self._path != "-":
            self._file.close()


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _note(line: str) -> None:
    from laptime.report.numbers import visible

    print(f"laptime: {visible(' '.join(line.split()))}", file=sys.stderr)


def _one_of(*words: str) -> Callable[[str], str]:
    def chosen(text: str) -> str:
        if text not in words:
            told = f"{', '.join(words[:-1])} or {words[-1]}"
            raise argparse.ArgumentTypeError(f"must be {told}, not {text!r}")
        return text

    return chosen


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > _MOST_DIGITS:
        raise argparse.ArgumentTypeError(
            f"must be a number of laps, a whole number from 0, not {text!r}"
        )
    return int(text)


_MOST_DIGITS = 9
