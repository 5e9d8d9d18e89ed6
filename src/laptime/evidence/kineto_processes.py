"""Several processes in one trace file, told apart: one timeline for each.

A process is a pid whose threads make API calls, or run operators where no thread makes calls. Its
device rows are those whose launch call it made; correlation ids repeat across processes, so that
of several calls with one id the latest that began before the activity counts. Device rows without
a call go with the process that has most rows of that device.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from laptime.model.health import Health
from laptime.model.rows import API_CALLS, Ints, Kind, Rows, present
from laptime.model.run import Timeline
from laptime.model.subset import subset

FEW = 4
"""Rows below which a pid is no process of its own (profilers put single rows on pid 0)."""


def split(timeline: Timeline, health: Health) -> list[Timeline]:
    """The timeline as one timeline for each process; itself where it has at most one."""
    rows = timeline.rows
    pids = _processes(timeline)
    if len(pids) < 2:
        return [timeline]
    pid_of_lane = [lane.pid if lane.device is None else None for lane in timeline.lanes]
    number: dict[int | str | None, int] = {pid: i for i, pid in enumerate(pids)}
    main = number.get(timeline.pid, 0)
    by_lane = np.array([number.get(p, main) for p in pid_of_lane], dtype=np.int64)
    owner = by_lane[rows.lane] if len(rows) else np.zeros(0, dtype=np.int64)
    on_device = np.array([lane.device is not None for lane in timeline.lanes], dtype=np.bool_)
    device_rows = np.flatnonzero(on_device[rows.lane])
    owner[device_rows] = _launchers(timeline, device_rows, pids, main)
    health.warnings.append(
        f"{timeline.source}: holds {len(pids)} processes ({', '.join(map(str, pids[:6]))}): each "
        "is a timeline of its own"
    )
    out = []
    for i, pid in enumerate(pids):
        mine = subset(rows, np.flatnonzero(owner == i))
        used = {timeline.lanes[lane].device for lane in np.unique(mine.lane).tolist()}
        out.append(
            replace(
                timeline,
                id=f"{timeline.id}/pid{pid}",
                rows=mine,
                devices=[d for d in timeline.devices if d.id in used],
                pid=pid,
            )
        )
    return out


def _processes(timeline: Timeline) -> list[int | str]:
    """Pids that are processes, most rows first."""
    rows = timeline.rows
    for kinds in (API_CALLS, (Kind.CPU_OP,)):
        counts: dict[int | str, int] = {}
        for lane, count in zip(
            timeline.lanes,
            rows.count_by_lane(len(timeline.lanes), *kinds).tolist(),
            strict=True,
        ):
            if count and lane.pid is not None:
                counts[lane.pid] = counts.get(lane.pid, 0) + count
        found = [p for p, n in counts.items() if n >= FEW]
        if found:
            return sorted(found, key=lambda p: (-counts[p], str(p)))
    return []


def _launchers(timeline: Timeline, device_rows: Ints, pids: list[int | str], main: int) -> Ints:
    """Index of the process that launched each device row."""
    rows = timeline.rows
    best = np.full(len(device_rows), -1, dtype=np.int64)
    latest = np.full(len(device_rows), np.iinfo(np.int64).min, dtype=np.int64)
    if rows.correlation is not None:
        calls = rows.of_kind(*API_CALLS)
        usable = present(rows.correlation[calls]) & (rows.correlation[calls] != 0)
        calls = calls[usable]
        pid_of_lane = np.array(
            [pids.index(x.pid) if x.pid in pids else -1 for x in timeline.lanes], dtype=np.int64
        )
        for i in range(len(pids)):
            begun = _call_start(rows, calls[pid_of_lane[rows.lane[calls]] == i], device_rows)
            better = (begun <= rows.start_ns[device_rows]) & (begun > latest)
            best[better], latest[better] = i, begun[better]
    lane = rows.lane[device_rows]
    device = [x.device for x in timeline.lanes]
    for one in sorted({d for d in device if d is not None}):
        here = np.array([d == one for d in device], dtype=np.bool_)[lane]
        known = best[here & (best >= 0)]
        best[here & (best < 0)] = int(np.bincount(known).argmax()) if len(known) else main
    return best


def _call_start(rows: Rows, calls: Ints, device_rows: Ints) -> Ints:
    """Start of the call with each device row's correlation; the smallest int64 where none."""
    none = np.iinfo(np.int64).min
    out = np.full(len(device_rows), none, dtype=np.int64)
    if rows.correlation is None or len(calls) == 0 or len(device_rows) == 0:
        return out
    order = np.argsort(rows.correlation[calls], kind="stable")
    ids = rows.correlation[calls][order]
    wanted = rows.correlation[device_rows]
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    hit = ids[at] == wanted
    out[hit] = rows.start_ns[calls[order]][at[hit]]
    return out
