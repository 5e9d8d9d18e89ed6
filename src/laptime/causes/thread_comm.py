"""Communication as the thread that owns the laps shows it, where no device row does."""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.view import DeviceView, lane_rows
from laptime.ledger import intervals
from laptime.ledger.device_work import COMM_REGION
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind, Rows

ON_DEVICE = re.compile(r"^(nccl|rccl|ucc):")
ON_HOST = re.compile(r"^(gloo|mpi):")


def runs_on_device(rows: Rows) -> bool | None:
    """Whether communication runs on a device, so that a thread's rows only start it: by the
    backends that the rows name; None where they name none."""
    if len(rows.like(ON_DEVICE, Kind.CPU_OP, Kind.ANNOTATION)):
        return True
    return False if len(rows.like(ON_HOST, Kind.CPU_OP, Kind.ANNOTATION)) else None


def thread_comm_rows(view: DeviceView) -> Ints:
    """Rows of communication of a CPU-only run, in the counted laps: on the thread that owns the
    laps, and those that it waits for while a backend of the host runs them on threads of its own.
    """
    rows, others = view.case.timeline.rows, _others_rows(view)
    low, high = _waits(view, others)
    at = np.searchsorted(high, rows.start_ns[others], side="right")
    waited = np.append(low, np.iinfo(np.int64).max)[at] < rows.end_ns(others)
    found: Ints = np.union1d(_own_rows(view), others[waited])
    return found


def _own_rows(view: DeviceView) -> Ints:
    if not view.ledger.cpu or view.case.ledger.laps.owner_lane is None:
        return np.zeros(0, dtype=np.int64)
    rows = view.case.timeline.rows
    found = rows.like(COMM_REGION, Kind.CPU_OP, Kind.ANNOTATION)
    found = lane_rows(view.case, found, [view.case.ledger.laps.owner_lane])
    return found[view.touching(rows.start_ns[found], rows.end_ns(found))]


def _others_rows(view: DeviceView) -> Ints:
    """None, unless rows of the owning thread show that it starts communication: where it has none,
    what it does beside the backend is not recorded."""
    owner = view.case.ledger.laps.owner_lane
    if owner is None or len(_own_rows(view)) == 0:
        return np.zeros(0, dtype=np.int64)
    rows = view.case.timeline.rows
    found = rows.like(ON_HOST, Kind.CPU_OP, Kind.ANNOTATION)
    found = found[rows.lane[found] != owner]
    touching: Ints = found[view.touching(rows.start_ns[found], rows.end_ns(found))]
    return touching


def _waits(view: DeviceView, others: Ints) -> Span:
    """Time in which the owning thread is in no row while one of ``others`` runs."""
    return intervals.intersect(view.rows_span(others), view.time_in("python", "between_ops"))


def thread_comm(view: DeviceView) -> Span:
    """Counted time in which the owning thread does nothing but communicate, or wait for it.

    It is inside such rows, without the operators that begin while one is open (an asynchronous one
    spans the work beside it); or it is in no row at all while a thread of the backend communicates:
    so DDP waits at the end of the backward pass.
    """
    return intervals.both(_own_comm(view), _waits(view, _others_rows(view)))


def _own_comm(view: DeviceView) -> Span:
    rows = view.case.timeline.rows
    found = _own_rows(view)
    span = view.rows_span(found)
    if len(found) == 0:
        return span
    other = np.setdiff1d(rows.of_kind(Kind.CPU_OP), found)
    other = lane_rows(view.case, other, [int(rows.lane[found[0]])])
    other = other[~np.isin(rows.name[other], np.flatnonzero(rows.names_like(COMM_REGION)))]
    # An operator around the communication begins before it and hides nothing.
    began = intervals.contains(span, rows.start_ns[other])
    beside = view.rows_span(other[began])
    return intervals.subtract(span, beside)


def longest_names(view: DeviceView, most: int = 2) -> list[str]:
    """Names of such rows, those that cover most counted time first."""
    rows = view.case.timeline.rows
    found = thread_comm_rows(view)
    covered = {
        rows.names[i]: intervals.total(view.rows_span(found[rows.name[found] == i]))
        for i in np.unique(rows.name[found]).tolist()
    }
    return sorted(covered, key=lambda name: (-covered[name], name))[:most]
