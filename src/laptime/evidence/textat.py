"""Text at any offset, read again: where reading can start, and a cursor that goes forward.

gzip gets an access-point index while it is read the first time: a copy of the decoder's state
each 8 MiB of text, at most ``MAX_POINTS`` of them (the spacing doubles when they are used up).
A state is 40 KiB (measured), so the index stays under 6 MiB whatever the file. zstd can start at
its frames only, plain text anywhere.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Protocol

from laptime.evidence.compressed import AccessPoint, GzipText
from laptime.evidence.frames import ZstdText
from laptime.evidence.source import PlainText, Source
from laptime.evidence.stored import Stored

SPACING_BYTES = 8 << 20
MAX_POINTS = 128
_PIECE_BYTES = 1 << 18
_SLACK_BYTES = 1 << 20
"""Text that is read over rather than jumped."""


class TextAt(Protocol):
    """Text that can be started at several places."""

    def start_before(self, offset: int) -> int:
        """The last known place at or before ``offset`` where reading can start."""
        ...

    def text_from(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """(where the text starts, its pieces) from ``start_before(offset)`` on."""
        ...


class PlainAt:
    """Plain text of a file that can be read again."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored

    def start_before(self, offset: int) -> int:
        """Anywhere."""
        return offset

    def text_from(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """Pieces from ``offset`` on."""
        return offset, _closing(PlainText(self._stored, piece_bytes=_PIECE_BYTES, start=offset))


class GzipAt:
    """gzip text with an index of access points that grows as it is read."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._points = [AccessPoint(0, 0, None)]
        self._offsets = [0]
        self.spacing_bytes = SPACING_BYTES

    @property
    def points(self) -> int:
        """Number of access points held."""
        return len(self._points)

    def _mark(self, point: AccessPoint) -> None:
        if point.text < self._offsets[-1] + self.spacing_bytes:
            return
        self._points.append(point)
        if len(self._points) > MAX_POINTS:
            self._points = self._points[::2]
            self.spacing_bytes *= 2
        self._offsets = [p.text for p in self._points]

    def start_before(self, offset: int) -> int:
        """The nearest access point at or before ``offset``."""
        return self._offsets[bisect.bisect_right(self._offsets, offset) - 1]

    def text_from(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """Pieces from the nearest access point on."""
        point = self._points[bisect.bisect_right(self._offsets, offset) - 1]
        text = GzipText(
            self._stored,
            _ignore,
            piece_bytes=_PIECE_BYTES,
            careful=True,
            start=point,
            mark=self._mark,
        )
        return point.text, _closing(text)


class ZstdAt:
    """zstd text, started at frames at least 1 MiB of text apart."""

    def __init__(self, stored: Stored) -> None:
        self._stored = stored
        self._frames = [(0, 0)]

    def _mark(self, text: int, stored: int) -> None:
        if text >= self._frames[-1][0] + _SLACK_BYTES:
            self._frames.append((text, stored))

    def _frame(self, offset: int) -> tuple[int, int]:
        return self._frames[bisect.bisect_right(self._frames, (offset, 1 << 62)) - 1]

    def start_before(self, offset: int) -> int:
        """The nearest known frame at or before ``offset``."""
        return self._frame(offset)[0]

    def text_from(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """Pieces from the nearest known frame on."""
        start = self._frame(offset)
        text = ZstdText(
            self._stored, _ignore, piece_bytes=_PIECE_BYTES, start=start, mark=self._mark
        )
        return start[0], _closing(text)


def text_at(source: Source) -> TextAt | None:
    """How the text of a source is read again; None for a stream that was not kept."""
    if not source.rereadable:
        return source.spill
    if source.compression == "gzip":
        return GzipAt(source.stored)
    if source.compression == "zstd":
        return ZstdAt(source.stored)
    return PlainAt(source.stored)


class Cursor:
    """Spans of text, cheap when asked in ascending order."""

    def __init__(self, text: TextAt) -> None:
        self._text = text
        self._pieces: Iterator[bytes] = iter(())
        self._piece = b""
        self._start = -1

    def span(self, offset: int, length: int) -> bytes | None:
        """Text of ``length`` bytes at ``offset``; None where the text ends before it does."""
        end = self._start + len(self._piece)
        if (
            self._start < 0
            or offset < self._start
            or self._text.start_before(offset) > end + _SLACK_BYTES
        ):
            self.close()
            self._start, self._pieces = self._text.text_from(offset)
            self._piece = b""
        while (end := self._start + len(self._piece)) <= offset:
            if not self._next(end):
                return None
        at = offset - self._start
        parts = [self._piece[at : at + length]]
        have = len(parts[0])
        while have < length:
            if not self._next(self._start + len(self._piece)):
                return None
            parts.append(self._piece[: length - have])
            have += len(parts[-1])
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _next(self, start: int) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._piece, self._start = piece, start
        return True

    def close(self) -> None:
        """Close the file being read, if any."""
        close = getattr(self._pieces, "close", None)
        if close is not None:
            close()


def _closing(text: PlainText | GzipText | ZstdText) -> Iterator[bytes]:
    try:
        yield from text.pieces()
    finally:
        text.reader.close()


def _ignore(reason: str, offset: int) -> None:
    """What is lost was said when the text was read the first time."""
