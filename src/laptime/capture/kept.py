"""Small files of /proc and /sys, read again and again through descriptors that stay open."""

from __future__ import annotations

import os

MOST_KEPT = 512
"""Descriptors kept open in all; files beyond them are opened at each reading."""

_kept = 0


class KeptFile:
    """One file, read from its start at each call; at most ``most`` bytes of it."""

    __slots__ = ("_fd", "_most", "_path")

    def __init__(self, path: str, most: int = 4096) -> None:
        self._path, self._most, self._fd = path, most, -1

    def read(self) -> bytes | None:
        """The file's text now; None where it is gone or may not be read."""
        global _kept
        try:
            if self._fd < 0:
                fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
                if _kept >= MOST_KEPT:
                    try:
                        return os.read(fd, self._most)
                    finally:
                        os.close(fd)
                self._fd = fd
                _kept += 1
            return os.pread(self._fd, self._most, 0)
        except OSError:
            return None

    def close(self) -> None:
        """Give the descriptor back."""
        global _kept
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            _kept -= 1
