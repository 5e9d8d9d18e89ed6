"""The trace again, with laps, accounts and findings as further tracks: for Perfetto's viewer.

The text of the trace is copied as it is, byte by byte; the further events stand before its own.
Where the text ends inside the trace, the copy ends behind the last whole event and is closed, so
that viewers which want whole JSON can load it.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from laptime.evidence.source import Source
from laptime.explanation import Explanation, View
from laptime.model.errors import CannotTell, UnreadableInput, UsageError
from laptime.report.trace_events import Exact, events_of

_OPENING = re.compile(rb'"traceEvents"\s*:\s*\[')
_LIST_ROOT = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*\[")
_HEADER_BYTES = 64 << 20
"""The list of events is looked for in this much text: headers hold kilobytes."""

_CUT = "text ends inside the trace"
_GZIP_LEVEL = 6


def write(explanation: Explanation, view: View, path: str) -> int:
    """Write the annotated trace of one timeline to ``path`` (gzip where it ends in ``.gz``).

    Returns how many events were added. Raises ``CannotTell`` where the source cannot be read again
    or holds no list of events, ``UsageError`` where ``path`` cannot be written.
    """
    added = 0

    def counted() -> Iterator[bytes]:
        nonlocal added
        for event in events_of(explanation, view):
            added += 1
            yield _text_of(event).encode("ascii")

    try:
        with _open(path) as out:
            for piece in _annotated(explanation, view, counted()):
                out.write(piece)
    except OSError as error:
        why = error.strerror or error
        raise UsageError(
            f"--perfetto {path}: cannot be written: {why}; name a file that can be made"
        ) from None
    return added


def _open(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        # Without a time of writing in it, equal traces give equal files.
        return gzip.GzipFile(path, "wb", compresslevel=_GZIP_LEVEL, mtime=0)  # type: ignore[return-value]
    return Path(path).open("wb")


def _annotated(explanation: Explanation, view: View, events: Iterator[bytes]) -> Iterator[bytes]:
    """The text of the source with the events put in at the start of its list."""
    cut = _cut_at(explanation, view)
    text = _text(view, cut)
    head = b""
    opening = None
    for piece in text:
        head += piece
        opening = _OPENING.search(head) or _LIST_ROOT.match(head)
        if opening is not None and head[opening.end() :].strip():
            break
        if len(head) > _HEADER_BYTES:
            break
    if opening is None:
        raise CannotTell(
            f"{view.timeline.source}: the list of events was not found in its text, so that "
            "nothing can be put into it; export the trace again"
        )
    yield head[: opening.end()]
    first = True
    for event in events:
        yield (b"\n" if first else b",\n") + event
        first = False
    rest = head[opening.end() :]
    if not first and not rest.lstrip().startswith(b"]") and rest.strip():
        yield b","
    if cut is None:
        yield rest
        yield from text
        return
    yield from _closed(rest, text, b"]" if _LIST_ROOT.match(head) else b"]}")


def _closed(rest: bytes, text: Iterator[bytes], closing: bytes) -> Iterator[bytes]:
    """The text without blanks and commas at its end, then the closing brackets."""
    held = rest
    for piece in text:
        kept = held + piece
        held = kept[len(kept.rstrip(b", \t\r\n")) :]
        yield kept[: len(kept) - len(held)]
    yield held.rstrip(b", \t\r\n")
    yield b"\n" + closing + b"\n"


def _cut_at(explanation: Explanation, view: View) -> int | None:
    """Where the last whole event of a text that breaks off ends; None for a whole text."""
    places = [
        loss.offset
        for loss in explanation.run.health.losses
        if loss.source == view.timeline.source and loss.reason == _CUT and loss.offset is not None
    ]
    return min(places, default=None)


def _text(view: View, cut: int | None) -> Iterator[bytes]:
    """The source's text again, up to ``cut``."""
    name = view.timeline.source
    try:
        source = Source(name, spill=False)
    except (UsageError, UnreadableInput):
        raise CannotTell(
            f"{name}: cannot be read a second time, which copying it needs; give a file"
        ) from None
    with source:
        if not source.rereadable:
            raise CannotTell(
                f"{name}: a stream is read once and copying it needs a second time; give a file"
            )
        left = cut
        for piece in source.chunks():
            if left is None:
                yield piece
                continue
            yield piece[:left]
            left -= len(piece)
            if left <= 0:
                return


def _text_of(value: Any) -> str:
    """JSON in which ``Exact`` numbers keep every digit."""
    if isinstance(value, Exact):
        return str(value)
    if isinstance(value, dict):
        inside = ",".join(f"{json.dumps(k)}:{_text_of(v)}" for k, v in value.items())
        return "{" + inside + "}"
    return json.dumps(value, allow_nan=False)
