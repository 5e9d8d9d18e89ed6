"""Serve laptime to other programs by the Model Context Protocol (MCP), over stdin and stdout.

The program that asks, such as a coding agent, starts this command and gets the tools open, explain,
why, sql, tables and causes, with typed results, bounded in size. It reads local files only, never
stdin or a URL, runs nothing and writes nothing. Needs the optional extra laptime[mcp].
"""

from __future__ import annotations

import argparse

from laptime.model.errors import UsageError

SUMMARY = "serve other programs by the Model Context Protocol"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Define the command's arguments."""
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        help="read only what lies in this folder (links followed); may be given several times; "
        "default: any local file that you may read",
    )


def run(args: argparse.Namespace) -> int:
    """Serve until the other program closes stdin."""
    try:
        from laptime.mcp.server import server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types", "pydantic"):
            raise
        raise UsageError(
            "mcp: the MCP SDK, version 2 or later, is not installed: pip install 'laptime[mcp]'"
        ) from None
    server(args.root).run("stdio")
    return 0
