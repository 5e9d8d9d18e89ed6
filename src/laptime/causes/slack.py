"""What a faster device can gain at most, where the host sets the pace."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np

from laptime.causes import wording
from laptime.causes.blocking import unshown_waits
from laptime.causes.limits import HOST_AHEAD, LEAST_BOUND
from laptime.causes.named import named
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import API_CALLS

QUERY = re.compile(r"^(cuda|hip|cu)(Event|Stream)Query")
"""Calls that ask whether the device is done, and return at once."""


def host_waits_ns(view: DeviceView) -> int | None:
    """Mean time per counted lap in which the host may be waiting for the device.

    A lap that only its device work shortens cannot end before the host has done its own part, so
    that it shrinks by no more than the host now waits. The host waits for the device inside API
    calls (synchronisation, blocking copies, launches into a full queue), or polls it with queries,
    so that the time in which any thread is inside an API call, or a feeding thread between two
    queries, while the device has work is an upper bound of it. Work that is enqueued and has not
    started counts: a call waits through the gaps between kernels too, and faster kernels end them
    earlier.

    None where the bound does not hold or cannot be known: no launch calls; no closed steady lap;
    device laps longer than their host laps (the host runs ahead, and the device is what limits the
    run although nothing waits for it yet); operators that wait in calls that are not recorded.
    """
    work = view.work
    laps = view.case.ledger.laps
    steady = {lap.id for lap in laps.steady}
    if work is None or not work.launched.any() or laps.source == "window":
        return None
    if not view.counted or any(w.open or w.lap not in steady for w in view.counted):
        return None
    ahead = view.whole_ns > (1 + HOST_AHEAD.value) * _host_ns(view)
    if ahead or intervals.total(unshown_waits(view)):
        return None
    rows = view.case.timeline.rows
    calls = rows.of_kind(*API_CALLS)
    inside = intervals.union(rows.start_ns[calls], rows.end_ns(calls))
    outstanding = intervals.union(work.enqueued_ns, work.end_ns)
    waiting = intervals.both(inside, _polled(view))
    return view.mean_ns(view.inside(intervals.intersect(waiting, outstanding)))


def capped(view: DeviceView, bound_ns: int) -> tuple[int, str]:
    """A bound on shortening device work, no larger than what the host waits for the device.

    Returns the bound and, where it was lowered, the words that say so.
    """
    waits = host_waits_ns(view)
    if waits is None or waits >= bound_ns:
        return bound_ns, ""
    if waits == 0:
        return 0, (
            "the host is never in a call while the device has work, so that it waits for nothing "
            "that faster device work could shorten"
        )
    return waits, (
        f"the host waits for the device at most {wording.time(waits)}{view.per_lap}, so that "
        "faster device work alone can gain no more"
    )


def too_small(view: DeviceView, bound_ns: int) -> bool:
    """Whether a lowered bound leaves nothing worth naming a cause for."""
    return bound_ns < LEAST_BOUND.value * view.lap_ns


def _host_ns(view: DeviceView) -> int:
    """The host's time for the counted windows: from the start of each one's lap to the start of
    the lap whose work ends it (laps without work of their own in between, and time between marks,
    belong to both)."""
    laps = {lap.id: lap for lap in view.case.ledger.laps.laps}
    windows = list(view.ledger.windows)
    after = {w.lap: laps[n.lap].start_ns for w, n in pairwise(windows)}
    return sum(after.get(w.lap, laps[w.lap].end_ns) - laps[w.lap].start_ns for w in view.counted)


def _polled(view: DeviceView) -> Span:
    """From the first to the last query of each run of queries on a thread that feeds the device:
    such a thread asks and sleeps in turn until the device is done."""
    rows = view.case.timeline.rows
    starts, ends = [], []
    for lane in feeding_lanes(view):
        calls = lane_rows(view.case, rows.of_kind(*API_CALLS), [lane])
        calls = calls[np.argsort(rows.start_ns[calls], kind="stable")]
        query = named(rows, calls, QUERY)
        both = np.flatnonzero(query[:-1] & query[1:])
        starts.append(rows.start_ns[calls[both]])
        ends.append(rows.end_ns(calls[both + 1]))
    if not starts:
        return intervals.EMPTY
    return intervals.union(np.concatenate(starts), np.concatenate(ends))
