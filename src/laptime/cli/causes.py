"""The causes that laptime looks for: all of them, or one with its page.

A page says what the cause is, how it shows in a run, what its bound is computed from, and what is
not flagged. Nothing is read; to see what a run holds: laptime explain.
"""

from __future__ import annotations

import argparse
import sys

SUMMARY = "list the causes, or show one's page"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument("id", nargs="?", metavar="ID", help="show the page of this cause")
    parser.add_argument(
        "--json", action="store_true", help="one JSON object, schema laptime.causes/1"
    )


def run(args: argparse.Namespace) -> int:
    """Print the list or the page."""
    from laptime.causes import catalogue
    from laptime.report import layout
    from laptime.report.catalogue import render_list, render_page, write_json

    found = catalogue.pages() if args.id is None else [catalogue.page_named(args.id)]
    if args.json:
        write_json(found, sys.stdout)
    elif args.id is None:
        render_list(found, layout.console(sys.stdout, None))
    else:
        render_page(found[0], layout.console(sys.stdout, None))
    return 0
