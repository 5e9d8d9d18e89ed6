"""Parts of one job joined into a run; what does not fit together is said, never dropped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from laptime.model.health import merged
from laptime.model.run import Device, Part, Run, Timeline


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts ``rank2`` before ``rank10``; the text itself settles ties."""
    parts = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]
    return [*parts, (-1, 0, text)]


def joined(parts: Sequence[Part], warnings: Iterable[str] = ()) -> Run:
    """One run of the parts' timelines, by rank and then by source.

    Two timelines that claim one rank are both kept; ids that are taken get ``#2``, ``#3``, ...
    """
    health = merged([part.health for part in parts])
    timelines = sorted((t for part in parts for t in part.timelines), key=_order)
    said = [*health.warnings, *warnings, *_conflicts(timelines)]
    health.warnings = list(dict.fromkeys(said))
    captures = [part.capture for part in parts if part.capture is not None]
    captures += [capture for part in parts for capture in part.captures]
    return Run(_with_own_ids(timelines), health, [part.source for part in parts], captures)


def _order(timeline: Timeline) -> tuple[Any, ...]:
    rank = timeline.rank
    return (rank is None, rank or 0, natural(timeline.source))


def _conflicts(timelines: Sequence[Timeline]) -> list[str]:
    found = []
    by_rank: dict[int, list[str]] = {}
    for t in timelines:
        if t.rank is not None:
            by_rank.setdefault(t.rank, []).append(t.source)
    for rank, sources in by_rank.items():
        distinct = list(dict.fromkeys(sources))
        if len(distinct) > 1:
            found.append(
                f"rank {rank} is claimed by {len(distinct)} files; each is kept and reported by "
                f"itself: {_listed(distinct)}"
            )
    worlds = sorted({t.world_size for t in timelines if t.world_size is not None})
    if len(worlds) > 1:
        found.append(
            "files disagree on the number of ranks ("
            + ", ".join(map(str, worlds))
            + "); are they of one job?"
        )
    elif worlds and len(by_rank) > 1:
        missing = [r for r in range(min(worlds[0], 1 << 17)) if r not in by_rank]
        if missing:
            found.append(
                f"{len(missing)} of {worlds[0]} ranks have no file: {_listed(map(str, missing))}"
            )
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


def _listed(names: Iterable[str], most: int = 6) -> str:
    all_names = list(names)
    shown = ", ".join(all_names[:most])
    rest = len(all_names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown
