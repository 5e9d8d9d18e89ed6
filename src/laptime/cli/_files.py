"""Files that a command writes beside its answer: their names, and what they may replace."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from laptime.model.errors import UsageError

if TYPE_CHECKING:
    from laptime.explanation import Explanation, View

STDOUT = "-"
_OPTIONS = ("html", "markdown", "perfetto")


def check(args: argparse.Namespace) -> None:
    """Raise ``UsageError`` where the files asked for exclude each other or would replace evidence.

    Called before the evidence is read; ``spare`` again once its files are known.
    """
    full = [o for o in _OPTIONS if getattr(args, o) == STDOUT]
    if args.perfetto == STDOUT:
        raise UsageError("--perfetto -: a trace is written to a file; name one")
    if len(full) > 1 or (full and (args.json or args.why)):
        what = "page" if full[0] == "html" else "report"
        raise UsageError(
            f"--{full[0]} - fills stdout with the {what}: name a file, or leave the other out"
        )
    named = [(o, os.path.realpath(getattr(args, o))) for o in _asked(args)]
    for i, (option, path) in enumerate(named):
        for other, same in named[:i]:
            if path == same:
                raise UsageError(f"--{other} and --{option} name one file: {getattr(args, option)}")
    spare(args, args.paths)


def _asked(args: argparse.Namespace) -> list[str]:
    """The options that name a file, not stdout."""
    return [o for o in _OPTIONS if getattr(args, o) not in (None, STDOUT)]


def fills_stdout(args: argparse.Namespace) -> bool:
    """Whether stdout belongs to one of the files."""
    return STDOUT in (args.html, args.markdown)


def replaces_report(args: argparse.Namespace) -> bool:
    """Whether a file holds the report, so that stdout needs only the verdict."""
    return args.html is not None or args.markdown is not None


def spare(args: argparse.Namespace, sources: Sequence[str]) -> None:
    """Raise where a file would replace one that is read, by whatever name or link."""
    for option in _asked(args):
        _spare(f"--{option}", getattr(args, option), sources)


def write(answer: Explanation, args: argparse.Namespace) -> None:
    """Write every file that was asked for."""
    spare(args, answer.run.sources)
    if args.perfetto is not None:
        from laptime.report import perfetto

        perfetto.write(answer, _one_view(answer, args.rank), args.perfetto)
    if args.html is not None:
        from laptime.report import html

        _put(html.page(answer, args.top, args.rank), "--html", args.html)
    if args.markdown is not None:
        from laptime.report import markdown

        top = 10 if args.top is None else args.top
        _put(markdown.text(answer, top, args.rank), "--markdown", args.markdown)


def _one_view(answer: Explanation, rank: int | None) -> View:
    """The one timeline whose trace is written again."""
    from laptime.report.selection import views_of

    views = views_of(answer, rank)
    if len(views) == 1:
        return views[0]
    sources = sorted({v.timeline.source for v in views})
    if len(sources) > 1:
        raise UsageError(
            f"--perfetto writes one trace and the run has {len(sources)}: choose with --rank, or "
            "explain one file by itself"
        )
    longest = max(views, key=lambda v: (len(v.timeline.rows.start_ns), v.timeline.id))
    return longest


def _put(text: str, option: str, path: str) -> None:
    if path == STDOUT:
        # In bytes: what is written is UTF-8, whatever the terminal is.
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(
            f"{option} {path}: cannot be written: {why}; name a file that can be made"
        ) from None


def _spare(option: str, path: str, sources: Sequence[str]) -> None:
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return
    for source in sources:
        try:
            if source == STDOUT:
                read = os.fstat(sys.stdin.fileno())
            else:
                # file:///trace.json and zip://inner::trace.zip name files of this machine too.
                read = os.stat(source.rpartition("::")[2].removeprefix("file://"))
        except (OSError, ValueError, AttributeError):
            continue
        if stat.S_ISREG(there.st_mode) and os.path.samestat(there, read):
            raise UsageError(
                f"{option} {path}: is one of the inputs ({source}) and would be replaced; name "
                "another file"
            )
