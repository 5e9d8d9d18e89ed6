"""Where device work was launched from: the operators, regions and lines of code around the call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.kernel_cost import KernelCost
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.frames import function, is_own
from laptime.ledger.innermost import nest
from laptime.model.rows import HOST_KINDS, Ints, Kind, Mask

MODULE = re.compile(r"^nn\.Module: ")


def inside(view: DeviceView, regions: Ints) -> Mask:
    """Which of the device's activities were launched while their thread was in any of the rows."""
    work, rows = view.work, view.case.timeline.rows
    assert work is not None
    found = np.zeros(len(work.row), dtype=np.bool_)
    for lane in np.unique(rows.lane[regions]).tolist():
        mine = np.flatnonzero(work.thread == lane)
        if len(mine) == 0:
            continue
        here = regions[rows.lane[regions] == lane]
        span = intervals.union(rows.start_ns[here], rows.end_ns(here))
        found[mine] = intervals.contains(span, work.called_ns[mine])
    return found


def launched_in(view: DeviceView, pattern: re.Pattern[str], *kinds: Kind) -> Mask:
    """Which activities were launched inside a host row of such a name."""
    return inside(view, view.case.timeline.rows.like(pattern, *(kinds or HOST_KINDS)))


def innermost(view: DeviceView, at: Ints, candidates: Ints) -> Ints:
    """For each activity (position in ``Work``) the row among the candidates that is innermost
    around its launch call on the same thread; -1 where none is."""
    work, rows = view.work, view.case.timeline.rows
    assert work is not None
    out = np.full(len(at), -1, dtype=np.int64)
    candidates = candidates[rows.dur_ns[candidates] > 0]
    for lane in np.unique(work.thread[at]).tolist():
        here = candidates[rows.lane[candidates] == lane] if lane >= 0 else candidates[:0]
        mine = np.flatnonzero(work.thread[at] == lane)
        if len(here) == 0:
            continue
        nested = nest(rows, here)
        called = work.called_ns[at[mine]]
        place = np.maximum(np.searchsorted(nested.span[0], called, side="right") - 1, 0)
        hit = (nested.span[0][place] <= called) & (called < nested.span[1][place])
        out[mine[hit]] = nested.row[nested.at[place[hit]]]
    return out


def operators_around(view: DeviceView, at: Ints) -> Ints:
    """The innermost operator around each activity's launch; -1 where none is."""
    work, rows = view.work, view.case.timeline.rows
    assert work is not None
    operators = rows.of_kind(Kind.CPU_OP)
    if len(at) == 0 or len(operators) == 0:
        return np.full(len(at), -1, dtype=np.int64)
    low, high = int(work.called_ns[at].min()), int(work.called_ns[at].max())
    near = (rows.start_ns[operators] <= high) & (rows.end_ns(operators) >= low)
    return innermost(view, at, operators[near])


def code_lines(cost: KernelCost, most: int = 3) -> Sequence[str]:
    """The user's own lines that launch the work, those with most time first ("train.py(42): step,
    3.20 ms a lap"); modules where no own frame is recorded. Empty without stacks."""
    view, rows = cost.view, cost.view.case.timeline.rows
    if len(cost.at) == 0:
        return ()
    used = np.zeros(len(rows.names) + 1, dtype=np.bool_)
    for i in rows.names_used(Kind.PYTHON):
        used[i] = is_own(rows.names[i])
    frames = rows.of_kind(Kind.PYTHON)
    found = innermost(view, cost.at, frames[used[rows.name[frames]]])
    missing = np.flatnonzero(found < 0)
    if len(missing):
        found[missing] = innermost(view, cost.at[missing], rows.like(MODULE, Kind.PYTHON))
    spent: Counter[str] = Counter()
    known = np.flatnonzero(found >= 0)
    for row, ns in zip(found[known].tolist(), rows.dur_ns[cost.rows[known]].tolist(), strict=True):
        spent[function(rows.name_of(row))] += ns
    return tuple(
        f"{name}, {wording.time(ns / view.laps)}{view.per_lap}"
        for name, ns in sorted(spent.items(), key=lambda s: (-s[1], s[0]))[:most]
    )
