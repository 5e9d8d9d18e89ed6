"""Device work read off a timeline: activities, the calls that enqueued them, their class."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from laptime.kernels import decode
from laptime.kernels.names import KernelName
from laptime.ledger import intervals
from laptime.ledger.work import Work, WorkClass
from laptime.model.rows import API_CALLS, DEVICE_WORK, HOST_KINDS, Ints, Kind, Mask, Rows, present
from laptime.model.run import Timeline

PEER_COPY = re.compile(r"P(eer)?\s?to\s?P(eer)?|PtoP", re.IGNORECASE)
COMM_REGION = re.compile(r"^(nccl|rccl|gloo|mpi|ucc):|record_param_comms|^c10d::|^symm_mem::")


def kernel_names(rows: Rows) -> dict[int, KernelName]:
    """Decoded names of every kernel row, by index into ``rows.names``."""
    return {i: decode(rows.names[i]) for i in rows.names_used(Kind.KERNEL)}


def launch_calls(rows: Rows, activity: Ints) -> Ints:
    """The API row whose correlation each activity carries; -1 where none is recorded.

    Correlation 0 means none (Kineto writes it for activities without a call). Where several calls
    share an id (ids that wrap, processes merged into one file), the latest that began before the
    activity counts, or the call around it where one lies inside the other; the first of them where
    none began before.
    """
    out = np.full(len(activity), -1, dtype=np.int64)
    calls = rows.of_kind(*API_CALLS)
    if rows.correlation is None or len(calls) == 0 or len(activity) == 0:
        return out
    ids = rows.correlation[calls]
    usable = present(ids) & (ids != 0)
    calls, ids = calls[usable], ids[usable]
    if len(calls) == 0:
        return out
    if (ids[1:] < ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        calls, ids = calls[order], ids[order]
    wanted = rows.correlation[activity]
    at = np.searchsorted(ids, wanted)
    at[at == len(ids)] = 0
    hit = (ids[at] == wanted) & (wanted != 0)
    out[hit] = calls[at[hit]]
    if (ids[1:] == ids[:-1]).any():
        latest = _latest_before(rows, calls, ids, activity, wanted)
        again = hit & (latest >= 0)
        out[again] = latest[again]
    return out


def _latest_before(
    rows: Rows, calls: Ints, ids: Ints, activity: Ints, wanted: Ints
) -> npt.NDArray[np.int64]:
    """For each activity the latest call with its id that began no later than it (-1: none), taken
    back to the outermost call of the same id around it."""
    order = np.lexsort((calls, -rows.end_ns(calls), rows.start_ns[calls], ids))
    calls, ids = calls[order], ids[order]
    start, end = rows.start_ns[calls], rows.end_ns(calls)
    outer = np.arange(len(calls))
    for i in np.flatnonzero((ids[1:] == ids[:-1]) & (start[1:] < end[:-1])).tolist():
        if end[i + 1] <= end[outer[i]]:
            outer[i + 1] = outer[i]
    both = np.concatenate((start, rows.start_ns[activity]))
    key = np.concatenate((ids, wanted))
    is_activity = np.repeat(np.array([0, 1]), (len(calls), len(activity)))
    line = np.lexsort((np.arange(len(both)), is_activity, both, key))
    last = np.maximum.accumulate(np.where(line < len(calls), line, -1))
    out = np.full(len(activity), -1, dtype=np.int64)
    which = line >= len(calls)
    found = last[which]
    to = line[which] - len(calls)
    good = (found >= 0) & (ids[np.maximum(found, 0)] == wanted[to])
    out[to[good]] = calls[outer[found[good]]]
    return out


def device_work(timeline: Timeline, names: Mapping[int, KernelName]) -> dict[str, Work]:
    """The work of each device of the timeline, by device id.

    Activities without a duration are left out: they cannot be placed in time.
    """
    rows = timeline.rows
    activity = rows.of_kind(*DEVICE_WORK)
    activity = activity[rows.dur_ns[activity] >= 0]
    on_device = np.array([lane.device is not None for lane in timeline.lanes], dtype=np.bool_)
    if len(activity):
        activity = activity[on_device[rows.lane[activity]]]
    calls = launch_calls(rows, activity)
    start = rows.start_ns[activity]
    called, enqueued = start.copy(), start.copy()
    known = calls >= 0
    called[known] = rows.start_ns[calls[known]]
    enqueued[known] = np.minimum(rows.end_ns(calls[known]), start[known])
    called = np.minimum(called, start)
    thread = np.full(len(activity), -1, dtype=np.int64)
    thread[known] = rows.lane[calls[known]]
    klass = _classes(timeline, names, activity, calls)
    device_of_lane = [lane.device for lane in timeline.lanes]
    out: dict[str, Work] = {}
    for device in timeline.devices:
        lanes = np.array([d == device.id for d in device_of_lane], dtype=np.bool_)
        mine = lanes[rows.lane[activity]] if len(activity) else np.zeros(0, dtype=np.bool_)
        if not mine.any():
            continue
        pick = np.flatnonzero(mine)
        order = np.lexsort((activity[pick], -rows.dur_ns[activity[pick]], start[pick]))
        pick = pick[order]
        out[device.id] = Work(
            device=device.id,
            row=activity[pick],
            start_ns=start[pick],
            end_ns=rows.end_ns(activity[pick]),
            klass=klass[pick],
            lane=rows.lane[activity[pick]],
            call_row=calls[pick],
            called_ns=called[pick],
            enqueued_ns=enqueued[pick],
            thread=thread[pick],
        )
    return out


def _classes(
    timeline: Timeline, names: Mapping[int, KernelName], activity: Ints, calls: Ints
) -> Ints:
    """``WorkClass`` of each activity."""
    rows = timeline.rows
    kind = rows.kind[activity]
    klass = np.full(len(activity), int(WorkClass.COPY), dtype=np.int8)
    kernel = kind == Kind.KERNEL
    klass[kernel] = int(WorkClass.COMPUTE)
    comm_name = np.zeros(len(rows.names) + 1, dtype=np.bool_)
    comm_name[[i for i, name in names.items() if name.comm]] = True
    comm = kernel & comm_name[rows.name[activity]]
    collective = rows.texts.get("Collective name")
    if collective is not None:
        comm |= kernel & np.isin(activity, collective.row)
    klass[comm] = int(WorkClass.COMM)
    peer_name = rows.names_matching(lambda n: n.startswith("Mem") and bool(PEER_COPY.search(n)))
    peer = (kind == Kind.MEMCPY) & peer_name[rows.name[activity]] & (calls >= 0)
    if peer.any():
        klass[_in_comm_region(rows, activity, calls, peer)] = int(WorkClass.COMM)
    return klass


def _in_comm_region(rows: Rows, activity: Ints, calls: Ints, peer: Mask) -> Ints:
    """Peer copies whose call lies inside a collective's record on its thread."""
    region = rows.like(COMM_REGION, *HOST_KINDS)
    found = [np.zeros(0, dtype=np.int64)]
    for lane in np.unique(rows.lane[calls[peer]]).tolist():
        here = region[rows.lane[region] == lane]
        span = intervals.union(rows.start_ns[here], rows.end_ns(here))
        mine = np.flatnonzero(peer & (rows.lane[np.maximum(calls, 0)] == lane))
        found.append(mine[intervals.contains(span, rows.start_ns[calls[mine]])])
    return np.concatenate(found)
