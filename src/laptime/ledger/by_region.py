"""The same partition by the user's own regions: annotations, NVTX ranges, modules.

Busy time goes to the innermost region around the call that launched it; where two activities of
different regions run at once, to the one that started first. Idle time goes to the innermost
region that the thread owning the laps is in at the instant. Every nanosecond of the counted
windows is in exactly one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.work import Work
from laptime.model.rows import I64, Ints, Kind, Rows
from laptime.model.run import Timeline

MODULE = re.compile(r"^nn\.Module: ")
STEP_MARK = re.compile(r"^ProfilerStep")
OUTSIDE = "(outside any region)"


@dataclass(frozen=True)
class RegionLine:
    """One region's part of the counted windows, in all; ``accounts`` hold its leaves' time."""

    name: str
    ns: int
    accounts: Mapping[str, int]


@dataclass(frozen=True)
class RegionTable:
    """Counted windows of one device by region, longest first. The lines sum to ``window_ns``."""

    device: str
    window_ns: int
    laps: int
    lines: Sequence[RegionLine]


def region_table(
    timeline: Timeline, ledger: Ledger, device: DeviceLedger, work: Work | None
) -> RegionTable | None:
    """Split one device's counted windows by region; None where the timeline has no regions."""
    rows = timeline.rows
    mark = ledger.laps.mark
    regions = _regions(rows, mark)
    owner = ledger.laps.owner_lane
    if len(regions) == 0 or owner is None:
        return None
    innermost = {
        lane: _innermost(rows, regions[rows.lane[regions] == lane])
        for lane in np.unique(rows.lane[regions]).tolist()
    }
    if owner not in innermost:
        return None
    counted = ledger.counted(device)
    chosen = [w for w, c in zip(device.windows, counted.tolist(), strict=True) if c]
    inside = intervals.union(
        np.array([w.start_ns for w in chosen], dtype=np.int64),
        np.array([w.end_ns for w in chosen], dtype=np.int64),
    )
    busy, label = _busy(work, rows, innermost, owner)
    totals: dict[tuple[int, int], int] = {}
    segments = device.segments
    for account in range(len(device.leaves)):
        whole = intervals.intersect(segments.of(account), inside)
        _tally(totals, account, whole, busy, label)
        rest = intervals.subtract(whole, busy)
        span, name = innermost[owner]
        _tally(totals, account, rest, span, name)
        left = intervals.total(rest) - intervals.total(intervals.intersect(rest, span))
        if left:
            totals[(-1, account)] = totals.get((-1, account), 0) + left
    by_name: dict[str, dict[str, int]] = {}
    for (name_id, account), ns in totals.items():
        text = OUTSIDE if name_id < 0 else rows.names[name_id]
        accounts = by_name.setdefault(text, {})
        leaf = device.leaves[account].id
        accounts[leaf] = accounts.get(leaf, 0) + ns
    lines = [RegionLine(n, sum(a.values()), dict(sorted(a.items()))) for n, a in by_name.items()]
    return RegionTable(
        device.device,
        intervals.total(inside),
        len(chosen),
        sorted(lines, key=lambda line: (-line.ns, line.name)),
    )


def _regions(rows: Rows, mark: str | None) -> Ints:
    """Rows of the user's regions: annotations other than the laps' own marks, and modules."""
    pick = rows.of_kind(Kind.ANNOTATION, Kind.PYTHON)
    module = rows.names_matching(lambda n: bool(MODULE.match(n)))
    step = rows.names_matching(lambda n: bool(STEP_MARK.match(n)) or n == mark)
    python = rows.kind[pick] == Kind.PYTHON
    keep = np.where(python, module[rows.name[pick]], ~step[rows.name[pick]])
    pick = pick[keep & (rows.dur_ns[pick] > 0)]
    return pick


def _innermost(rows: Rows, regions: Ints) -> tuple[Span, Ints]:
    """The innermost region at each instant of one thread: stretches and their name."""
    order = np.lexsort((regions, -rows.dur_ns[regions], rows.start_ns[regions]))
    starts: list[int] = []
    ends: list[int] = []
    names: list[int] = []
    stack: list[tuple[int, int]] = []
    at = 0

    def emit(until: int) -> None:
        if stack and until > at:
            starts.append(at)
            ends.append(until)
            names.append(stack[-1][1])

    for row in regions[order].tolist():
        start = int(rows.start_ns[row])
        while stack and stack[-1][0] <= start:
            end = stack[-1][0]
            emit(end)
            at = max(at, end)
            stack.pop()
        emit(start)
        at = max(at, start)
        end = start + int(rows.dur_ns[row])
        stack.append((min(end, stack[-1][0]) if stack else end, int(rows.name[row])))
    while stack:
        end = stack[-1][0]
        emit(end)
        at = max(at, end)
        stack.pop()
    as_ints = (np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))
    return as_ints, np.array(names, dtype=np.int64)


def _name_at(found: tuple[Span, Ints] | None, instants: I64) -> I64:
    """Name of the stretch that holds each instant; -1 outside."""
    out = np.full(len(instants), -1, dtype=np.int64)
    if found is None or len(found[1]) == 0:
        return out
    span, names = found
    at = np.maximum(np.searchsorted(span[0], instants, side="right") - 1, 0)
    hit = (span[0][at] <= instants) & (instants < span[1][at])
    out[hit] = names[at[hit]]
    return out


def _busy(
    work: Work | None, rows: Rows, innermost: Mapping[int, tuple[Span, Ints]], owner: int
) -> tuple[Span, I64]:
    """Busy time as disjoint stretches, each with the region that launched it (-1: none)."""
    if work is None or len(work.row) == 0:
        return intervals.EMPTY, np.zeros(0, dtype=np.int64)
    label = np.full(len(work.row), -1, dtype=np.int64)
    for lane in np.unique(work.thread).tolist():
        mine = np.flatnonzero(work.thread == lane)
        label[mine] = _name_at(innermost.get(lane), work.called_ns[mine])
    # The engine's thread has no regions of its own: the owner's region at the call stands in.
    bare = np.flatnonzero((label < 0) & work.launched)
    label[bare] = _name_at(innermost.get(owner), work.called_ns[bare])
    reach = np.concatenate(
        (np.array([np.iinfo(np.int64).min]), np.maximum.accumulate(work.end_ns)[:-1])
    )
    start = np.maximum(work.start_ns, reach)
    real = work.end_ns > start
    return (start[real], work.end_ns[real]), label[real]


def _tally(
    totals: dict[tuple[int, int], int], account: int, time: Span, span: Span, label: Ints
) -> None:
    """Add the length of ``time`` inside each stretch of ``span`` to its label's total."""
    if len(span[0]) == 0 or len(time[0]) == 0:
        return
    each = intervals.by_window(time, span[0], span[1])
    for name in np.unique(label[each > 0]).tolist():
        key = (int(name), account)
        totals[key] = totals.get(key, 0) + int(each[label == name].sum())
