"""laptime: where every nanosecond of a training step or engine iteration went, and why.

The public API: ``open`` reads evidence into a ``Run``, ``explain`` accounts for its laps and names
the causes. Everything else may move between versions.

    >>> import laptime
    >>> answer = laptime.explain("trace.json.gz")
    >>> print(answer.verdict)
    >>> for finding in answer.judgement.findings:
    ...     print(finding.id, finding.bound_ns, finding.sentence)

Times are integer nanoseconds. Errors are ``LaptimeError`` and its subclasses, one line each.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from laptime.evidence.format import Progress
    from laptime.evidence.registry import Where
    from laptime.evidence.source import Limits
    from laptime.explanation import Explanation
    from laptime.model.errors import CannotTell, LaptimeError, UnreadableInput, UsageError
    from laptime.model.run import Run
    from laptime.model.table import Table
    from laptime.querying import sql
    from laptime.saving import save

__version__ = "0.1.0"

__all__ = [
    "CannotTell",
    "Explanation",
    "LaptimeError",
    "Run",
    "Table",
    "UnreadableInput",
    "UsageError",
    "explain",
    "lap",
    "open",
    "save",
    "sql",
]

_HOME = {
    "Explanation": "laptime.explanation",
    "Run": "laptime.model.run",
    "save": "laptime.saving",
    "sql": "laptime.querying",
    "Table": "laptime.model.table",
    "LaptimeError": "laptime.model.errors",
    "UsageError": "laptime.model.errors",
    "CannotTell": "laptime.model.errors",
    "UnreadableInput": "laptime.model.errors",
}


def open(
    paths: Where | Sequence[Where],
    *,
    progress: Progress | None = None,
    limits: Limits | None = None,
    spill: bool = True,
    n_jobs: int | None = None,
) -> Run:
    """Read evidence into one ``Run``: a trace, a URL, ``-`` (stdin), a folder, or several of them.

    Of a folder, its files and those one level below are read in natural order; files that are no
    evidence, or cannot be read, are skipped and named in ``run.health.warnings``. A file named by
    itself that cannot be read raises. ``progress(source, read_bytes, total_bytes)`` is called while
    reading (the total is None where it is not known); ``limits`` bounds how much text a source may
    give; ``spill=False`` forbids the temporary copy of stdin; ``n_jobs`` is the number of processes
    for several files, and never changes the result.

    Raises ``UsageError`` (no such file) and ``UnreadableInput`` (no evidence in it).
    """
    from laptime.evidence.registry import open_run

    return open_run(paths, progress=progress, limits=limits, spill=spill, n_jobs=n_jobs)


def explain(
    evidence: Run | Where | Sequence[Where],
    laps: str | None = None,
    loader: str | Sequence[str] = (),
) -> Explanation:
    """Account for every nanosecond of each lap, and name what costs it.

    ``evidence`` is a ``Run``, or what ``open`` takes. ``laps`` is the name of the marks to take as
    laps (exact, with wildcards, or how they begin) where the automatic choice is not wanted.
    ``loader`` names marks (exactly) or Python functions (the end of their frames) that load input,
    beside the recognised ones. Each timeline is explained by itself.

    Raises ``UsageError`` where ``laps`` or ``loader`` names something that is not there, and what
    ``open`` raises.
    """
    from laptime.explaining import explanation_of
    from laptime.model.run import Run

    run = evidence if isinstance(evidence, Run) else open(evidence)
    return explanation_of(run, laps, (loader,) if isinstance(loader, str) else loader)


def lap() -> None:
    """Mark the end of a lap and the start of the next, in a program under ``laptime run``.

    Laps marked by hand go before those found by themselves. Does nothing otherwise.
    """
    probe = sys.modules.get("_laptime_probe")
    if probe is not None:
        probe.mark()


def __getattr__(name: str) -> Any:
    """Load an exported class when it is first asked for, so that the command line starts fast."""
    if name not in _HOME:
        raise AttributeError(f"module 'laptime' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    """What the module holds, with what it has yet to load (``help`` asks for it)."""
    return sorted({*globals(), *__all__})
