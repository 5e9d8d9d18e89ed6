"""Values from a capture's JSON files, whatever was written or torn there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from laptime.model.health import Health, Loss

MOST_NS = 1 << 62
"""No clock of a host counts further."""
MOST_OBJECT_BYTES = 16 << 20
"""A JSON file that holds one object is a few kilobytes; this much is no such file."""
MOST_LINE_BYTES = 8 << 20


def whole(value: Any) -> int | None:
    """An integer; None for anything else (true and false are no numbers)."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= MOST_NS:
        return None
    return value


def text(value: Any) -> str | None:
    """A text; None for anything else."""
    return value if isinstance(value, str) else None


def flag(value: Any) -> bool | None:
    """true or false; None for anything else."""
    return value if isinstance(value, bool) else None


def numbers(value: Any) -> tuple[int, ...] | None:
    """A list of integers; None for anything else."""
    if not isinstance(value, list):
        return None
    found = [whole(v) for v in value]
    return None if None in found else tuple(v for v in found if v is not None)


def object_of(path: Path, health: Health) -> dict[str, Any] | None:
    """The object a file holds; None, and a loss, where it holds none."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_OBJECT_BYTES + 1)
        item = json.loads(raw) if len(raw) <= MOST_OBJECT_BYTES else None
    except OSError as error:
        health.losses.append(Loss(f"cannot be read: {error.strerror or error}", 1, str(path)))
        return None
    except (ValueError, RecursionError):
        item = None
    if isinstance(item, dict):
        return item
    health.losses.append(Loss("holds no whole JSON object", 1, str(path)))
    return None


def objects_of(path: Path, health: Health) -> Iterator[dict[str, Any]]:
    """The objects of a file that has one on each line; lines that are none are counted as lost."""
    torn, first, at = 0, 0, 0
    try:
        with path.open("rb") as file:
            while line := file.readline(MOST_LINE_BYTES):
                item: Any = None
                try:
                    item = json.loads(line)
                except (ValueError, RecursionError):
                    item = None
                if isinstance(item, dict):
                    yield item
                elif line.strip():
                    first = at if not torn else first
                    torn += 1
                at += len(line)
    except FileNotFoundError:
        return
    except OSError as error:
        health.losses.append(Loss(f"cannot be read: {error.strerror or error}", 1, str(path)))
    if torn:
        health.losses.append(Loss("line is torn or no JSON object", torn, str(path), first))
