"""Several processes in one trace file, told apart: one timeline for each.

A process is a pid whose threads make API calls, or run operators where no thread makes calls. Its
device rows are those whose launch call it made; correlation ids repeat across processes, so that
of several calls with one id the latest that began before the activity counts, among processes that
use its device at all. Device rows without a call go with the process that has most rows of that
device.

A device that more than one process launched work to is told apart as well: each process has its
own part of it (``gpu0/pid200``), and its health says that the others' work is not seen there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from laptime.model.health import Health, Loss
from laptime.model.rows import API_CALLS, DEVICE_WORK, Ints, Kind, Mask, Rows, present
from laptime.model.run import Device, Lane, Timeline
from laptime.model.subset import subset

FEW = 4
"""Rows below which a pid is no process of its own (profilers put single rows on pid 0)."""

STRAY_ONE_IN = 1000
"""A process with fewer than one launch to a device for so many of its first user does not use it:
at the edges of a recording an activity's own call is missing, and another's may have its id."""

MOST_PROCESSES = 64
"""Processes of one file that become timelines; rows of those with fewer rows are counted as lost.
A host's ranks with their loader workers are fewer; each further one costs a pass over the file."""


def split(timeline: Timeline, health: Health) -> list[Timeline]:
    """The timeline as one timeline for each process; itself where it has at most one."""
    rows = timeline.rows
    pids = _processes(timeline)
    if len(pids) < 2:
        return [timeline]
    found = _owners(timeline, pids)
    order = np.argsort(found.owner, kind="stable")
    bounds = np.searchsorted(found.owner[order], np.arange(len(pids) + 1))
    kept = pids[:MOST_PROCESSES]
    _say(timeline, pids, len(order) - int(bounds[len(kept)]), health)
    shared = {device for device, users in found.users.items() if len(users) > 1}
    for device in timeline.devices:
        if device.id in shared:
            health.warnings.append(
                f"{timeline.source}: {device.id} is used by {len(found.users[device.id])} "
                "processes: another process's work shows as idle time"
            )
    out = []
    for i, pid in enumerate(kept):
        mine = subset(rows, order[bounds[i] : bounds[i + 1]])
        used = {timeline.lanes[lane].device for lane in np.unique(mine.lane).tolist()}
        part = {device: f"{device}/pid{pid}" for device in shared}
        out.append(
            replace(
                timeline,
                id=f"{timeline.id}/pid{pid}",
                rows=mine,
                lanes=_lanes(timeline.lanes, part),
                devices=[_device(d, part, pid) for d in timeline.devices if d.id in used],
                pid=pid,
            )
        )
    return out


def _say(timeline: Timeline, pids: Sequence[int | str], lost: int, health: Health) -> None:
    """Say that the file holds several processes, and which are left out."""
    health.warnings.append(
        f"{timeline.source}: holds {len(pids)} processes ({', '.join(map(str, pids[:6]))}"
        f"{', ...' if len(pids) > 6 else ''}): each is a timeline of its own"
    )
    rest = len(pids) - MOST_PROCESSES
    if rest > 0:
        health.warnings.append(
            f"{timeline.source}: of its {len(pids)} processes the {MOST_PROCESSES} with most rows "
            f"are read; {rest} others ({lost} rows) are left out"
        )
        reason = f"row of a process past the {MOST_PROCESSES} with most rows"
        health.losses.append(Loss(reason, lost, timeline.source))


def _device(device: Device, part: Mapping[str, str], pid: int | str) -> Device:
    return replace(device, id=part[device.id], pid=pid) if device.id in part else device


def _lanes(lanes: Sequence[Lane], part: Mapping[str, str]) -> Sequence[Lane]:
    if not part:
        return lanes
    return [replace(x, device=part.get(x.device, x.device)) if x.device else x for x in lanes]


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


@dataclass(frozen=True)
class _Owners:
    """Number of the process of each row; by device the processes that launched work to it."""

    owner: Ints
    users: Mapping[str, Sequence[int]]


def _owners(timeline: Timeline, pids: Sequence[int | str]) -> _Owners:
    """The process of every row: by its thread's pid, or by the call that launched it."""
    rows, lanes = timeline.rows, timeline.lanes
    number: dict[int | str | None, int] = {pid: i for i, pid in enumerate(pids)}
    main = number.get(timeline.pid, 0)
    known = np.array([number.get(x.pid, -1) for x in lanes], dtype=np.int64)
    devices = sorted({x.device for x in lanes if x.device is not None})
    ordinal = {device: i for i, device in enumerate(devices)}
    device_of = np.array([ordinal.get(x.device or "", -1) for x in lanes], dtype=np.int64)
    owner = np.where((known >= 0) & (device_of < 0), known, main)[rows.lane]
    device_rows = np.flatnonzero((device_of >= 0)[rows.lane])
    device = device_of[rows.lane[device_rows]]
    user, sure = _launchers(rows, device_rows, np.where(device_of < 0, known, -1))
    pairs = _users(device, user, sure)
    # The one with most rows is each device's first; it takes what no call, or a stranger's, tells.
    first = np.full(len(devices), main, dtype=np.int64)
    have = np.zeros(len(devices), dtype=np.bool_)
    users: dict[str, list[int]] = {}
    for at, process in pairs:
        if not have[at]:
            first[at], have[at] = process, True
        users.setdefault(devices[at], []).append(process)
    wide = len(pids) + 1
    allowed = np.array([d * wide + p for d, p in pairs], dtype=np.int64)
    fits = np.isin(device * wide + user, allowed) & (user >= 0)
    owner[device_rows] = np.where(fits, user, first[device])
    work = rows.mask_of(*DEVICE_WORK)[device_rows]
    worked = set(np.unique(device[work & fits] * wide + user[work & fits]).tolist())
    return _Owners(
        owner,
        {d: [p for p in found if ordinal[d] * wide + p in worked] for d, found in users.items()},
    )


def _users(device: Ints, user: Ints, sure: Mask) -> list[tuple[int, int]]:
    """(device, process) where the process launched rows of the device: most rows first.

    Processes in step use the same ids at the same time, and the latest call may then be another
    process's. So only rows whose id calls of one process alone have are asked, where the process
    and the device have such rows; a process with hardly any is a stray, not a user.
    """
    found = []
    with_sure = np.zeros(int(device.max(initial=-1)) + 1, dtype=np.bool_)
    with_sure[device[sure]] = True
    judged = np.bincount(user[sure], minlength=int(user.max(initial=0)) + 1) >= FEW
    asked = np.flatnonzero((user >= 0) & (sure | ~judged[user] | ~with_sure[device]))
    pairs, count = np.unique(
        np.stack((device[asked], user[asked]), axis=1), axis=0, return_counts=True
    )
    most = np.zeros(len(with_sure), dtype=np.int64)
    np.maximum.at(most, pairs[:, 0], count)
    least = np.minimum(np.maximum(FEW, most // STRAY_ONE_IN), most)
    for i in np.lexsort((pairs[:, 1], -count, pairs[:, 0])).tolist():
        at, process = pairs[i].tolist()
        if count[i] >= least[at]:
            found.append((at, process))
    return found


def _launchers(rows: Rows, device_rows: Ints, process_of_lane: Ints) -> tuple[Ints, Mask]:
    """The process that launched each device row (-1: no call tells), and whether its id belongs to
    calls of that process alone.

    Calls and device rows stand in one line, by id, then time: the call that counts is the last one
    before. Of calls of one id and time that of the process with more rows counts.
    """
    out = np.full(len(device_rows), -1, dtype=np.int64)
    sure: Mask = np.zeros(len(device_rows), dtype=np.bool_)
    if rows.correlation is None or len(device_rows) == 0:
        return out, sure
    calls = rows.of_kind(*API_CALLS)
    ids = rows.correlation[calls]
    calls = calls[present(ids) & (ids != 0) & (process_of_lane[rows.lane[calls]] >= 0)]
    if len(calls) == 0:
        return out, sure
    process = process_of_lane[rows.lane[calls]]
    both = np.concatenate((calls, device_rows))
    rank = np.concatenate((-process, np.ones(len(device_rows), dtype=np.int64)))
    ids = rows.correlation[both]
    line = np.lexsort((rank, rows.start_ns[both], ids))
    place = np.flatnonzero(line < len(calls))  # of each call in the line, in its order
    calls_in_line = line[place]
    last = np.searchsorted(place, np.flatnonzero(line >= len(calls))) - 1
    to = line[line >= len(calls)]
    id_line, process_line = ids[calls_in_line], process[calls_in_line]
    new_id = np.flatnonzero(np.append(True, id_line[1:] != id_line[:-1]))
    alone = np.minimum.reduceat(process_line, new_id) == np.maximum.reduceat(process_line, new_id)
    of_one = np.repeat(alone, np.diff(np.append(new_id, len(id_line))))
    begun = last >= 0
    begun[begun] = id_line[last[begun]] == ids[to[begun]]
    # Clocks that disagree put an activity before its call: an id of one process tells all the same.
    after = np.minimum(last + 1, len(id_line) - 1)
    early = ~begun & (id_line[after] == ids[to]) & of_one[after]
    call = np.where(early, after, last)
    hit = begun | early
    to, call = to[hit] - len(calls), call[hit]
    out[to] = process_line[call]
    sure[to] = of_one[call]
    return out, sure
