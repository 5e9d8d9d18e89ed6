"""Find the laps of a timeline: marks, else repetition, else the window as one lap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from laptime.ledger.host import HostStates
from laptime.ledger.laps import marks
from laptime.ledger.laps.repetition import repeated
from laptime.ledger.laps.steady import NO_WORK, with_steadiness
from laptime.ledger.laps.windows import device_windows
from laptime.ledger.work import Work
from laptime.model.errors import UsageError
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import DEVICE_WORK, HOST_KINDS
from laptime.model.run import Timeline


def find_laps(
    timeline: Timeline, work: Mapping[str, Work], host: HostStates, mark: str | None = None
) -> Laps:
    """Laps of one timeline, with their windows on each device.

    ``mark`` names the marks to use. Raises ``UsageError`` where the timeline has none of that
    name.
    """
    rows = timeline.rows
    main = max(work.values(), key=lambda w: (len(w.row), w.device), default=None)
    found = marks.named(rows, mark) if mark is not None else marks.automatic(rows)
    if mark is not None and found is None:
        near = marks.near_to(rows, mark)
        told = f"such as {', '.join(n[:100] for n in near)}" if near else "of which it has none"
        raise UsageError(
            f"{timeline.source}: has no mark named {mark[:80]!r}; leave --lap out, or name a "
            f"region that the trace holds, {told}"
        )
    if found is not None:
        laps = _numbered(timeline, found.labels, found.start_ns.tolist(), found.end_ns.tolist())
        if found.short_last:
            laps[-1] = replace(laps[-1], steady=False, why_not="no mark after it")
        return _finish(timeline, work, main, laps, "mark", found.mark, 1.0, found.lane, found.notes)
    repetition = repeated(main, host) if main is not None else None
    if repetition is not None and main is not None:
        starts = repetition.start_ns.tolist()
        labels = [f"repetition {i}" for i in range(len(starts))]
        laps = _numbered(timeline, labels, starts, repetition.end_ns.tolist())
        note = (
            f"no step marks: laps inferred from a launch sequence that repeats every "
            f"{repetition.period} activities ({repetition.match * 100:.0f} % of it fits)"
        )
        lane = _launching_lane(main)
        return _finish(
            timeline, work, main, laps, "repetition", None, repetition.match, lane, (note,)
        )
    return _window(timeline, work, main)


def _numbered(
    timeline: Timeline, labels: list[str], starts: list[int], ends: list[int]
) -> list[Lap]:
    """Laps with ids and labels that tell them apart: equal marks are numbered from 1."""
    times = Counter(labels)
    seen: Counter[str] = Counter()
    laps = []
    for i, (mark, start, end) in enumerate(zip(labels, starts, ends, strict=True)):
        seen[mark] += 1
        label = f"{mark} #{seen[mark]}" if times[mark] > 1 else mark
        laps.append(Lap(f"{timeline.id}:{i}", label, start, end - start, mark=mark))
    return laps


def _finish(
    timeline: Timeline,
    work: Mapping[str, Work],
    main: Work | None,
    laps: list[Lap],
    source: str,
    mark: str | None,
    confidence: float,
    lane: int | None,
    notes: tuple[str, ...],
) -> Laps:
    windows: list[DeviceLap] = []
    leading: list[DeviceLap] = []
    for device in timeline.devices:
        if device.id in work:
            mine = device_windows(laps, work[device.id])
            windows += mine
            if main is not None and device.id == main.device:
                leading = mine
    if lane is not None and timeline.lanes[lane].device is not None:
        lane = _launching_lane(main) if main is not None else None
    marked = with_steadiness(laps, leading)
    empty = sum(lap.why_not == NO_WORK for lap in marked)
    if empty:
        notes += (
            f"{empty} of {len(marked)} laps launched nothing on {main.device if main else 'it'}: "
            "the device's window before runs over them",
        )
    return Laps(
        laps=marked,
        by_device=windows,
        source=source,
        mark=mark,
        confidence=confidence,
        owner_lane=lane,
        notes=notes,
    )


def _launching_lane(work: Work) -> int | None:
    """The thread that launched most of a device's work."""
    known = work.thread[work.thread >= 0]
    return int(np.bincount(known).argmax()) if len(known) else None


def _window(timeline: Timeline, work: Mapping[str, Work], main: Work | None) -> Laps:
    """The whole recording as one lap; no laps where nothing was recorded."""
    rows = timeline.rows
    pick = rows.of_kind(*HOST_KINDS)
    if len(pick) == 0:
        pick = rows.of_kind(*DEVICE_WORK)
    pick = pick[rows.dur_ns[pick] >= 0]
    if len(pick) == 0:
        return Laps((), (), "window", None, 0.0, None, ("no rows with a duration",))
    start, end = int(rows.start_ns[pick].min()), int(rows.end_ns(pick).max())
    lane = _launching_lane(main) if main is not None else None
    if lane is None:
        count = rows.count_by_lane(len(timeline.lanes), *HOST_KINDS)
        if count.any():
            lane = int(count.argmax())
    laps = [Lap(f"{timeline.id}:0", "whole recording", start, end - start)]
    note = "no step marks and no repetition: the whole recording is taken as one lap"
    return _finish(timeline, work, main, laps, "window", None, 0.0, lane, (note,))
