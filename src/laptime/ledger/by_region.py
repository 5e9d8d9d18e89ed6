"""The same partition by the user's own regions: annotations, NVTX ranges, modules.

Busy time goes to the innermost region around the call that launched it; where two activities of
different regions run at once, to the one that started first. Idle time goes to the innermost
region that the thread owning the laps is in at the instant. Every nanosecond of the counted
windows is in exactly one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.sums import add_at
from laptime.ledger.work import Work
from laptime.model.rows import I64, Ints, Kind, Rows, slices
from laptime.model.run import Timeline

MODULE = re.compile(r"^nn\.Module: ")
NUMBERED = re.compile(r"^(.*[^\s_#.:/-])[\s_#.:/-]+\d+$", re.DOTALL)
"""A name with a number of its own at the end: ``nn.Module: Linear_3``, ``layer 2``."""
STEP_MARK = re.compile(r"^ProfilerStep")
OUTSIDE = "(outside any region)"

Labelled = tuple[Span, Ints]
"""Disjoint, ascending stretches (they may touch), each with an index into the rows' names."""


@dataclass(frozen=True)
class RegionLine:
    """One region's part of the counted windows, in all; ``accounts`` hold its leaves' time.

    Regions that differ in a number at their end only (modules of one class, ``layer 1`` and
    ``layer 2``) are one line: ``name`` is what they share, ``members`` how many they are.
    ``count`` is how often they begin in the host windows of the counted laps; None outside any.
    """

    name: str
    ns: int
    accounts: Mapping[str, int]
    members: int = 1
    count: int | None = None


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
    regions = _regions(rows, ledger.laps.mark_names)
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
    lines = _Lines(rows, regions, _host_windows(ledger, {w.lap for w in chosen}))
    totals = _totals(device, inside, _busy(work, rows, innermost, owner), innermost[owner])
    by_name: dict[str, dict[str, int]] = {}
    for (name_id, account), ns in totals.items():
        text = OUTSIDE if name_id < 0 else lines.group[rows.names[name_id]]
        accounts = by_name.setdefault(text, {})
        leaf = device.leaves[account].id
        accounts[leaf] = accounts.get(leaf, 0) + ns
    return RegionTable(
        device.device,
        intervals.total(inside),
        len(chosen),
        sorted(
            (lines.line(name, accounts) for name, accounts in by_name.items()),
            key=lambda line: (-line.ns, line.name),
        ),
    )


def _host_windows(ledger: Ledger, laps: set[str]) -> Span:
    chosen = [lap for lap in ledger.laps.laps if lap.id in laps]
    return intervals.union(
        np.array([lap.start_ns for lap in chosen], dtype=np.int64),
        np.array([lap.end_ns for lap in chosen], dtype=np.int64),
    )


class _Lines:
    """Which regions make one line, how many they are, and how often they begin."""

    def __init__(self, rows: Rows, regions: Ints, laps: Span) -> None:
        names = [rows.names[i] for i in np.unique(rows.name[regions]).tolist()]
        self.group = grouped(names)
        self.members = Counter(self.group.values())
        begin = regions[intervals.contains(laps, rows.start_ns[regions])]
        self.count: Counter[str] = Counter()
        for i, times in zip(*np.unique(rows.name[begin], return_counts=True), strict=True):
            self.count[self.group[rows.names[int(i)]]] += int(times)

    def line(self, name: str, accounts: Mapping[str, int]) -> RegionLine:
        ns, parts = sum(accounts.values()), dict(sorted(accounts.items()))
        if name not in self.members:
            return RegionLine(name, ns, parts)
        return RegionLine(name, ns, parts, self.members[name], self.count[name])


def grouped(names: Sequence[str]) -> dict[str, str]:
    """For each region's name the name of its line: what it shares with others but for a number at
    the end, or itself where no other shares it."""
    bases = {name: NUMBERED.sub(r"\1", name) for name in names}
    times = Counter(bases.values())
    return {name: base if times[base] > 1 else name for name, base in bases.items()}


def _regions(rows: Rows, marks: frozenset[str]) -> Ints:
    """Rows of the user's regions: annotations other than the laps' own marks, and modules."""
    step = rows.names_like(STEP_MARK) | rows.names_matching(lambda n: n in marks)
    own = rows.of_kind(Kind.ANNOTATION)
    own = own[~step[rows.name[own]]]
    pick: Ints = np.sort(np.concatenate((own, rows.like(MODULE, Kind.PYTHON))))
    return pick[rows.dur_ns[pick] > 0]


def _innermost(rows: Rows, regions: Ints) -> Labelled:
    """The innermost region at each instant of one thread: stretches and their name."""
    found = nest(rows, regions)
    return found.span, rows.name[found.row[found.at]].astype(np.int64)


def _name_at(found: Labelled | None, instants: I64) -> I64:
    """Name of the stretch that holds each instant; -1 outside."""
    out = np.full(len(instants), -1, dtype=np.int64)
    if found is None or len(found[1]) == 0:
        return out
    span, names = found
    at = np.maximum(np.searchsorted(span[0], instants, side="right") - 1, 0)
    hit = (span[0][at] <= instants) & (instants < span[1][at])
    out[hit] = names[at[hit]]
    return out


def _busy(work: Work | None, rows: Rows, innermost: Mapping[int, Labelled], owner: int) -> Labelled:
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


def _totals(
    device: DeviceLedger, inside: Span, busy: Labelled, owner: Labelled
) -> dict[tuple[int, int], int]:
    """Length by (name, account): busy time by ``busy``'s names, the rest by ``owner``'s (-1: in
    no stretch of either)."""
    labels = np.unique(np.concatenate((busy[1], owner[1], [-1])))
    ns = np.zeros((len(labels), len(device.leaves)), dtype=np.int64)
    segments = device.segments

    def add(time: Span, account: Ints, found: Labelled) -> Ints:
        """Add what lies inside the stretches; gives the lengths by account."""
        mine, its, piece = intervals.overlaps(time, found[0])
        name = np.searchsorted(labels, found[1][its])
        length = piece[1] - piece[0]
        add_at(ns.reshape(-1), name * ns.shape[1] + account[mine], length)
        return _sums(account[mine], length, len(device.leaves))

    for part in slices(len(segments.account)):
        stretches = (segments.start_ns[part], segments.end_ns[part])
        at, _, whole = intervals.overlaps(stretches, inside)
        if len(at) == 0:
            continue
        account = segments.account[part][at]
        add(whole, account, busy)
        gaps = intervals.complement(busy[0], int(whole[0][0]), int(whole[1][-1]))
        at, _, rest = intervals.overlaps(whole, gaps)
        account = account[at]
        left = _sums(account, rest[1] - rest[0], len(device.leaves))
        ns[0] += left - add(rest, account, owner)
    return {(int(labels[i]), j): int(ns[i, j]) for i, j in zip(*np.nonzero(ns), strict=True)}


def _sums(account: Ints, length: I64, accounts: int) -> I64:
    """Total length by account."""
    out = np.zeros(accounts, dtype=np.int64)
    add_at(out, account, length)
    return out
