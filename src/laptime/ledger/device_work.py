"""Device work read off a timeline: activities, the calls that enqueued them, their class."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from laptime.kernels import decode
from laptime.kernels.names import KernelName
from laptime.ledger import intervals
from laptime.ledger.work import Work, WorkClass
from laptime.model.rows import (
    API_CALLS,
    DEVICE_WORK,
    HOST_KINDS,
    Ints,
    Kind,
    Mask,
    Rows,
    present,
    slices,
)
from laptime.model.run import Timeline

PEER_COPY = re.compile(r"P(eer)?\s?to\s?P(eer)?|PtoP", re.IGNORECASE)
COMM_REGION = re.compile(r"^(nccl|rccl|gloo|mpi|ucc):|record_param_comms|^c10d::|^symm_mem::")


def kernel_names(rows: Rows) -> dict[int, KernelName]:
    """Decoded names of every kernel row, by index into ``rows.names``."""
    return {i: decode(rows.names[i]) for i in rows.names_used(Kind.KERNEL)}


def row_type(rows: Rows) -> type[np.signedinteger[Any]]:
    """The type that holds a row's number, and -1."""
    return np.int32 if len(rows) <= np.iinfo(np.int32).max else np.int64


class LaunchCalls:
    """The API calls of a timeline by the number that their activities carry."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._calls = np.zeros(0, dtype=row_type(rows))
        if rows.correlation is None:
            return
        calls = rows.of_kind(*API_CALLS).astype(row_type(rows))
        ids = rows.correlation[calls]
        usable = present(ids) & (ids != 0)
        if not usable.all():
            calls, ids = calls[usable], ids[usable]
        if (ids[1:] < ids[:-1]).any():
            order = np.argsort(ids, kind="stable")
            calls, ids = calls[order], ids[order]
        self._calls, self._ids = calls, ids
        self._shared = bool((ids[1:] == ids[:-1]).any())

    def of(self, activity: Ints) -> Ints:
        """The API row whose correlation each activity carries; -1 where none is recorded.

        Correlation 0 means none (Kineto writes it for activities without a call). Where several
        calls share an id (ids that wrap, processes merged into one file), the latest that began
        before the activity counts, or the call around it where one lies inside the other; the
        first of them where none began before.
        """
        rows, calls = self.rows, self._calls
        out = np.full(len(activity), -1, dtype=calls.dtype)
        if rows.correlation is None or len(calls) == 0 or len(activity) == 0:
            return out
        ids = self._ids
        for part in slices(len(activity)):
            wanted = rows.correlation[activity[part]]
            at = np.searchsorted(ids, wanted)
            at[at == len(ids)] = 0
            hit = (ids[at] == wanted) & (wanted != 0)
            out[part][hit] = calls[at[hit]]
        if self._shared:
            wanted = rows.correlation[activity]
            latest = _latest_before(rows, calls, ids, activity, wanted)
            again = (out >= 0) & (latest >= 0)
            out[again] = latest[again]
        return out


def launch_calls(rows: Rows, activity: Ints) -> Ints:
    """The API row that enqueued each activity; -1 where none is recorded (``LaunchCalls.of``)."""
    return LaunchCalls(rows).of(activity)


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
    activity = rows.of_kind(*DEVICE_WORK).astype(row_type(rows))
    activity = activity[rows.dur_ns[activity] >= 0]
    launches = LaunchCalls(rows)
    out: dict[str, Work] = {}
    for device in timeline.devices:
        lanes = np.array([lane.device == device.id for lane in timeline.lanes], dtype=np.bool_)
        mine = activity[lanes[rows.lane[activity]]] if len(activity) else activity
        if len(mine):
            mine = _in_order(rows, mine)
            out[device.id] = _work(timeline, names, device.id, mine, launches.of(mine))
    return out


def _in_order(rows: Rows, activity: Ints) -> Ints:
    """The activities (ascending) by (start, -duration, row)."""
    start = rows.start_ns[activity]
    if (start[1:] < start[:-1]).any():
        order = np.argsort(start, kind="stable")
        activity, start = activity[order], start[order]
        del order
    tied = np.zeros(len(activity), dtype=np.bool_)
    tied[1:] = start[1:] == start[:-1]
    tied[:-1] |= tied[1:]
    if tied.any():
        some = activity[tied]
        order = np.lexsort((some, -rows.dur_ns[some], rows.start_ns[some]))
        activity = activity.copy()
        activity[tied] = some[order]
    return activity


def _work(
    timeline: Timeline,
    names: Mapping[int, KernelName],
    device: str,
    activity: Ints,
    calls: Ints,
) -> Work:
    """Work of one device: its activities in order, with their calls."""
    rows = timeline.rows
    start = rows.start_ns[activity]
    called, enqueued = start.copy(), start.copy()
    lane = rows.lane[activity]
    thread = np.full(len(activity), -1, dtype=np.result_type(lane, np.int8))
    for part in slices(len(activity)):
        known = np.flatnonzero(calls[part] >= 0)
        by = calls[part][known]
        thread[part][known] = rows.lane[by]
        at = start[part][known]
        called[part][known] = np.minimum(rows.start_ns[by], at)
        enqueued[part][known] = np.minimum(rows.end_ns(by), at)
    return Work(
        device=device,
        row=activity,
        start_ns=start,
        end_ns=rows.end_ns(activity),
        klass=_classes(timeline, names, activity, calls),
        lane=lane,
        call_row=calls,
        called_ns=called,
        enqueued_ns=enqueued,
        thread=thread,
    )


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
