"""Scrub a file or a saved run into another one, and say what was replaced."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laptime.evidence.format import Progress
from laptime.evidence.registry import identify, open_run
from laptime.evidence.saved import is_saved
from laptime.evidence.source import Source
from laptime.explaining import explanation_of
from laptime.model.errors import UnreadableInput, UsageError
from laptime.saving import save
from laptime.scrubbing.names import Names
from laptime.scrubbing.saved import scrubbed
from laptime.scrubbing.text import Scrubber


@dataclass(frozen=True)
class Scrubbed:
    """What scrubbing did: distinct names ``replaced`` and ``kept`` by sort, ``damaged`` places
    that were masked, and ``left_out``: what the copy lacks."""

    replaced: Mapping[str, int]
    kept: Mapping[str, int]
    damaged: int = 0
    left_out: tuple[str, ...] = ()


def scrub(
    source: str,
    to: str | os.PathLike[str],
    *,
    keep: str | None = None,
    mapping: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Scrubbed:
    """Write a copy of a trace or a saved run whose names are replaced.

    The copy is compressed as its name's end says (.gz, .zst, else not). ``keep``: a regular
    expression; names in which it is found stay. ``mapping``: a file to write the replacements to.
    Raises ``UsageError`` and ``UnreadableInput``; a copy that fails is not left behind.
    """
    out = Path(to)
    if os.path.lexists(out):
        raise UsageError(f"{out}: exists; name another file")
    if mapping is not None and os.path.lexists(mapping):
        raise UsageError(f"--map {mapping}: exists; name another file")
    try:
        names = Names(None if keep is None else re.compile(keep))
    except re.error as error:
        raise UsageError(f"--keep-names {keep}: is no regular expression: {error}") from None
    if os.path.isdir(source):
        if not is_saved(source):
            raise UsageError(f"{source}: a folder; name a trace in it, or a saved run")
        done = _saved(source, out, names)
    else:
        done = _trace(source, out, names, progress)
    if mapping is not None:
        told = {a: b for a, b in sorted(names.mapping.items()) if a != b}
        try:
            Path(mapping).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--map {mapping}: cannot be written: {error.strerror}") from None
    return done


def _saved(source: str, out: Path, names: Names) -> Scrubbed:
    run = open_run(source)
    save(explanation_of(scrubbed(run, names)), out)
    left = ("the counters of laptime run",) if run.captures else ()
    return Scrubbed(dict(names.counts), dict(names.kept), left_out=left)


def _trace(source: str, out: Path, names: Names, progress: Progress | None) -> Scrubbed:
    evidence = Source(source, spill=False)
    found = identify(evidence.head(), evidence.name)
    if found is None or found[0].id != "kineto":
        what = found[0].title if found is not None else "of no format that laptime knows"
        raise UnreadableInput(f"{source}: is {what}; traces and saved runs can be scrubbed")
    scrubber = Scrubber(names)
    making = out.with_name(f".{out.name}.{os.getpid()}.partial")
    told_at = 0
    try:
        with ExitStack() as stack:
            file = _writer(making, out.suffix, stack)
            for piece in scrubber.pieces(evidence.chunks()):
                file.write(piece)
                if progress is not None and evidence.read_bytes >= told_at:
                    progress(evidence.name, evidence.read_bytes, evidence.total_bytes)
                    told_at = evidence.read_bytes + (1 << 20)
        os.rename(making, out)
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror or error}") from None
    finally:
        making.unlink(missing_ok=True)
    damaged = scrubber.damaged + len(evidence.losses)
    return Scrubbed(dict(names.counts), dict(names.kept), damaged)


def _writer(path: Path, suffix: str, stack: ExitStack) -> Any:
    file = stack.enter_context(path.open("wb"))
    if suffix == ".gz":
        import gzip

        return stack.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0))
    if suffix in (".zst", ".zstd"):
        import zstandard

        return stack.enter_context(zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return file
