"""Lanes, processes and devices of a Kineto trace, from its (pid, tid, device, stream) texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from laptime.model.rows import DEVICE_WORK, Ints, Kind, slices
from laptime.model.run import Device, Lane

Key = tuple[Any, Any, Any, Any]

MOST_DEVICES = 1024
"""Devices of one file: far more than one process, or one host, can have."""

DEVICE_KINDS = (*DEVICE_WORK, Kind.DEVICE_ANNOTATION, Kind.SYNC, Kind.COUNTER_RANGE)


def number(text: int | str | None) -> int | str | None:
    """A quoted whole number as a number (2021 quotes thread ids); other values as they are."""
    if isinstance(text, str) and re.fullmatch(r"-?\d{1,18}", text):
        return int(text)
    return text


def stream_number(tid: int | str | None) -> int | None:
    """The stream of a device row from its tid: a number, or "stream 7" as in 2021."""
    value = number(tid)
    if isinstance(value, int):
        return value
    found = re.search(r"(\d+)\s*$", value) if value else None
    return int(found.group(1)) if found else None


GENERATED = re.compile(r"(thread|stream|process)?\s*-?\d*\s*(\(.*\))?", re.IGNORECASE)
"""What profilers write for a thread that nobody named: ``thread 17 (python)``, ``stream 7``."""


def thread_names(meta: Sequence[tuple[str, Any, Any, str]]) -> dict[tuple[Any, Any], str]:
    """The name of each thread, by (pid, tid), from its ``thread_name`` items.

    Where a thread has several, a name that somebody gave goes before one that a profiler made of
    its number; of those left, the first in alphabetical order. The order of events has no say.
    """
    found: dict[tuple[Any, Any], str] = {}
    for item, pid, tid, name in meta:
        if item != "thread_name" or not name:
            continue
        key = (number(pid), number(tid))
        if key not in found or _by_merit(name) < _by_merit(found[key]):
            found[key] = name
    return found


def _by_merit(name: str) -> tuple[bool, str]:
    return GENERATED.fullmatch(name.strip()) is not None, name


@dataclass(frozen=True)
class LaneMap:
    """Canonical lanes, with the lane of each row.

    ``excess``: rows whose device is past the ``MOST_DEVICES`` lowest numbers, if there are any.
    Their lanes have no device.
    """

    lanes: Sequence[Lane]
    lane: Ints
    ordinals: Sequence[int]
    excess: Ints | None = None


def canonical(
    scanned: Sequence[Key],
    lane: Ints,
    kind: Ints,
    thread_names: Mapping[tuple[Any, Any], str],
    device_id: Mapping[int, str] | None = None,
    prefix: str = "",
) -> LaneMap:
    """Fold scanned lanes into one lane for each CPU thread and each (device, stream).

    ``prefix`` goes before device ids, so that they are unique in the run.
    """
    on_device = np.zeros(256, dtype=np.bool_)
    on_device[[int(k) for k in DEVICE_KINDS]] = True

    def codes(part: slice) -> Ints:
        """Twice the scanned lane, one more for device rows."""
        return lane[part].astype(np.int64) * 2 + on_device[kind[part]]

    count = np.zeros(2 * len(scanned), dtype=np.int64)
    for part in slices(len(lane)):
        count += np.bincount(codes(part), minlength=len(count))
    used = np.flatnonzero(count)
    lanes: list[Lane] = []
    known: dict[Lane, int] = {}
    lookup = np.full(2 * len(scanned) + 2, -1, dtype=np.int32)
    numbers = {_ordinal(scanned[code // 2]) for code in used.tolist() if code % 2}
    ordinals = sorted(n for n in numbers if n is not None)[:MOST_DEVICES]
    kept = set(ordinals)
    excess: list[int] = []
    for code in used.tolist():
        pid, tid, _, stream = scanned[code // 2]
        if code % 2:
            ordinal = _ordinal(scanned[code // 2])
            if ordinal in kept:
                found = Lane(
                    pid=None,
                    tid=None,
                    device=f"{prefix}gpu{ordinal}",
                    stream=stream if isinstance(stream, int) else stream_number(tid),
                )
            else:
                if ordinal is not None:
                    excess.append(code)
                found = Lane(pid=number(pid), tid=number(tid))
        else:
            key = (number(pid), number(tid))
            found = Lane(pid=key[0], tid=key[1], name=thread_names.get(key))
        if found not in known:
            known[found] = len(lanes)
            lanes.append(found)
        lookup[code] = known[found]
    folded = np.empty(len(lane), dtype=np.int32)
    for part in slices(len(lane)):
        folded[part] = lookup[codes(part)]
    rows = np.flatnonzero(np.isin(codes(slice(None)), excess)) if excess else None
    return LaneMap(lanes, folded, ordinals, rows)


def _ordinal(key: Key) -> int | None:
    """The number of a device row's device: as its arguments say, else its process."""
    ordinal = key[2] if isinstance(key[2], int) else number(key[0])
    return ordinal if isinstance(ordinal, int) else None


def devices(
    properties: Any, ordinals: Sequence[int], prefix: str, host: str | None, rank: int | None
) -> list[Device]:
    """Devices that rows mention, with the header's properties where it lists them."""
    listed: dict[int, Mapping[str, Any]] = {}
    if isinstance(properties, list):
        for entry in properties:
            if isinstance(entry, dict) and isinstance(entry.get("id"), int):
                listed[entry["id"]] = entry
    out = []
    for ordinal in ordinals:
        entry = listed.get(ordinal, {})
        name, uuid = entry.get("name"), entry.get("uuid")
        out.append(
            Device(
                id=f"{prefix}gpu{ordinal}",
                ordinal=ordinal,
                host=host,
                rank=rank,
                name=name if isinstance(name, str) and name else None,
                uuid=uuid if isinstance(uuid, str) and uuid else None,
                properties=entry,
            )
        )
    return out
