"""Kernel launches without an activity: what the profiler dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.causes.case import Case
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import BEGIN_CAPTURE, END_CAPTURE, KERNEL_LAUNCH
from laptime.model.rows import API_CALLS, DEVICE_WORK, Ints, Kind, Rows, present


@dataclass(frozen=True)
class Launches:
    """Kernel launches outside graph capture, and how many of them have no activity.

    ``recorded_any`` says whether the trace has any kernel row at all.
    """

    kernels: int
    lost: int
    recorded_any: bool


def lost_launches(case: Case) -> Launches:
    """Count kernel launches whose correlation no activity carries.

    Launches after the last activity that has one are left out: a recording ends before the device
    has done everything, which is not a loss.
    """
    rows = case.timeline.rows
    any_kernel = len(rows.of_kind(Kind.KERNEL)) > 0
    named = rows.names_matching(lambda n: KERNEL_LAUNCH.search(n) is not None)
    calls = rows.of_kind(*API_CALLS)
    calls = calls[named[rows.name[calls]]]
    calls = calls[~_captured(rows, calls)]
    if rows.correlation is None or len(calls) == 0:
        return Launches(len(calls), 0, any_kernel)
    calls = calls[present(rows.correlation[calls])]
    activity = rows.of_kind(*DEVICE_WORK)
    has = np.isin(rows.correlation[calls], rows.correlation[activity])
    if not has.any():
        return Launches(len(calls), len(calls), any_kernel)
    last = rows.start_ns[calls[has]].max()
    within = rows.start_ns[calls] <= last
    return Launches(int(within.sum()), int((within & ~has).sum()), any_kernel)


def _captured(rows: Rows, calls: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which calls lie inside a graph capture of their thread."""
    inside = np.zeros(len(calls), dtype=np.bool_)
    begins = rows.names_matching(lambda n: BEGIN_CAPTURE.search(n) is not None)
    if not begins.any():
        return inside
    ends = rows.names_matching(lambda n: END_CAPTURE.search(n) is not None)
    every = rows.of_kind(*API_CALLS)
    begin, end = every[begins[rows.name[every]]], every[ends[rows.name[every]]]
    for lane in np.unique(rows.lane[begin]).tolist():
        span = _spans(rows, begin[rows.lane[begin] == lane], end[rows.lane[end] == lane])
        mine = np.flatnonzero(rows.lane[calls] == lane)
        inside[mine] = intervals.contains(span, rows.start_ns[calls[mine]])
    return inside


def _spans(rows: Rows, begin: Ints, end: Ints) -> Span:
    """From each beginning to the next end; to the end of time where none follows."""
    starts = np.sort(rows.start_ns[begin])
    stops = np.append(np.sort(rows.start_ns[end]), np.iinfo(np.int64).max)
    return intervals.union(starts, stops[np.searchsorted(stops, starts)])
