"""Write a copy of a trace, or of a saved run, that may be shared.

Names of modules, files, functions, hosts, processes and marks are replaced word by word, each
word always by the same one; other texts and argument names are replaced whole. Times, numbers,
structure, kernel names, and the names of public libraries stay, as do the words by which laptime
tells a loader, a step or a wait: the copy is explained as the original is. Read it before you
share it: what stays is listed.
"""

from __future__ import annotations

import argparse
import re

SUMMARY = "a copy of a trace or saved run that may be shared"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "path", metavar="PATH", help="a trace (plain, gzip, zstd), - for stdin, or a saved run"
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="COPY",
        help="the file to make, compressed where it ends in .gz or .zst; the folder, of a "
        "saved run",
    )
    parser.add_argument(
        "--keep-names", metavar="REGEX", help="keep names in which this is found as they are"
    )
    parser.add_argument(
        "--map", metavar="FILE", help="write what became what to FILE (JSON; not to be shared)"
    )


def run(args: argparse.Namespace) -> int:
    """Scrub, and say what was replaced and what stays."""
    from laptime.cli._progress import reading
    from laptime.scrubbing.files import scrub

    with reading() as progress:
        done = scrub(
            args.path, args.output, keep=args.keep_names, mapping=args.map, progress=progress
        )
    replaced = ", ".join(_counted(n, sort) for sort, n in sorted(done.replaced.items()))
    kept = ", ".join(_counted(n, sort) for sort, n in sorted(done.kept.items()))
    print(f"replaced: {replaced or 'nothing'}")
    print(f"kept: {kept or 'no names'}; times, ids, sizes and other numbers; device names")
    if done.damaged:
        print(
            f"damaged: {done.damaged:,} places, whose letters were masked where they were no JSON"
        )
    for what in done.left_out:
        print(f"left out: {what}")
    return 0


def _counted(number: int, sort: str) -> str:
    """``2 hosts``, ``1 host``: sorts are named in the plural."""
    noun = re.sub(r"s\b", "", sort, count=1) if number == 1 else sort
    return f"{number:,} {noun}"
