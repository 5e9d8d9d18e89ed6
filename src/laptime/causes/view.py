"""One device of a case as causes read it: its counted windows and sets of time inside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, EventRef
from laptime.causes.limits import MEAN_OVER_MEDIAN, SLIVER
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger
from laptime.ledger.work import Work
from laptime.model.laps import DeviceLap
from laptime.model.rows import I64, Ints

EVENTS_SHOWN = 8
"""Events that a finding carries; the rest can be had from the trace."""


@dataclass(frozen=True)
class DeviceView:
    """A device's ledger restricted to the windows that statistics use.

    Every set of time is clipped to ``windows``; every mean is per counted window, so that one
    finding's numbers share one denominator.
    """

    case: Case
    ledger: DeviceLedger
    counted: Sequence[DeviceLap]
    windows: Span
    _time_in: dict[frozenset[str], Span] = field(default_factory=dict, repr=False, compare=False)

    @property
    def laps(self) -> int:
        """How many windows are counted."""
        return len(self.counted)

    @property
    def device(self) -> str:
        """The device's id (for CPU-only runs the owning thread)."""
        return self.ledger.device

    @property
    def work(self) -> Work | None:
        """The device's activities; None for CPU-only runs."""
        return self.case.work.get(self.ledger.device)

    @property
    def whole_ns(self) -> int:
        """Length of all counted windows together."""
        return intervals.total(self.windows)

    @property
    def lap_ns(self) -> float:
        """Mean length of a counted window."""
        return self.whole_ns / self.laps if self.laps else 0.0

    @property
    def whole(self) -> str:
        """What the denominator is, with a place for its length (see ``wording.part_of``); where a
        few laps make the mean, the median beside it."""
        if self.laps > 1 and self.lap_ns > MEAN_OVER_MEDIAN.value * self._median_ns:
            median = wording.time(self._median_ns)
            return f"an average {{}} lap (median {median})" + self._unsteady()
        return self.each

    @property
    def each(self) -> str:
        """The same without the median, for lengths of host laps."""
        if self.case.ledger.laps.source == "window":
            return "the {} recording" if self.ledger.cpu else "the device's {} window"
        told = "each {} lap" if self.laps > 1 else "the one {} lap counted"
        return told + self._unsteady()

    @property
    def _median_ns(self) -> int:
        """The middle counted window, of an even number the lower of the two."""
        return sorted(w.dur_ns for w in self.counted)[(self.laps - 1) // 2]

    @property
    def open_in(self) -> str:
        """Words for a single counted window that is open and spans too little of its host lap:
        the device's time before its first and behind its last work is in no window. Else ""."""
        if self.ledger.cpu or self.laps != 1 or not self.counted[0].open:
            return ""
        lap = next(lap for lap in self.case.ledger.laps.laps if lap.id == self.counted[0].lap)
        if self.whole_ns >= SLIVER.value * lap.dur_ns:
            return ""
        return (
            "spans only the device's first to last work in a host lap of "
            f"{wording.time(lap.dur_ns)}"
        )

    def _unsteady(self) -> str:
        """Says why where the counted laps are not steady: no steady lap has a window to count."""
        ids = {w.lap for w in self.counted}
        laps = [lap for lap in self.case.ledger.laps.laps if lap.id in ids]
        if any(lap.steady for lap in laps):
            return ""
        reasons = sorted({lap.why_not for lap in laps if lap.why_not})
        return f" ({', '.join(reasons)}; no steady lap could be counted)" if reasons else ""

    @property
    def lap(self) -> str:
        """The denominator with its length ("each 175 ms lap")."""
        return self.whole.format(wording.time(self.lap_ns))

    @property
    def per_lap(self) -> str:
        """ " a lap" behind a mean, nothing where only one window is counted."""
        return " a lap" if self.laps > 1 else ""

    @property
    def in_all(self) -> str:
        """What a total is over ("in all 5 counted laps", "in the one counted lap")."""
        what = "window" if self.case.ledger.laps.source == "window" else "lap"
        if self.laps == 1:
            return f"in the one counted {what}"
        return f"in all {self.laps} counted {what}s"

    def in_total(self, ns: int) -> str:
        """A total over the counted windows, to the nanosecond, and its mean ("415,791,000 ns in
        all, 69.3 ms a lap")."""
        if self.laps == 1:
            return f"{ns:,} ns, which is {wording.time(ns)}"
        return f"{ns:,} ns in all, {wording.time(ns / self.laps)} a lap"

    def number_in_all(self, number: int, noun: str) -> str:
        """A number over the counted windows and its mean ("30 copies in all, 15 a lap")."""
        if self.laps == 1:
            return wording.counted(number, noun)
        return f"{wording.counted(number, noun)} in all, {wording.count(number / self.laps)} a lap"

    def of_lap(self, ns: float) -> str:
        """A mean and its lap ("69.3 of each 175 ms lap")."""
        return wording.part_of(ns, self.lap_ns, self.whole)

    def knows(self, account: str) -> bool:
        """Whether the ledger of this device tells the account (or a part of it) apart."""
        return any(account in line for line in self._lines())

    def time_in(self, *accounts: str) -> Span:
        """The counted time in any of the accounts (leaves or parents)."""
        asked = frozenset(accounts)
        if asked not in self._time_in:
            lines = self._lines()
            wanted = np.array([not line.isdisjoint(asked) for line in lines], dtype=np.bool_)
            segments = self.ledger.segments
            hit = wanted[segments.account]
            span = intervals.union(segments.start_ns[hit], segments.end_ns[hit])
            self._time_in[asked] = self.inside(span)
        return self._time_in[asked]

    def inside(self, span: Span) -> Span:
        """The part of a set inside the counted windows."""
        return intervals.intersect(span, self.windows)

    def rows_span(self, rows: Ints) -> Span:
        """The counted time covered by any of the rows."""
        columns = self.case.timeline.rows
        return self.inside(intervals.union(columns.start_ns[rows], columns.end_ns(rows)))

    def mean_ns(self, span: Span) -> int:
        """Mean length of a set per counted window, to the nearest ns."""
        return round(intervals.total(span) / self.laps) if self.laps else 0

    def share(self, span: Span) -> float:
        """Share of counted time, 0..1; 0 where no time is counted."""
        whole = self.whole_ns
        return intervals.total(span) / whole if whole else 0.0

    def touching(self, starts: I64, ends: I64) -> Ints:
        """Which of the stretches overlap the counted windows."""
        found: Ints = np.flatnonzero(intervals.by_window(self.windows, starts, ends) > 0)
        return found

    def events(self, rows: Ints) -> Sequence[EventRef]:
        """The longest of the rows inside the counted windows, in time order."""
        columns = self.case.timeline.rows
        rows = np.asarray(rows, dtype=np.int64)
        return self.longest(rows[self.touching(columns.start_ns[rows], columns.end_ns(rows))])

    def number(self, rows: Ints) -> int:
        """How many of the rows lie inside the counted windows, in part at least."""
        columns = self.case.timeline.rows
        return len(self.touching(columns.start_ns[rows], columns.end_ns(rows)))

    def longest(self, rows: Ints) -> Sequence[EventRef]:
        """The longest of the rows, in time order."""
        columns = self.case.timeline.rows
        longest = rows[np.argsort(-columns.dur_ns[rows], kind="stable")][:EVENTS_SHOWN]
        return tuple(self._event(int(r)) for r in longest[np.argsort(columns.start_ns[longest])])

    def _event(self, row: int) -> EventRef:
        columns = self.case.timeline.rows
        lane = self.case.timeline.lanes[int(columns.lane[row])]
        place = lane.name or (
            f"stream {lane.stream}" if lane.device is not None else f"thread {lane.tid}"
        )
        return EventRef(
            columns.name_of(row), place, int(columns.start_ns[row]), int(columns.dur_ns[row])
        )

    def _lines(self) -> list[set[str]]:
        """For each leaf, its own id and those of the accounts above it."""
        parents = {a.id: a.parent for a in self.ledger.tree}
        lines = []
        for leaf in self.ledger.leaves:
            line, above = {leaf.id}, leaf.parent
            while above is not None:
                line.add(above)
                above = parents.get(above)
            lines.append(line)
        return lines


def device_views(case: Case) -> list[DeviceView]:
    """A view of each device of the case that has counted time, in the ledger's order."""
    if "views" not in case.shared:
        case.shared["views"] = _device_views(case)
    views: list[DeviceView] = case.shared["views"]
    return list(views)


def _device_views(case: Case) -> list[DeviceView]:
    views = []
    for ledger in case.ledger.devices:
        windows = [
            w for w, used in zip(ledger.windows, case.ledger.counted(ledger), strict=True) if used
        ]
        starts = np.array([w.start_ns for w in windows], dtype=np.int64)
        ends = np.array([w.end_ns for w in windows], dtype=np.int64)
        view = DeviceView(case, ledger, windows, intervals.union(starts, ends))
        if view.whole_ns > 0:
            views.append(view)
    return views


def steady_counted(case: Case) -> int:
    """Steady laps that statistics really count: those with a counted window on the device that
    has most of them (a lap without device work of its own has none, nor has the open last one)."""
    steady = {lap.id for lap in case.ledger.laps.steady}
    return max((sum(w.lap in steady for w in v.counted) for v in device_views(case)), default=0)


def gpu_views(case: Case) -> list[DeviceView]:
    """Views of accelerators only."""
    return [v for v in device_views(case) if not v.ledger.cpu]


def lane_rows(case: Case, rows: Ints, lanes: Iterable[int]) -> Ints:
    """The rows that lie on any of the lanes."""
    kept: Ints = rows[
        np.isin(case.timeline.rows.lane[rows], np.array(sorted(set(lanes)), dtype=np.int64))
    ]
    return kept


def feeding_lanes(view: DeviceView) -> set[int]:
    """Lanes of the threads that launch on the device, and of the thread that owns the laps."""
    lanes: set[int] = set()
    if view.work is not None:
        count = np.bincount(view.work.thread + 1)  # faster than np.unique of as many
        lanes = set((np.flatnonzero(count) - 1).tolist()) - {-1}
    owner = view.case.ledger.laps.owner_lane
    return lanes | ({owner} if owner is not None else set())
