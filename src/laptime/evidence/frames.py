"""zstd to text, block by block, keeping every block that can be decoded.

The frame's own block headers are followed, so that each call to the decoder gives at most one
block (128 KiB): memory stays bounded whatever the ratio, damage costs the rest of its frame and
no more, and a file cut short is known as such. Layout after RFC 8878.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import zstandard

from laptime.evidence.compressed import Lose, Openable

MAGIC = b"\x28\xb5\x2f\xfd"
_INPUT_BYTES = 1 << 18
_WINDOW_LIMIT = 128 << 20
"""Largest window a frame may ask for; the zstd tool's own limit without ``--long``."""


class ZstdText:
    """The text of zstd frames one after another. Iterate ``pieces()`` once.

    ``lose`` hears of truncation, damage, wrong checksums and trailing bytes. ``mark`` is called
    with (text offset, stored offset) at the start of each frame. Decoding starts at ``start``,
    which must be such a pair.
    """

    def __init__(
        self,
        stored: Openable,
        lose: Lose,
        *,
        piece_bytes: int = 1 << 20,
        start: tuple[int, int] = (0, 0),
        mark: Callable[[int, int], None] | None = None,
    ) -> None:
        self._text, self._base = start
        self._lose = lose
        self._piece_bytes = piece_bytes
        self._mark = mark
        self.reader = stored.open(self._base)
        self._buffer = b""
        self._at = 0
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._error = ""

    @property
    def position(self) -> int:
        """Stored bytes used so far, from the start of the file."""
        return self._base + self.reader.count - (len(self._buffer) - self._at)

    def pieces(self) -> Iterator[bytes]:
        """Text in order, about ``piece_bytes`` at a time."""
        going = True
        while going:
            going = yield from self._frame()
        yield from self._release()

    def _take(self, n: int) -> bytes:
        """The next ``n`` stored bytes, fewer at the end."""
        while len(self._buffer) - self._at < n:
            got = self.reader.read(max(_INPUT_BYTES, n))
            if not got:
                break
            self._buffer, self._at = self._buffer[self._at :] + got, 0
        taken = self._buffer[self._at : self._at + n]
        self._at += len(taken)
        return taken

    def _out(self, piece: bytes) -> Iterator[bytes]:
        self._text += len(piece)
        self._held.append(piece)
        self._held_bytes += len(piece)
        if self._held_bytes >= self._piece_bytes:
            yield from self._release()

    def _release(self) -> Iterator[bytes]:
        if self._held_bytes:
            yield b"".join(self._held)
        self._held, self._held_bytes = [], 0

    def _cut(self, where: str) -> bool:
        self._lose(f"zstd data ends inside {where} (truncated)", self._text)
        return False

    def _frame(self) -> Generator[bytes, None, bool]:
        """One frame; False where no other can follow."""
        start = self.position
        magic = self._take(4)
        if not magic:
            return False
        if len(magic) == 4 and magic[1:] == b"\x2a\x4d\x18" and magic[0] & 0xF0 == 0x50:
            return self._skippable()
        if magic != MAGIC:
            return self._no_frame(magic)
        if self._mark is not None:
            self._mark(self._text, start)
        header = self._header()
        if header is None:
            return self._cut("a frame's header")
        decoder = zstandard.ZstdDecompressor(max_window_size=_WINDOW_LIMIT).decompressobj()
        whole = self._feed(decoder, magic + header)
        if whole is None:
            self._say_damaged()
        while True:
            head = self._take(3)
            if len(head) < 3:
                return self._cut("a frame")
            word = int.from_bytes(head, "little")
            last, kind, size = word & 1, word >> 1 & 3, word >> 3
            stored = 1 if kind == 1 else size
            if kind == 3 or stored > 1 << 17:
                return self._damaged()
            block = self._take(stored)
            if len(block) < stored:
                return self._cut("a frame")
            if whole is not None:
                whole = self._feed(decoder, head + block)
                if whole is None:
                    self._say_damaged()
                elif whole:
                    yield from self._out(whole)
            if last:
                break
        return (yield from self._end(decoder, header, whole))

    def _end(
        self, decoder: zstandard.ZstdDecompressionObj, header: bytes, whole: bytes | None
    ) -> Generator[bytes, None, bool]:
        if not header[0] & 4:
            return True
        checksum = self._take(4)
        if len(checksum) < 4:
            return self._cut("a frame")
        if whole is not None:
            rest = self._feed(decoder, checksum)
            if rest is None:
                self._lose("checksum of a zstd frame is wrong; its text may be damaged", self._text)
            else:
                yield from self._out(rest)
        return True

    def _header(self) -> bytes | None:
        """The frame header after its magic number; None where it is not whole."""
        first = self._take(1)
        if not first:
            return None
        single = first[0] >> 5 & 1
        size_bytes = (single, 2, 4, 8)[first[0] >> 6]
        n = (1 - single) + (0, 1, 2, 4)[first[0] & 3] + size_bytes
        rest = self._take(n)
        return first + rest if len(rest) == n else None

    def _feed(self, decoder: zstandard.ZstdDecompressionObj, data: bytes) -> bytes | None:
        try:
            return decoder.decompress(data)
        except zstandard.ZstdError as error:
            self._error = " ".join(str(error).split())
            return None

    def _say_damaged(self) -> None:
        if "memory" in self._error:
            reason = "a zstd frame needs a window above 128 MiB; compress again without --long"
        else:
            reason = "zstd data is damaged; the rest of its frame cannot be decoded"
        self._lose(reason, self._text)

    def _damaged(self) -> bool:
        self._lose("zstd data is damaged; nothing after here can be decoded", self._text)
        return False

    def _skippable(self) -> bool:
        left = int.from_bytes(self._take(4), "little")
        while left > 0 and (got := self._take(min(left, _INPUT_BYTES))):
            left -= len(got)
        return True if left == 0 else self._cut("a skippable frame")

    def _no_frame(self, magic: bytes) -> bool:
        if MAGIC.startswith(magic):
            return self._cut("a frame's header")
        count = len(magic)
        while got := self._take(_INPUT_BYTES):
            count += len(got)
        self._lose(f"{count} bytes after the end of the zstd data are not zstd", self._text)
        return False
