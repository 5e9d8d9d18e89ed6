"""A capture's knowledge placed on a timeline: its clock, its laps, its garbage collections."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from laptime.evidence.capture_process import ProcessFolder
from laptime.model.counters import Captured, CaptureFacts, Clock
from laptime.model.extended import NewRow, extended
from laptime.model.health import Health
from laptime.model.rows import HOST_KINDS, Ints, Kind
from laptime.model.run import Timeline

CLOCK_MARK = re.compile(r"^laptime\.clock/(\d{1,19})/(\d{1,19})$")
LAP_NAME = "laptime.lap#{}"
GC_NAME = "Python GC (generation {})"
CATEGORY = "laptime"
MOST_RESIDUAL_NS = 1_000_000
"""A larger difference of the two clock marks is warned of: a counter's edge is off by that much."""


def placed(
    timeline: Timeline, process: ProcessFolder, run: CaptureFacts, wall_offset_ns: int | None,
    health: Health,
) -> Timeline:  # fmt: skip
    """The timeline with what the capture knows of its process, on its own clock.

    ``wall_offset_ns`` (wall minus monotonic) ties the clocks where the trace has no marks, as one
    that the program recorded itself has none.
    """
    facts = process.facts
    marks = _marks(timeline)
    clock = _clock(timeline, marks, wall_offset_ns)
    lane = int(timeline.rows.lane[marks[0]]) if len(marks) else _busiest_lane(timeline)
    named = replace(
        timeline,
        capture=Captured(run, facts, clock),
        rank=timeline.rank if timeline.rank is not None else facts.rank,
        world_size=timeline.world_size or facts.world_size,
        host=timeline.host or run.host,
        pid=timeline.pid if timeline.pid is not None else facts.pid,
        id=f"process {facts.pid}" if timeline.id == timeline.source else timeline.id,
    )
    if clock is None:
        health.warnings.append(
            f"{timeline.source}: nothing ties its clock to the host counters: they are not used"
        )
        return named
    _tell_clock(timeline, clock, health)
    rows = timeline.rows
    if len(marks):
        rows = replace(rows, kind=rows.kind.copy(), _like={})
        rows.kind[marks] = int(Kind.OTHER)  # ours, no part of the program's work
    new = _laps(process, clock) + _pauses(timeline, process, clock, lane)
    new = [replace(r, lane=lane) if r.lane < 0 else r for r in new] if lane is not None else []
    return replace(named, rows=extended(rows, _seen(timeline, new), CATEGORY))


def _marks(timeline: Timeline) -> Ints:
    """The clock marks, in order of time."""
    found = timeline.rows.like(CLOCK_MARK, Kind.ANNOTATION, Kind.CPU_OP)
    order = np.argsort(timeline.rows.start_ns[found], kind="stable")
    ordered: Ints = found[order]
    return ordered


def _clock(timeline: Timeline, marks: Ints, wall_offset_ns: int | None) -> Clock | None:
    rows = timeline.rows
    if len(marks) >= 2:
        said = [(_carried(rows.name_of(r)), int(rows.start_ns[r])) for r in marks.tolist()]
        half = len(said) // 2
        # A mark starts after the reading that it carries: the least delay is the truest.
        first, last = (min(end, key=lambda m: m[1] - m[0]) for end in (said[:half], said[half:]))
        if last[0] > first[0]:
            return Clock((first[0], last[0]), (first[1], last[1]))
    if wall_offset_ns is None or not timeline.epoch:
        return None
    mono_at = timeline.origin_ns - wall_offset_ns
    return Clock((mono_at, mono_at + 1), (0, 1), "wall")


def _carried(name: str) -> int:
    """The monotonic time that a clock mark carries, ns."""
    found = CLOCK_MARK.match(name)
    assert found is not None
    return int(found.group(1))


def _tell_clock(timeline: Timeline, clock: Clock, health: Health) -> None:
    residual = clock.residual_ns
    if residual is None:
        health.warnings.append(
            f"{timeline.source}: holds no clock marks: host counters are placed by the wall clock, "
            "to an error that is not known"
        )
    elif abs(residual) > MOST_RESIDUAL_NS:
        health.warnings.append(
            f"{timeline.source}: its clock and the host's drift apart by {residual / 1e6:.2f} ms "
            "over the window: counters are placed no better than that"
        )


def _laps(process: ProcessFolder, clock: Clock) -> list[NewRow]:
    laps = process.facts.of_phase("recorded")
    start = clock.to_trace(np.array([lap.start_ns for lap in laps], dtype=np.int64)).tolist()
    end = clock.to_trace(np.array([lap.end_ns for lap in laps], dtype=np.int64)).tolist()
    return [
        NewRow(Kind.ANNOTATION, LAP_NAME.format(lap.number), -1, s, e - s)
        for lap, s, e in zip(laps, start, end, strict=True)
        if e > s
    ]


def _pauses(
    timeline: Timeline, process: ProcessFolder, clock: Clock, lane: int | None
) -> list[NewRow]:
    """Collections on the thread that ran them, else (the interpreter stands still) the marks'."""
    by_tid = {x.tid: i for i, x in enumerate(timeline.lanes) if x.device is None}
    pauses = process.facts.pauses
    start = clock.to_trace(np.array([p.start_ns for p in pauses], dtype=np.int64)).tolist()
    end = clock.to_trace(np.array([p.end_ns for p in pauses], dtype=np.int64)).tolist()
    return [
        NewRow(
            Kind.ANNOTATION,
            GC_NAME.format("?" if p.generation is None else p.generation),
            by_tid.get(p.tid, -1) if p.tid is not None else -1,
            s,
            e - s,
        )
        for p, s, e in zip(pauses, start, end, strict=True)
        if e > s
    ]


def _seen(timeline: Timeline, new: list[NewRow]) -> list[NewRow]:
    """Those that touch the recording: the probe counts laps and pauses outside it too."""
    rows = timeline.rows
    real = rows.of_kind(*HOST_KINDS)
    if len(real) == 0:
        return new
    low, high = int(rows.start_ns[real].min()), int(rows.end_ns(real).max())
    return [r for r in new if r.start_ns < high and r.start_ns + r.dur_ns > low]


def _busiest_lane(timeline: Timeline) -> int | None:
    counts = timeline.rows.count_by_lane(len(timeline.lanes), Kind.CPU_OP, Kind.ANNOTATION)
    return int(counts.argmax()) if counts.any() else None
