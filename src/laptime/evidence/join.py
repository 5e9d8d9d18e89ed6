"""Parts of one job joined into a run; what does not fit together is said, never dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from laptime.evidence.natural import natural
from laptime.evidence.one_job import doubts, listed
from laptime.model.health import merged
from laptime.model.run import Device, Part, Run, Timeline


def joined(parts: Sequence[Part], warnings: Iterable[str] = ()) -> Run:
    """One run of the parts' timelines, by rank and then by source.

    Two timelines that claim one rank are both kept; ids that are taken get ``#2``, ``#3``, ...
    """
    health = merged([part.health for part in parts])
    timelines = sorted((t for part in parts for t in part.timelines), key=_order)
    said = [*_by_file(parts), *warnings, *doubts(_told_by(parts))]
    health.warnings = list(dict.fromkeys(said))
    captures = [part.capture for part in parts if part.capture is not None]
    captures += [capture for part in parts for capture in part.captures]
    return Run(_with_own_ids(timelines), health, [part.source for part in parts], captures)


def _order(timeline: Timeline) -> tuple[Any, ...]:
    rank = timeline.rank
    return (rank is None, rank or 0, natural(timeline.source))


def _told_by(parts: Sequence[Part]) -> list[Timeline]:
    """The timelines, those of a capture with it as their source: one program started them all."""
    found = []
    for part in parts:
        captured = part.capture is not None or bool(part.captures)
        found += [replace(t, source=part.source) if captured else t for t in part.timelines]
    return sorted(found, key=_order)


def _by_file(parts: Sequence[Part]) -> list[str]:
    """The parts' warnings, each with its file; one that several files share once, with them all."""
    if len(parts) == 1:
        return list(parts[0].health.warnings)
    files: dict[str, list[str]] = {}
    for part in parts:
        for warning in part.health.warnings:
            files.setdefault(warning.removeprefix(f"{part.source}: "), []).append(part.source)
    found = []
    for text, sources in files.items():
        names = list(dict.fromkeys(sources))
        # A process of a file, or a file inside one, is named by the warning itself.
        if len(names) == 1 and text.startswith(names[0]):
            found.append(text)
        elif len(names) == 1:
            found.append(f"{names[0]}: {text}")
        else:
            found.append(f"{len(names)} files ({listed(names)}): {text}")
    return found


def _with_own_ids(timelines: Sequence[Timeline]) -> list[Timeline]:
    taken: set[str] = set()
    out = []
    for timeline in timelines:
        n, suffix = 1, ""
        while _ids(timeline, suffix) & taken:
            n += 1
            suffix = f"#{n}"
        taken |= _ids(timeline, suffix)
        out.append(_renamed(timeline, suffix) if suffix else timeline)
    return out


def _ids(timeline: Timeline, suffix: str) -> set[str]:
    return {timeline.id + suffix, *(d.id + suffix for d in timeline.devices)}


def _renamed(timeline: Timeline, suffix: str) -> Timeline:
    devices: list[Device] = [replace(d, id=d.id + suffix) for d in timeline.devices]
    known = {d.id for d in timeline.devices}
    lanes = [
        replace(lane, device=lane.device + suffix) if lane.device in known else lane
        for lane in timeline.lanes
    ]
    return replace(timeline, id=timeline.id + suffix, devices=devices, lanes=lanes)
