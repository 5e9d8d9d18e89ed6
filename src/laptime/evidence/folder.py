"""Files of a folder that may be evidence: how deep it is looked into, and what is left out.

Near the top every file is looked at. Further down a folder of a job holds much else (logs, caches,
checkpoints), so that only files named as traces are; a tree without end costs a bounded walk.
A saved run and a capture are one file each: the one by which their readers know them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from laptime.evidence.capture import CAPTURE_FILE
from laptime.evidence.natural import natural
from laptime.evidence.saved import META, is_saved
from laptime.model.errors import UnreadableInput

EVERY_FILE_LEVELS = 1
"""Levels below the folder whose files are read whatever their names."""

LEVELS = 3
"""Levels below the folder that are looked into: enough for a host, a rank and a capture."""

TRACE_NAMES = (".json", ".json.gz", ".json.zst", ".trace", ".trace.gz", ".trace.zst")


@dataclass
class Listing:
    """Files to look at, in natural order, and what else lies below the folder."""

    files: list[Path] = field(default_factory=list)
    other_names: int = 0
    too_deep: list[Path] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def left_out(self, folder: Path) -> list[str]:
        """What is not looked at, one sentence each."""
        said = [f"skipped: {why}" for why in self.closed]
        if self.other_names:
            said.append(
                f"{folder}: {_many(self.other_names, 'file')} two or more levels below, not named "
                "as traces (.json, .json.gz, ...), not looked at; name them to read them"
            )
        if self.too_deep:
            first = min(self.too_deep, key=lambda p: natural(str(p)))
            said.append(
                f"{folder}: {_many(len(self.too_deep), 'folder')} more than {LEVELS} levels below "
                f"not looked into ({first}); name them to read them"
            )
        return said


def list_folder(folder: Path) -> Listing:
    """Look for files, hidden ones and those of hidden folders left out.

    Raises ``UnreadableInput`` where the folder itself cannot be listed.
    """
    found = Listing()
    level, seen = [folder], {os.path.realpath(folder)}
    for depth in range(LEVELS + 1):
        below: list[Path] = []
        for one in level:
            try:
                entries = _entries(one)
            except UnreadableInput as error:
                if depth == 0:
                    raise
                found.closed.append(str(error))
                continue
            captured = [e for e in entries if e.name == CAPTURE_FILE and e.is_file()]
            if captured:  # its reader finds what lies beside it
                found.files += captured
                continue
            folders = [e for e in entries if e.is_dir()]
            saved = [e for e in folders if is_saved(e)]
            found.files += [e / META for e in saved]
            below += [e for e in folders if e not in saved]
            files = [e for e in entries if e.is_file()]
            named = [f for f in files if depth <= EVERY_FILE_LEVELS or _named_as_trace(f)]
            found.files += named
            found.other_names += len(files) - len(named)
        level = []
        for one in sorted(below):  # a link may lead back up: each folder is looked into once
            if (real := os.path.realpath(one)) not in seen:
                seen.add(real)
                level.append(one)
    found.too_deep = level
    found.files.sort(key=lambda p: natural(str(p)))
    return found


def _named_as_trace(path: Path) -> bool:
    return path.name.lower().endswith(TRACE_NAMES)


def _entries(folder: Path) -> Sequence[Path]:
    try:
        return [e for e in folder.iterdir() if not e.name.startswith(".")]
    except OSError as error:
        why = error.strerror or str(error)
        raise UnreadableInput(
            f"{folder}: cannot be listed: {why}; make it readable (chmod +rx)"
        ) from None


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
