"""Evidence as the server opens it: which paths it may read, and the last few explanations."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from laptime.model.errors import UsageError

KEPT = 4
"""Explanations kept in memory: an agent asks about one run many times, or compares two."""

_Stamp = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Asked:
    """What one explanation is of: paths as given, and the options that change it."""

    paths: tuple[str, ...]
    lap: str | None = None
    loader: tuple[str, ...] = ()


class Runs:
    """Explanations by what was asked, read again when a file has changed.

    ``roots`` limits reading to these folders, links followed; none means any local file that the
    user may read. Nothing is fetched: URLs and stdin are refused.
    """

    def __init__(self, roots: Sequence[str] = (), kept: int = KEPT) -> None:
        """Raises ``UsageError`` for a root that is no folder."""
        for root in roots:
            if not os.path.isdir(root):
                raise UsageError(f"--root {root}: no such folder")
        self._roots = tuple(Path(os.path.realpath(r)) for r in roots)
        self._kept = kept
        self._held: OrderedDict[Asked, tuple[_Stamp, Explanation]] = OrderedDict()
        self._lock = threading.Lock()

    def local(self, path: str) -> str:
        """The path, where the server may read it. Raises ``UsageError`` elsewhere."""
        if path == "-" or "://" in path:
            raise UsageError(f"{path}: only local files and folders are read here")
        real = Path(os.path.realpath(os.path.expanduser(path)))
        if self._roots and not any(real == r or r in real.parents for r in self._roots):
            allowed = ", ".join(str(r) for r in self._roots)
            raise UsageError(f"{path}: outside the folders that this server may read: {allowed}")
        if not real.exists():
            raise UsageError(f"{path}: no such file or folder")
        if self._roots and real.is_dir():
            self._contained(path, real)
        return str(real)

    def explanation(self, asked: Asked) -> Explanation:
        """The explanation, remembered while its files stay as they are.

        Raises ``UsageError`` and ``UnreadableInput`` as reading does. One at a time: a run fills
        memory, and the second to ask for it gets it for nothing.
        """
        asked = Asked(tuple(self.local(p) for p in asked.paths), asked.lap, asked.loader)
        with self._lock:
            stamp = _stamp(asked.paths)
            held = self._held.get(asked)
            if held is not None and held[0] == stamp:
                self._held.move_to_end(asked)
                return held[1]
            self._held.pop(asked, None)
            while len(self._held) >= self._kept:
                self._held.popitem(last=False)
            answer: Explanation = explanation_of(
                open_run(list(asked.paths)), laps=asked.lap, loader=asked.loader
            )
            self._held[asked] = stamp, answer
            return answer

    def _contained(self, path: str, folder: Path) -> None:
        """Raise where a folder holds links that lead out of the roots."""
        for at, _, names in os.walk(folder):
            for name in names:
                real = Path(os.path.realpath(os.path.join(at, name)))
                if not any(r in real.parents for r in self._roots):
                    raise UsageError(f"{path}: {name} is a link to outside the server's folders")


def _stamp(paths: Sequence[str]) -> _Stamp:
    """Size and time of every file behind the paths."""
    found: list[tuple[str, int, int]] = []
    for path in paths:
        files = [path]
        if os.path.isdir(path):
            files = [os.path.join(at, n) for at, _, names in os.walk(path) for n in names]
        for file in sorted(files):
            try:
                stat = os.stat(file)
            except OSError:
                continue
            found.append((file, stat.st_size, stat.st_mtime_ns))
    return tuple(found)
