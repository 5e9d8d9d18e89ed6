"""gzip to text, piece by piece, keeping every byte that can be decoded.

Two engines read the same raw deflate data. The fast one (ISA-L) is used first; it gives nothing
of the call in which it meets damage. The careful one (zlib-ng) keeps a copy of its state from
before each call, so that damage can be approached to the byte, and so that the copies serve as
access points for reading again later. Frame layout after RFC 1952 (gzip).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from isal import isal_zlib
from zlib_ng import zlib_ng

from laptime.evidence.stored import Reader

INPUT_BYTES = 1 << 16
"""Stored bytes handed to a decoder at a time."""

Lose = Callable[[str, int], None]
"""``lose(reason, text_offset)``."""

MAGIC = b"\x1f\x8b\x08"
_HEADER_LIMIT = 1 << 20
_TRIAL_BYTES = 1 << 12
# The stubs call these instances; they are classes.
_ERRORS: tuple[Any, ...] = (zlib_ng.error, isal_zlib.error)
_LEAST_MEMBER_BYTES = 20
_MOST_TRIES = 1000
"""A header by chance is one in 100 MB; data that holds many is made to waste time."""
_MOST_EMPTY = 10_000
_DONE, _CUT, _DAMAGED, _AGAIN = range(4)
_MEMBER, _LOST, _END = range(3)
_DAMAGE = (
    "gzip data is damaged; {} stored bytes skipped",
    "gzip data is damaged; the last {} stored bytes cannot be decoded",
)
_TRAILING = (
    "{} stored bytes between gzip members are not gzip; skipped",
    "{} bytes after the end of the gzip data are not gzip",
)


@dataclass(frozen=True)
class AccessPoint:
    """A place where gzip decoding can start: text offset, stored offset, decoder state.

    ``state`` is None at the start of a member.
    """

    text: int
    stored: int
    state: Any


class Openable(Protocol):
    """What a decoder needs of a file: bytes from any offset on."""

    def open(self, at: int = 0) -> Reader:
        """Stored bytes from ``at`` on."""
        ...


class GzipText:
    """The text of gzip members one after another.

    ``careful`` takes the careful engine from the start (needed where bytes come only once).
    ``lose`` hears of truncation, damage, wrong checksums and trailing bytes. ``mark`` is called
    with an access point before each careful call. The first ``skip`` bytes of text, which another
    engine has given out, are made but not given. Iterate ``pieces()`` once.
    """

    def __init__(
        self,
        stored: Openable,
        lose: Lose,
        *,
        piece_bytes: int = 1 << 20,
        careful: bool = False,
        start: AccessPoint | None = None,
        mark: Callable[[AccessPoint], None] | None = None,
        skip: int = 0,
    ) -> None:
        self._stored = stored
        self._lose = lose
        self._piece_bytes = piece_bytes
        self._careful = careful
        self._mark = mark
        self._start = start
        self._base = start.stored if start else 0
        self.reader = stored.open(self._base)
        self._buffer = b""
        self._text = start.text if start else 0
        self._skip = skip
        self._crc = 0
        self._member_text = 0

    @property
    def position(self) -> int:
        """Stored bytes used so far, from the start of the file."""
        return self._base + self.reader.count - len(self._buffer)

    def pieces(self) -> Iterator[bytes]:
        """Text in order, at most ``piece_bytes`` at a time."""
        resume = self._start.state if self._start else None
        first, empty = True, 0
        while True:
            at, whole = self.position, resume is None
            if whole:
                follows = self._header(first)
                if follows == _LOST and self._resync(_TRAILING):
                    continue
                if follows != _MEMBER:
                    return
            self._crc, self._member_text = 0, 0
            end = yield from self._inflate(resume.copy() if resume is not None else None)
            resume, first = None, False
            if end == _AGAIN:
                self._again(at)
            elif end == _DAMAGED:
                if not self._resync(_DAMAGE):
                    return
            elif end == _CUT or not self._trailer(whole):
                return
            empty = 0 if self._member_text else empty + 1
            if empty > _MOST_EMPTY:
                self._lose(f"stopped after {empty} gzip members without text", self._text)
                return

    def _again(self, at: int) -> None:
        """Go back to the member at ``at`` with the careful engine; skip what was given out."""
        self.reader.close()
        self.reader = self._stored.open(at)
        self._base, self._buffer, self._careful = at, b"", True
        self._skip += self._member_text
        self._text -= self._member_text

    def _fill(self, n: int) -> bool:
        """Have at least ``n`` bytes in the buffer, if there are as many."""
        while len(self._buffer) < n:
            got = self.reader.read(INPUT_BYTES)
            if not got:
                return False
            self._buffer += got
        return True

    def _header(self, first: bool) -> int:
        """Step over a member's header; says what was found instead, if it was none.

        Zeros after the last member are allowed; other bytes between or after members are not.
        """
        while not first and self._fill(1) and self._buffer[0] == 0:
            self._buffer = self._buffer.lstrip(b"\0")
        if not self._fill(1):
            return _END
        if not self._fill(10) and MAGIC.startswith(self._buffer[:3]):
            end = None
        elif self._buffer[:3] != MAGIC or (self._buffer[3] & 0xE0 and not self._skip):
            # Reserved flags mean no member, unless another engine has read it already.
            return _LOST
        else:
            end = self._header_end()
        if end is None:
            self._lose("gzip data ends inside a member's header (truncated)", self._text)
            return _END
        self._buffer = self._buffer[end:]
        return _MEMBER

    def _header_end(self) -> int | None:
        """Length of the header at the start of the buffer; None where it is not whole."""
        flags, at = self._buffer[3], 10
        if flags & 4:
            if not self._fill(at + 2):
                return None
            at += 2 + int.from_bytes(self._buffer[at : at + 2], "little")
        for flag in (8, 16):
            if not flags & flag:
                continue
            while (zero := self._buffer.find(b"\0", at)) < 0:
                have = len(self._buffer)
                if have > _HEADER_LIMIT or not self._fill(have + 1):
                    return None
            at = zero + 1
        if flags & 2:
            at += 2
        return at if self._fill(at) else None

    def _inflate(self, state: Any) -> Generator[bytes, None, int]:
        """Decode one member's data; returns how it ended."""
        if state is None:
            state = (zlib_ng if self._careful else isal_zlib).decompressobj(-15)
        while not state.eof:
            if not self._fill(1):
                yield from self._out(state.flush())
                self._lose("gzip data ends inside a member (truncated)", self._text)
                return _CUT
            if self._careful:
                before = state.copy()
                if self._mark is not None and not state.unconsumed_tail:
                    self._mark(AccessPoint(self._text, self.position, before))
            try:
                piece = state.decompress(self._buffer, self._piece_bytes)
            except _ERRORS:
                if not self._careful:
                    return _AGAIN
                for piece in _up_to_damage(before, self._buffer):
                    yield from self._out(piece)
                return _DAMAGED
            self._buffer = state.unconsumed_tail
            yield from self._out(piece)
        self._buffer = state.unused_data
        return _DONE

    def _out(self, piece: bytes) -> Iterator[bytes]:
        self._crc = isal_zlib.crc32(piece, self._crc)
        self._member_text += len(piece)
        self._text += len(piece)
        if self._skip:
            piece, self._skip = piece[self._skip :], max(0, self._skip - len(piece))
        if piece:
            yield piece

    def _trailer(self, whole: bool) -> bool:
        """Compare checksum and length of the member; False where the file ends before them."""
        if not self._fill(8):
            self._lose("gzip data ends before its checksum (truncated)", self._text)
            return False
        crc, size = struct.unpack("<II", self._buffer[:8])
        self._buffer = self._buffer[8:]
        if whole and (crc != self._crc or size != self._member_text & 0xFFFFFFFF):
            at = self._text - self._member_text
            self._lose(
                "checksum of a gzip member is wrong; its text may be damaged anywhere after here",
                at,
            )
        return True

    def _resync(self, reasons: tuple[str, str]) -> bool:
        """Look for the start of another member; say what was skipped, or that none was found."""
        at, tries = self.position, 0
        self._buffer = self._buffer[1:]
        while self._fill(_TRIAL_BYTES) or len(self._buffer) > _LEAST_MEMBER_BYTES:
            found = self._buffer.find(MAGIC)
            if found < 0:
                self._buffer = self._buffer[-2:]
                if not self._fill(3):
                    break
                continue
            self._buffer = self._buffer[found:]
            self._fill(_TRIAL_BYTES)
            tries += 1
            if tries > _MOST_TRIES:
                break
            if self._looks_like_member():
                self._lose(reasons[0].format(self.position - at), self._text)
                return True
            self._buffer = self._buffer[1:]
        self._buffer = b""
        while self.reader.read(INPUT_BYTES):
            pass
        self._lose(reasons[1].format(self.position - at), self._text)
        return False

    def _looks_like_member(self) -> bool:
        if len(self._buffer) < _LEAST_MEMBER_BYTES or self._buffer[3] & 0xE0:
            return False
        end = self._header_end()
        if end is None:
            return False
        try:
            trial = zlib_ng.decompressobj(-15).decompress(self._buffer[end:], _TRIAL_BYTES)
        except _ERRORS:
            return False
        return len(trial) > 0


def _up_to_damage(state: Any, data: bytes) -> Iterator[bytes]:
    """What decodes before the damage, to within a byte, by ever smaller steps of output."""
    step = 1 << 19
    while step and data:
        trial = state.copy()
        try:
            piece = trial.decompress(data, step)
        except _ERRORS:
            step //= 2
            continue
        state, data = trial, trial.unconsumed_tail
        yield piece
