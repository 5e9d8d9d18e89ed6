"""Calls that allocate and release memory of the device and pinned memory of the host.

Shared by their causes, so that no call counts for two of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.named import named
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import ALLOCATION
from laptime.model.rows import API_CALLS, Ints, Kind

HOST = re.compile(r"Host")
RELEASE = re.compile(r"^(cuda|hip)Free(_v\d+)?$|^cuMem(Free|Unmap|Release|AddressFree)")
EMPTYING = re.compile(r"(^|/)torch/.*\(\d+\): empty_cache$|_(cuda|xpu)_emptyCache\b")
QUIET = re.compile(r"^(cuda|hip|cu)(Event|Stream|Device|Ctx)|IsCapturing|PointerGetAttribute")
"""Calls that may lie between two releases of one burst."""
BURST = 2
"""Releases in a row, outside any operator, that without stacks count as emptying a cache."""


@dataclass(frozen=True)
class AllocationCalls:
    """Rows of calls on the threads that feed the device, ascending, over the whole recording.

    ``emptied``: releases by an emptied cache; ``again``: as many allocations behind each emptying
    as it released. ``others``: allocations and releases of device memory that are neither.
    ``pinned``: of pinned host memory; ``pinned_elsewhere``: those on other threads.
    ``groups``: the releases of each emptying; ``by_frame``: frames of ``empty_cache`` show them.
    """

    others: Ints
    emptied: Ints
    again: Ints
    groups: Sequence[Ints]
    by_frame: bool
    pinned: Ints
    pinned_elsewhere: Ints


def allocation_calls(view: DeviceView) -> AllocationCalls:
    """The calls of one timeline, told apart."""
    rows = view.case.timeline.rows
    every = rows.like(ALLOCATION, *API_CALLS)
    every = every[np.argsort(rows.start_ns[every], kind="stable")]
    fed = np.isin(rows.lane[every], np.array(sorted(feeding_lanes(view)), dtype=np.int64))
    pinned = named(rows, every, HOST)
    device = every[fed & ~pinned]
    emptyings = lane_rows(
        view.case, rows.like(EMPTYING, Kind.PYTHON), np.unique(rows.lane[device]).tolist()
    )
    groups = _emptied(view, device, emptyings)
    emptied = np.concatenate([np.zeros(0, dtype=np.int64), *groups])
    again = _again(view, device, groups)
    return AllocationCalls(
        others=device[~np.isin(device, emptied) & ~np.isin(device, again)],
        emptied=emptied,
        again=again,
        groups=groups,
        by_frame=len(emptyings) > 0,
        pinned=every[fed & pinned],
        pinned_elsewhere=every[~fed & pinned],
    )


def waited_for(view: DeviceView, calls: Ints, *accounts: str) -> Span:
    """Counted time in the accounts while any of the calls lasts."""
    return intervals.intersect(view.time_in(*(accounts or ("allocator",))), view.rows_span(calls))


def told_calls(view: DeviceView, calls: Ints) -> str:
    """The calls of the counted laps by name ("cudaMalloc 12 times a lap, cudaFree once a lap")."""
    rows = view.case.timeline.rows
    inside = calls[view.touching(rows.start_ns[calls], rows.end_ns(calls))]
    count = Counter(rows.name_of(int(row)) for row in inside)
    return wording.listed(
        f"{name} {wording.times(n / view.laps)}{view.per_lap}"
        for name, n in sorted(count.items(), key=lambda c: (-c[1], c[0]))
    )


def _emptied(view: DeviceView, device: Ints, emptyings: Ints) -> list[Ints]:
    """Releases by an emptied cache, one group for each emptying: inside a frame of ``empty_cache``;
    where no Python is recorded at all, bursts of releases outside any operator (an allocator that
    retries releases inside the operator that asked for memory)."""
    rows = view.case.timeline.rows
    releases = device[named(rows, device, RELEASE)]
    groups = []
    for frame in emptyings.tolist():
        inside = rows.lane[releases] == rows.lane[frame]
        inside &= rows.start_ns[releases] >= rows.start_ns[frame]
        inside &= rows.start_ns[releases] < rows.end_ns(np.array([frame]))[0]
        if inside.any():
            groups.append(releases[inside])
    if rows.mask_of(Kind.PYTHON).any():
        return groups
    for lane in np.unique(rows.lane[releases]).tolist():
        groups += _bursts(view, releases[rows.lane[releases] == lane], lane)
    return groups


def _bursts(view: DeviceView, releases: Ints, lane: int) -> list[Ints]:
    """Groups of at least ``BURST`` releases with no other call and no operator around them."""
    rows = view.case.timeline.rows
    operators = lane_rows(view.case, rows.of_kind(Kind.CPU_OP), [lane])
    covered = intervals.union(rows.start_ns[operators], rows.end_ns(operators))
    free = releases[~intervals.contains(covered, rows.start_ns[releases])]
    calls = lane_rows(view.case, rows.of_kind(*API_CALLS), [lane])
    calls = calls[~named(rows, calls, QUIET)]
    calls = calls[np.argsort(rows.start_ns[calls], kind="stable")]
    place = np.flatnonzero(np.isin(calls, free))
    cuts = np.flatnonzero(np.diff(place) > 1) + 1
    return [calls[part] for part in np.split(place, cuts) if len(part) >= BURST]


def _again(view: DeviceView, device: Ints, groups: list[Ints]) -> Ints:
    """Behind each emptying, as many allocations as it released: they get the memory back."""
    rows = view.case.timeline.rows
    takes = device[~named(rows, device, RELEASE)]
    starts = rows.start_ns[takes]
    firsts = sorted((int(rows.start_ns[g[0]]), len(g)) for g in groups)
    found = [np.zeros(0, dtype=np.int64)]
    for at, (first, released) in enumerate(firsts):
        low = int(np.searchsorted(starts, first))
        until = firsts[at + 1][0] if at + 1 < len(firsts) else None
        high = len(takes) if until is None else int(np.searchsorted(starts, until))
        found.append(takes[low : min(high, low + released)])
    return np.concatenate(found)
