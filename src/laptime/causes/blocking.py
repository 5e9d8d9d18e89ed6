"""Which blocking call each stretch of synchronisation belongs to, and which copies caused it.

Shared by the causes of synchronisation and of pageable copies, so that no instant counts for both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.causes.limits import TINY_COPY_BYTES
from laptime.causes.named import named
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import BLOCKING
from laptime.model.rows import API_CALLS, I64, Ints, Kind

TO_DEVICE = re.compile(r"^Memcpy HtoD|^(Memcpy)?\s?CopyHostToDevice|^hipMemcpyHostToDevice")
PAGEABLE = re.compile(r"\(Pageable -> Device\)")
NAMES_MEMORY = re.compile(r"\((Pageable|Pinned|Managed)")

SYNCHRONISING = re.compile(r"^aten::(item|_local_scalar_dense|is_nonzero|nonzero|equal)$")
"""Operators that read a value from the device before they return."""

HELD_BY_COPY = ("held", "host_sync", "host_launch")
"""Idle accounts that time inside a copy's call, or right behind it, can be in."""


@dataclass(frozen=True)
class Copies:
    """Host-to-device copies of one device inside its counted windows, as positions in its ``Work``.

    ``named`` says whether the evidence tells pageable from pinned memory at all. ``calls`` are the
    rows of the calls of all pageable copies that are not tiny, of the whole recording: a lap's
    first copy is called before its window, so that the call lies in the window of the lap before.
    """

    pageable: Ints
    calls: Ints
    tiny: int
    whole: int
    named: bool


def copies_to_device(view: DeviceView) -> Copies:
    """The device's host-to-device copies inside the counted windows; tiny ones only counted."""
    rows, work = view.case.timeline.rows, view.work
    if work is None:
        none = np.zeros(0, dtype=np.int64)
        return Copies(none, none, 0, 0, True)
    every = np.flatnonzero(rows.kind[work.row] == Kind.MEMCPY)
    every = every[named(rows, work.row[every], TO_DEVICE)]
    copy = every[view.touching(work.start_ns[every], work.end_ns[every])]
    told = len(copy) == 0 or bool(named(rows, work.row[copy], NAMES_MEMORY).any())
    slow, large = _pageable(view, copy)
    calls = work.call_row[_pageable(view, every)[1]]
    return Copies(large, np.unique(calls[calls >= 0]), len(slow) - len(large), len(copy), told)


def _pageable(view: DeviceView, copies: Ints) -> tuple[Ints, Ints]:
    """Those of the copies that are from pageable memory, and those of them that are not tiny."""
    rows, work = view.case.timeline.rows, view.work
    assert work is not None
    slow = copies[named(rows, work.row[copies], PAGEABLE)]
    sizes = rows.ints.get("bytes")
    if sizes is None:
        return slow, slow
    size = sizes.of(work.row[slow], -1)
    return slow, slow[(size < 0) | (size > TINY_COPY_BYTES.value)]


def copy_calls(view: DeviceView, copies: Copies) -> Ints:
    """Rows of the calls of pageable copies and of the blocking call that follows each on its
    thread with no other call between (a copy's own wait)."""
    rows, calls = view.case.timeline.rows, copies.calls
    found = [calls]
    every = rows.of_kind(*API_CALLS)
    for lane in np.unique(rows.lane[calls]).tolist():
        here = every[rows.lane[every] == lane]
        here = here[np.argsort(rows.start_ns[here], kind="stable")]
        at = np.flatnonzero(np.isin(here, calls)) + 1
        after = here[at[at < len(here)]]
        found.append(after[named(rows, after, BLOCKING)])
    return np.unique(np.concatenate(found))


@dataclass(frozen=True)
class Waits:
    """Counted ``host_sync`` time cut into pieces, each with the row of the call it belongs to."""

    start_ns: I64
    end_ns: I64
    call: Ints

    def of(self, calls: Ints) -> Span:
        """The time that belongs to any of the calls."""
        hit = np.isin(self.call, calls)
        return intervals.union(self.start_ns[hit], self.end_ns[hit])


def waits(view: DeviceView) -> Waits:
    """Every stretch of ``host_sync`` belongs to the last call that began before it: the thread
    is inside that call, or has just left it and refills the queue. -1 where there is none."""
    rows = view.case.timeline.rows
    span = view.time_in("host_sync")
    calls = rows.of_kind(*API_CALLS)
    own = named(rows, calls, BLOCKING)
    own |= np.isin(calls, copies_to_device(view).calls)
    calls = lane_rows(view.case, calls[own], feeding_lanes(view))
    calls = calls[np.argsort(rows.start_ns[calls], kind="stable")]
    began = rows.start_ns[calls]
    edges = np.unique(np.concatenate((span[0], span[1], began)))
    starts, ends = edges[:-1], edges[1:]
    inside = intervals.contains(span, starts)
    starts, ends = starts[inside], ends[inside]
    at = np.searchsorted(began, starts, side="right") - 1
    owner = np.full(len(starts), -1, dtype=np.int64)
    owner[at >= 0] = calls[at[at >= 0]]
    return Waits(starts, ends, owner)


def calls_recorded(view: DeviceView) -> bool:
    """Whether the trace has any blocking call at all, in the counted laps or outside them."""
    return len(view.case.timeline.rows.like(BLOCKING, *API_CALLS)) > 0


def unshown_waits(view: DeviceView) -> Span:
    """Counted time in operators that synchronise, where blocking calls were not recorded.

    With blocking calls, the ledger has that time under ``host_sync`` and the rest is launch cost.
    """
    if calls_recorded(view):
        return intervals.EMPTY
    return view.rows_span(view.case.timeline.rows.like(SYNCHRONISING, Kind.CPU_OP))


def outermost(view: DeviceView, rows_inside: Ints, *kinds: Kind) -> list[str | None]:
    """For each row, the name of the outermost row of the given kinds that covers it on its lane."""
    rows = view.case.timeline.rows
    covers = rows.of_kind(*kinds)
    names: list[str | None] = [None] * len(rows_inside)
    for lane in np.unique(rows.lane[rows_inside]).tolist():
        here = covers[rows.lane[covers] == lane]
        if len(here) == 0:
            continue
        here = here[np.lexsort((-rows.dur_ns[here], rows.start_ns[here]))]
        end = rows.end_ns(here)
        reach = np.maximum.accumulate(end)
        root = np.append(True, rows.start_ns[here][1:] >= reach[:-1])
        here, end = here[root], end[root]
        mine = np.flatnonzero(rows.lane[rows_inside] == lane)
        at = np.searchsorted(rows.start_ns[here], rows.start_ns[rows_inside[mine]], "right") - 1
        for position, found in zip(mine.tolist(), at.tolist(), strict=True):
            if found >= 0 and rows.start_ns[rows_inside[position]] < end[found]:
                names[position] = rows.name_of(int(here[found]))
    return names
