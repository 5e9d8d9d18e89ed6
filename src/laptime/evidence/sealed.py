"""Checksums of a saved run: damage, edits and files of another run are told before they are read.

``meta.json`` holds the size and the CRC-32 of each Parquet file, and one of itself. DuckDB writes
none for the pages of a file: a flipped byte would come out as another number. Each file is checked
when it is first read; a folder saved before checksums were kept is read without.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from isal import isal_zlib

from laptime.model.errors import UnreadableInput

FILES = "files"
SELF = "crc32"
_PIECE_BYTES = 1 << 20


def sealed(meta: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What ``meta.json`` holds, with the checksums of the folder's files and its own."""
    files = sorted(f for f in folder.rglob("*.parquet"))
    held = {f.relative_to(folder).as_posix(): list(_crc32_of(f)) for f in files}
    whole = {**meta, FILES: held}
    return {**whole, SELF: _crc32_of_text(json.loads(json.dumps(whole)))}


def check_meta(folder: Path, meta: Mapping[str, Any]) -> None:
    """Raise ``UnreadableInput`` where ``meta.json`` is not what was written."""
    if SELF not in meta:
        if FILES in meta:
            raise _damaged(folder, "meta.json has lost its checksum")
        return
    if meta[SELF] != _crc32_of_text({k: v for k, v in meta.items() if k != SELF}):
        raise _damaged(folder, "meta.json is not as it was written")


class Seal:
    """The checksums of one folder, and which of its files were found sound."""

    def __init__(self, folder: Path, meta: Mapping[str, Any]) -> None:
        self._folder = folder
        said = meta.get(FILES)
        self._files: Mapping[str, Any] | None = said if isinstance(said, Mapping) else None
        self._sound: set[str] = set()

    def holds(self, path: Path) -> bool:
        """Whether the file was saved; where no checksums were kept, whether it is there."""
        if self._files is None:
            return path.exists()
        return path.relative_to(self._folder).as_posix() in self._files

    def check(self, paths: Iterable[Path]) -> None:
        """Raise ``UnreadableInput`` where a file is missing or not as it was written."""
        if self._files is None:
            return
        for path in paths:
            name = path.relative_to(self._folder).as_posix()
            if name in self._sound:
                continue
            was = self._files.get(name)
            try:
                now = list(_crc32_of(path))
            except OSError as error:
                why = (error.strerror or type(error).__name__).lower()
                raise _damaged(self._folder, f"{name}: {why}") from None
            if was != now:
                raise _damaged(self._folder, f"{name} is not as it was written")
            self._sound.add(name)


def _damaged(folder: Path, what: str) -> UnreadableInput:
    return UnreadableInput(f"{folder}: is damaged: {what}; save the run again")


def _crc32_of(path: Path) -> tuple[int, int]:
    """Size and CRC-32 of a file."""
    size = crc = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_PIECE_BYTES):
            size += len(piece)
            crc = isal_zlib.crc32(piece, crc)
    return size, crc


def _crc32_of_text(value: Any) -> int:
    return int(isal_zlib.crc32(json.dumps(value, sort_keys=True).encode()))
