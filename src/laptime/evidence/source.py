"""A source: how the text of evidence gets from where the user has it to a reader.

The compression is told by the first bytes, never by the file's name. gzip and zstd are undone on
a thread of their own while the reader works; buffers: ``AHEAD`` pieces of ``chunk_bytes``
(4 x 1 MiB) waiting, one being made and one being read, plus 64 KiB (gzip) or 256 KiB (zstd) of
stored bytes and the decoder's window. A local plain file is read by the reader's own thread.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from laptime.evidence.ahead import ahead
from laptime.evidence.compressed import MAGIC as GZIP_MAGIC
from laptime.evidence.compressed import GzipText, Lose, Openable
from laptime.evidence.format import HEAD_BYTES
from laptime.evidence.frames import MAGIC as ZSTD_MAGIC
from laptime.evidence.frames import ZstdText
from laptime.evidence.sound import SoundGzip
from laptime.evidence.spill import Spill
from laptime.evidence.stored import LocalFile, Reader, RemoteFile, Stored, Stream, head_of, is_url
from laptime.model.errors import UnreadableInput, UsageError
from laptime.model.health import Loss

CHUNK_BYTES = 1 << 20
AHEAD = 4
_STORED_HEAD_BYTES = 1 << 18

_REFUSED = (
    (b"\xfd7zXZ\x00", "xz data; unpack it first (xz -dk)"),
    (b"BZh", "bzip2 data; unpack it first (bunzip2 -k)"),
    (b"\x04\x22\x4d\x18", "lz4 data; unpack it first (unlz4)"),
    (b"\x1f\x9d", "compress (.Z) data; unpack it first (uncompress)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-zip archive; unpack it and give the file inside"),
    (b"\xff\xfe", "UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "UTF-16 text; convert it first (iconv -f UTF-16 -t UTF-8)"),
)
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True)
class Limits:
    """How much text a source may give.

    ``max_text_bytes`` cuts the text there (None: no limit). Past ``ratio_floor_bytes`` of text,
    text of more than ``max_ratio`` times the stored bytes read so far ends the reading: deflate
    cannot pass 1032, traces compress 12 to 40 times, and zstd can be made to expand without
    bound. Either is recorded as a loss; what came before is kept.
    """

    max_text_bytes: int | None = None
    max_ratio: int = 1100
    ratio_floor_bytes: int = 64 << 20


class Source:
    """Evidence as the user has it: a path, an fsspec URL, ``-`` for stdin, or a binary file object.

    ``losses`` is complete once ``chunks()`` is used up. ``read_bytes`` may be read from another
    thread; ``total_bytes`` is the stored size, None where unknown. ``identity`` is what the file
    was when it was opened, None for a stream. A stream is kept in ``spill`` while it is read,
    unless ``spill=False``.

    Raises ``UsageError`` (no such file, a folder) or ``UnreadableInput`` (empty, not permitted,
    a compression that is not read) on opening.
    """

    def __init__(
        self,
        where: str | os.PathLike[str] | BinaryIO,
        *,
        limits: Limits | None = None,
        spill: bool = True,
    ) -> None:
        self.stored: Stored = _stored(where)
        self.name = self.stored.name
        self.limits = limits or Limits()
        self.losses: list[Loss] = []
        self.read_bytes = 0
        self.text_bytes = 0
        self.spill: Spill | None = None
        self._may_spill = spill
        head = head_of(self.stored, _STORED_HEAD_BYTES)
        if not head:
            raise UnreadableInput(f"{self.name}: is empty (0 bytes); record or copy it again")
        self.compression = _compression(head)
        self._refuse(head)
        self._head = self._text_head(head)
        self._refuse(self._head)
        self.identity = self.stored.identity()

    @property
    def total_bytes(self) -> int | None:
        """Stored size in bytes; None where it is not known."""
        return self.stored.size

    @property
    def rereadable(self) -> bool:
        """Whether the text can be read from the source more than once."""
        return self.stored.rereadable

    @property
    def spill_allowed(self) -> bool:
        """Whether a stream may be kept in a temporary file."""
        return self._may_spill

    def head(self) -> bytes:
        """The first ``HEAD_BYTES`` of text, or as much as there is."""
        return self._head

    def chunks(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
        """The text in order, in pieces of at most about ``chunk_bytes``, none empty.

        What the stored form lost is recorded in ``losses``, not raised. A stream can be read
        once. Close the iterator to stop early.
        """
        if self.compression == "none" and self.stored.local:
            return self._text(chunk_bytes)
        return ahead(lambda: self._text(chunk_bytes), AHEAD, f"laptime-read {self.name}")

    def close(self) -> None:
        """Delete the temporary copy of a stream, if there is one."""
        if self.spill is not None:
            self.spill.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lose(self, reason: str, offset: int) -> None:
        self.losses.append(Loss(reason, 1, self.name, offset))

    def _text(self, chunk_bytes: int) -> Generator[bytes, None, None]:
        """The text under the limits, kept in the spill where that is needed."""
        self.losses.clear()
        self.text_bytes = self.read_bytes = 0
        if not self.stored.rereadable and self._may_spill:
            self.spill = _new_spill()
        decoder = decoder_of(self.compression, self.stored, self._lose, chunk_bytes)
        try:
            for piece in decoder.pieces():
                self.read_bytes = max(self.read_bytes, decoder.position)
                kept = self._within_limits(piece)
                if kept:
                    if self.spill is not None:
                        self.spill.append(kept)
                    self.text_bytes += len(kept)
                    yield kept
                if len(kept) < len(piece):
                    break
            if decoder.reader.failure:
                self._lose(decoder.reader.failure, self.text_bytes)
            self.read_bytes = max(self.read_bytes, decoder.position)
            if self.spill is not None:
                self.spill.finish()
        finally:
            decoder.reader.close()

    def _within_limits(self, piece: bytes) -> bytes:
        limits, after = self.limits, self.text_bytes + len(piece)
        if limits.max_text_bytes is not None and after > limits.max_text_bytes:
            self._lose(
                f"stopped at the limit of {limits.max_text_bytes} bytes of text",
                limits.max_text_bytes,
            )
            return piece[: limits.max_text_bytes - self.text_bytes]
        if after > limits.ratio_floor_bytes and after > limits.max_ratio * self.read_bytes:
            self._lose(
                f"stopped: expands more than {limits.max_ratio} times, which no trace does "
                "(a decompression bomb?)",
                self.text_bytes,
            )
            return b""
        return piece

    def _text_head(self, head: bytes) -> bytes:
        """Text at the start, from the stored bytes at hand."""
        reasons: list[str] = []
        decoder = decoder_of(
            self.compression, _Bytes(head), lambda reason, _: reasons.append(reason), HEAD_BYTES
        )
        text = b""
        for piece in decoder.pieces():
            text += piece
            if len(text) >= HEAD_BYTES:
                break
        if not text:
            why = reasons[0] if reasons else "it holds no text"
            raise UnreadableInput(f"{self.name}: {why}; record or copy it again")
        return text[:HEAD_BYTES]

    def _refuse(self, head: bytes) -> None:
        for magic, what in _REFUSED:
            if head.startswith(magic):
                raise UnreadableInput(f"{self.name}: is {what}")
        if head.startswith(_ZIP):
            hint = "unzip it and give the trace inside"
            if self.stored.rereadable and not is_url(self.name):
                hint += f", or give zip://NAME::{self.name}"
            raise UnreadableInput(f"{self.name}: is a zip archive; {hint}")


class PlainText:
    """Text stored as it is."""

    def __init__(self, stored: Openable, *, piece_bytes: int, start: int = 0) -> None:
        self.reader = stored.open(start)
        self._start = start
        self._piece_bytes = piece_bytes

    @property
    def position(self) -> int:
        """Stored bytes used so far, from the start of the file."""
        return self._start + self.reader.count

    def pieces(self) -> Iterator[bytes]:
        """Text in order."""
        while piece := self.reader.read(self._piece_bytes):
            yield piece


def decoder_of(
    compression: str, stored: Stored | Openable, lose: Lose, piece_bytes: int
) -> PlainText | GzipText | SoundGzip | ZstdText:
    """The decoder of a compression: ``none``, ``gzip`` or ``zstd``."""
    if compression == "gzip" and getattr(stored, "local", False):
        return SoundGzip(stored, lose, piece_bytes=piece_bytes)
    if compression == "gzip":
        once = not getattr(stored, "rereadable", True)
        return GzipText(stored, lose, piece_bytes=piece_bytes, careful=once)
    if compression == "zstd":
        return ZstdText(stored, lose, piece_bytes=piece_bytes)
    return PlainText(stored, piece_bytes=piece_bytes)


class _Bytes:
    """Stored bytes at hand."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def open(self, at: int = 0) -> Reader:
        return Reader(io.BytesIO(self._data[at:]))


def _compression(head: bytes) -> str:
    if head[:2] == GZIP_MAGIC[:2]:
        return "gzip"
    skippable = head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50
    return "zstd" if head[:4] == ZSTD_MAGIC or skippable else "none"


def _stored(where: str | os.PathLike[str] | BinaryIO) -> Stored:
    if isinstance(where, str | os.PathLike):
        text = os.fspath(where)
        if text == "-":
            if sys.stdin is None:
                raise UsageError("-: stdin is closed; pipe a trace in, or name a file")
            if sys.stdin.isatty():
                raise UsageError("-: stdin is a terminal; pipe a trace in, or name a file")
            return Stream(sys.stdin.buffer)
        if isinstance(where, str) and is_url(text) and not os.path.exists(text):
            return RemoteFile(text)
        return LocalFile(where)
    name = getattr(where, "name", None)
    return Stream(where, name if isinstance(name, str) else "stream")


def _new_spill() -> Spill | None:
    try:
        return Spill()
    except OSError:
        return None
