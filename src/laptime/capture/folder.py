"""The folder of a capture: made before the program starts, closed after it ends."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from isal import igzip

from laptime.model.errors import UsageError

CAPTURE = "capture.json"
SCHEMA = "laptime.capture/1"
_CHUNK = 1 << 20


def make(path: str | os.PathLike[str]) -> Path:
    """Make the folder. Raises ``UsageError`` where it holds something, or cannot be made."""
    folder = Path(path).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = next(folder.iterdir(), None)
    except OSError as error:
        raise UsageError(
            f"-o {path}: cannot be made: {error.strerror or error}; name a folder that can be"
        ) from None
    if taken is not None:
        raise UsageError(f"-o {path}: is not empty (holds {taken.name}); name another folder")
    return folder


def write(folder: Path, values: Mapping[str, Any]) -> None:
    """Write ``capture.json`` whole, so that a reader never sees half of one."""
    new = folder / (CAPTURE + ".new")
    new.write_text(json.dumps({"schema": SCHEMA, **values}) + "\n", encoding="utf-8")
    new.replace(folder / CAPTURE)


def processes(folder: Path) -> list[dict[str, Any]]:
    """What each process told last, by pid; those that told nothing readable are left out."""
    found = []
    for path in folder.glob("p*/process.json"):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and isinstance(said.get("pid"), int):
            found.append(said)
    return sorted(found, key=lambda p: int(p["pid"]))


def changed(folder: Path, seen: dict[Path, int]) -> list[dict[str, Any]]:
    """What was told since the last call by processes; ``seen`` holds the times of their files."""
    found = []
    for path in folder.glob("p*/process.json"):
        try:
            at = path.stat().st_mtime_ns
            if seen.get(path) != at:
                seen[path] = at
                found.append(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            continue
    return found


def clock() -> dict[str, int]:
    """The two clocks of a capture, read together."""
    return {"wall_ns": time.time_ns(), "mono_ns": time.monotonic_ns()}


def compress(folder: Path) -> list[str]:
    """Compress the traces that the probes wrote plain; what could not be, is said.

    A lap that the window's end cut short is renamed: it is no whole lap. The plain file goes only
    when the other is complete.
    """
    problems = []
    for said in processes(folder):
        place = folder / f"p{said['pid']}"
        plain, packed = place / "trace.json", place / "trace.json.gz"
        if not plain.is_file():
            continue
        part = place / "trace.json.gz.part"
        try:
            _pack(plain, part, _cut_lap(said))
            part.replace(packed)
            plain.unlink()
        except OSError as error:
            problems.append(f"{plain}: could not be compressed: {error.strerror or error}")
    return problems


def _cut_lap(said: Mapping[str, Any]) -> bytes | None:
    window = said.get("window")
    if not isinstance(window, dict) or not isinstance(window.get("laps"), int):
        return None
    return b'"ProfilerStep#%d"' % (window["first_lap"] + window["laps"])


def _writer(path: Path) -> IO[bytes]:
    opened: Any = igzip.IGzipFile
    return cast("IO[bytes]", opened(str(path), "wb", compresslevel=1))


def _pack(plain: Path, packed: Path, cut: bytes | None) -> None:
    held = b""
    keep = len(cut) - 1 if cut else 0
    with open(plain, "rb") as source, _writer(packed) as to:
        while chunk := source.read(_CHUNK):
            held += chunk
            if cut:
                held = held.replace(cut, re.sub(rb"^.", b'"laptime.cut ', cut))
            done = len(held) - keep
            if done > 0:
                to.write(held[:done])
                held = held[done:]
        to.write(held)


def problems(said: Sequence[Mapping[str, Any]], shut: str | None) -> list[str]:
    """What went wrong in the processes, one line each.

    Launchers, workers and others without laps are no problem where some process has them.
    """
    if not said:
        why = shut or (
            "no Python process of the command read PYTHONPATH (-I, -E or -S inside it, or another "
            "environment given to what it starts)"
        )
        return [f"the probe was not loaded: {why}"]
    found = []
    for one in said:
        state, pid = one.get("state"), one["pid"]
        if state in ("recording", "exporting"):
            found.append(f"process {pid}: its window is lost: it ended while {state}")
        elif state == "given_up" and one.get("torch") is not None:
            found.append(f"process {pid}: nothing recorded: {one.get('reason')}")
    if found or any(p.get("state") not in ("waiting", "warming") for p in said):
        return found
    with_torch = [p for p in said if p.get("torch") is not None]
    if not with_torch:
        return ["nothing recorded: no process of the command imported torch"]
    return [f"process {p['pid']}: nothing recorded: {_why(p)}" for p in with_torch]


def _why(said: Mapping[str, Any]) -> str:
    return str(said.get("reason") or "it ended before that, without a word")
