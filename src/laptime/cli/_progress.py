"""Progress of reading, on stderr, only where a person watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, "int | None"], None]
"""``report(source, read_bytes, total_bytes)``: stored bytes of a source; total None if unknown."""


@contextmanager
def reading() -> Iterator[Report | None]:
    """A function to report bytes read to; None where stderr is no terminal (nothing is shown)."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TextColumn,
        TransferSpeedColumn,
    )

    from laptime.report.numbers import shorten, visible

    bars: dict[str, TaskID] = {}
    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Console(stderr=True),
        transient=True,
    )

    def report(source: str, read_bytes: int, total_bytes: int | None) -> None:
        if source not in bars:
            name = shorten(visible(source.rsplit("/", 1)[-1]), 40)
            bars[source] = progress.add_task(name, total=total_bytes)
        going = total_bytes is None or read_bytes < total_bytes
        progress.update(bars[source], completed=read_bytes, total=total_bytes, visible=going)

    with progress:
        yield report
