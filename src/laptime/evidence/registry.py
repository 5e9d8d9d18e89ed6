"""Formats found by listing this folder, and runs opened from files and folders."""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from laptime.evidence.folder import list_folder
from laptime.evidence.format import Format, Match, Progress
from laptime.evidence.join import joined
from laptime.evidence.lookalike import looks_like
from laptime.evidence.saved import META, is_saved
from laptime.evidence.source import Limits, Source
from laptime.evidence.stored import is_url
from laptime.model.errors import LaptimeError, UnreadableInput, UsageError
from laptime.model.run import Part, Run

Where: TypeAlias = "str | os.PathLike[str] | BinaryIO"

LEAST_CONFIDENCE = 0.05
"""Below this a match is no match."""

LEAST_IN_FOLDER = 0.5
"""In a folder nobody said that a file is evidence: any JSON will not do."""

PROCESSES_FROM_BYTES = 16 << 20
"""Stored bytes in all from which several files are read in processes: starting them costs about
a second, in which one process reads this much."""


@functools.cache
def formats() -> tuple[Format, ...]:
    """Every format that a module of this folder defines as ``FORMAT``, by id."""
    import laptime.evidence as folder

    found = []
    for module in pkgutil.iter_modules(folder.__path__):
        defined = getattr(
            importlib.import_module(f"{folder.__name__}.{module.name}"), "FORMAT", None
        )
        if defined is not None:
            found.append(defined)
    return tuple(sorted(found, key=lambda f: f.id))


def identify(head: bytes, name: str) -> tuple[Format, Match] | None:
    """The format that fits the head of the text best; None where none does."""
    best: tuple[Format, Match] | None = None
    for candidate in formats():
        match = candidate.sniff(head, name)
        if match.confidence >= LEAST_CONFIDENCE and (
            best is None or match.confidence > best[1].confidence
        ):
            best = (candidate, match)
    return best


def open_run(
    paths: Where | Sequence[Where],
    *,
    progress: Progress | None = None,
    limits: Limits | None = None,
    spill: bool = True,
    n_jobs: int | None = None,
) -> Run:
    """Read evidence into one run: a file, a URL, ``-`` (stdin), a folder, or several of them.

    Of a folder, its files and those one level below are read in natural order, and those named as
    traces down to three levels below; files that are no evidence are skipped and named in
    ``health.warnings``, as are files that cannot be read and how much lies deeper. A file named by
    itself that cannot be read raises. ``n_jobs`` is the number of processes for
    several files (default: as many as there are files or processors, and only where the files
    are large enough to gain); the result does not depend on it. ``spill=False`` forbids the
    temporary copy of stdin.

    Raises ``UsageError`` (no such file) and ``UnreadableInput`` (no evidence in it).
    """
    listed = list(paths) if isinstance(paths, Sequence) and not isinstance(paths, str) else [paths]
    for where in listed:
        if not isinstance(where, str | os.PathLike) and not hasattr(where, "read"):
            raise UsageError(
                f"evidence is a path, a URL or an open binary file (or a list of them), "
                f"not {type(where).__name__}"
            )
    if not listed:
        raise UsageError("no file given; name a trace, a folder of traces, or '-' for stdin")
    plan = _Plan([], [])
    for where in listed:
        _add(plan, where, limits, spill)
    parts: list[Part] = []
    results = _read_all(plan.files, progress, limits, n_jobs)
    for file, result in zip(plan.files, results, strict=True):
        if isinstance(result, Part):
            parts.append(result)
        elif file.named:
            raise result
        else:
            plan.warnings.append(f"skipped: {result}")
    if not parts:
        raise UnreadableInput(plan.warnings[-1] if plan.warnings else "nothing could be read")
    return joined(parts, plan.warnings)


@dataclass
class _File:
    """One file to read: opened, recognised. ``named``: the user named it itself."""

    source: Source
    format_id: str
    named: bool


@dataclass
class _Plan:
    """Files to read, in order, and what is to be said about others."""

    files: list[_File]
    warnings: list[str]

    def known(self) -> set[str]:
        """Files already in the plan, whatever names they were given by."""
        return {_same(f.source.name) for f in self.files}


def _same(name: str) -> str:
    """One name for a file that links, or other spellings, name too; others as they are."""
    return os.path.realpath(name) if os.path.exists(name) else name


def _add(plan: _Plan, where: Where, limits: Limits | None, spill: bool) -> None:
    if isinstance(where, str | os.PathLike) and not _url(where) and os.path.isdir(where):
        if is_saved(where):
            _add(plan, os.path.join(where, META), limits, spill)
            return
        _add_folder(plan, Path(where), limits)
        return
    source = Source(where, limits=limits, spill=spill)
    if _same(source.name) in plan.known():
        plan.warnings.append(f"{source.name}: named twice; read once")
        return
    plan.files.append(_File(source, _recognised(source).id, named=True))


def _recognised(source: Source, least: float = LEAST_CONFIDENCE) -> Format:
    found = identify(source.head(), source.name)
    if found is None or found[1].confidence < least:
        what = looks_like(source.head(), source.name)
        readable = ", ".join(f.title for f in formats()) or "nothing yet"
        raise UnreadableInput(f"{source.name}: looks like {what}; laptime reads: {readable}")
    return found[0]


def _add_folder(plan: _Plan, folder: Path, limits: Limits | None) -> None:
    skipped: list[str] = []
    before = len(plan.files)
    have = plan.known()
    listing = list_folder(folder)
    for path in listing.files:
        if _same(str(path)) in have:
            continue
        have.add(_same(str(path)))
        try:
            source = Source(path, limits=limits)
            plan.files.append(_File(source, _recognised(source, LEAST_IN_FOLDER).id, False))
        except LaptimeError as error:
            skipped.append(str(error))
    left_out = listing.left_out(folder)
    if len(plan.files) == before and len(skipped) == len(listing.files):
        saw = f"; for example {skipped[0]}" if skipped else ", nor any file; check the path"
        if left_out and not skipped:
            saw = f"; {left_out[0].removeprefix(f'{folder}: ')}"
        raise UnreadableInput(f"{folder}: holds no evidence{saw}")
    for message in skipped[:_SAID]:
        plan.warnings.append(f"skipped: {message}")
    if len(skipped) > _SAID:
        plan.warnings.append(f"{folder}: {len(skipped) - _SAID} more files skipped")
    plan.warnings += left_out


_SAID = 8


def _read_all(
    files: Sequence[_File], progress: Progress | None, limits: Limits | None, n_jobs: int | None
) -> list[Part | LaptimeError]:
    jobs = _jobs(files, n_jobs)
    if jobs == 1:
        return [_read(f.source, f.format_id, progress) for f in files]
    from joblib import delayed

    calls = (delayed(_read)(f.source, f.format_id, None) for f in files)
    out: list[Part | LaptimeError] = []
    done, total = 0, sum(f.source.total_bytes or 0 for f in files)
    for file, result in zip(files, _parallel(jobs)(calls), strict=True):
        out.append(result)
        done += file.source.total_bytes or 0
        if progress is not None:
            progress(f"{len(out)} of {len(files)} files", done, total)
    return out


def _parallel(jobs: int) -> Any:
    """joblib's pool, giving results as they come where its backend can (for the progress)."""
    from joblib import Parallel

    try:
        return Parallel(n_jobs=jobs, return_as="generator")
    except ValueError:
        return Parallel(n_jobs=jobs)


def _jobs(files: Sequence[_File], n_jobs: int | None) -> int:
    """Processes to use: 1 means this one. A stream can only be read here."""
    if len(files) < 2 or not all(f.source.rereadable for f in files):
        return 1
    if n_jobs is not None:
        if n_jobs < 1:
            raise UsageError(f"n_jobs is {n_jobs}; it must be 1 or more")
        return min(n_jobs, len(files))
    if sum(f.source.total_bytes or 0 for f in files) < PROCESSES_FROM_BYTES:
        return 1
    return min(len(files), _processors())


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _read(source: Source, format_id: str, progress: Progress | None) -> Part | LaptimeError:
    """Read one file; runs in any process. An error is a value, so that others are still read."""
    reader = next(f for f in formats() if f.id == format_id)
    try:
        return reader.read(source, progress)
    except LaptimeError as error:
        return error


def _url(where: str | os.PathLike[str]) -> bool:
    return isinstance(where, str) and is_url(where)
