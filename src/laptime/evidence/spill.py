"""Text that came once, kept compressed in a temporary file so that it can be read again.

Independent zstd frames (level 1) of 2 MiB of text each, with an index of where they start. The
file has no name and goes when it is closed, or with the process.
"""

from __future__ import annotations

import bisect
import tempfile
from collections.abc import Iterator

import zstandard

FRAME_BYTES = 2 << 20


class Spill:
    """Written once, front to back, then read at any offset. Not to be shared between threads
    at the same time."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="laptime-")  # noqa: SIM115
        self._compressor = zstandard.ZstdCompressor(level=1)
        self._held: list[bytes] = []
        self._held_bytes = 0
        self._text_at: list[int] = []
        self._stored_at: list[int] = [0]
        self.text_bytes = 0
        self.failure: str | None = None
        self.complete = False

    @property
    def stored_bytes(self) -> int:
        """Size of the temporary file."""
        return self._stored_at[-1]

    def append(self, text: bytes) -> None:
        """Keep the next piece of text. A full disk ends the keeping (``failure``), not the read."""
        if self.failure is not None:
            return
        self._held.append(text)
        self._held_bytes += len(text)
        if self._held_bytes >= FRAME_BYTES:
            self._write()

    def finish(self) -> None:
        """The text is complete."""
        self._write()
        self.complete = self.failure is None

    def _write(self) -> None:
        if not self._held_bytes or self.failure is not None:
            return
        frame = self._compressor.compress(b"".join(self._held))
        try:
            self._file.write(frame)
        except OSError as error:
            self.failure = f"the temporary copy could not be written: {error.strerror or error}"
        else:
            self._text_at.append(self.text_bytes)
            self._stored_at.append(self._stored_at[-1] + len(frame))
            self.text_bytes += self._held_bytes
        self._held, self._held_bytes = [], 0

    def text_from(self, offset: int) -> tuple[int, Iterator[bytes]]:
        """Text from the frame that holds ``offset`` on: (where it starts, pieces)."""
        at = max(0, bisect.bisect_right(self._text_at, offset) - 1)
        return (self._text_at[at] if self._text_at else 0), self._frames(at)

    def start_before(self, offset: int) -> int:
        """Where the frame that holds ``offset`` starts in the text."""
        at = bisect.bisect_right(self._text_at, offset) - 1
        return self._text_at[at] if at >= 0 else 0

    def _frames(self, at: int) -> Iterator[bytes]:
        decompressor = zstandard.ZstdDecompressor()
        for start, end in zip(self._stored_at[at:-1], self._stored_at[at + 1 :], strict=True):
            self._file.seek(start)
            yield decompressor.decompress(self._file.read(end - start))

    @property
    def closed(self) -> bool:
        """Whether the temporary file is gone."""
        return self._file.closed

    def close(self) -> None:
        """Delete the temporary file."""
        self._file.close()
        self.complete = False
        self.failure = self.failure or "it was closed"
