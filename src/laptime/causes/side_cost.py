"""What host rows cost a lap: time of the thread that owns or feeds it, as far as the lap pays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Need
from laptime.causes.counted import counted
from laptime.causes.launches import device_unseen
from laptime.causes.limits import MEAN_OVER_MEDIAN
from laptime.causes.loader import outermost
from laptime.causes.origin import origins
from laptime.causes.view import DeviceView, device_views, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.overhead import overhead_of
from laptime.model.rows import I64, Ints, Kind

CALLED = re.compile(r"^laptime\.(?:call|load): (?P<what>.+?)(?: from (?P<where>.+))?$")
"""A call that the probe of `laptime run` marked, with the line of the program that made it."""

WATCHED = re.compile(r"^laptime\.calls$")
"""The probe's mark that it watches such calls."""


@dataclass(frozen=True)
class HostCost:
    """Rows of host threads and what of their time one device's laps pay for.

    ``rows`` are outermost ones that touch the counted windows; ``span`` is their time there, and
    ``paid`` the part that costs: all of it where the thread is what the ledger is of, else that in
    which the device is idle and nothing is enqueued.
    """

    view: DeviceView
    rows: Ints
    span: Span
    paid: Span

    @property
    def share(self) -> float:
        """Share of the counted windows that is paid."""
        return self.view.share(self.paid)

    @property
    def ns(self) -> int:
        """What is paid, a mean per counted window."""
        return self.view.mean_ns(self.paid)

    @property
    def per_lap(self) -> float:
        """Rows a counted window."""
        return len(self.rows) / self.view.laps

    @property
    def touched(self) -> int:
        """How many of the counted windows pay anything."""
        return int((by_lap(self.view, self.paid) > 0).sum())

    @property
    def taken(self) -> str:
        """ "12.0 of each 100 ms lap (12 %)", with the laps that have any where not all do, and
        what the middle lap has where few laps make the mean."""
        told = f"{self.view.of_lap(self.ns)} ({wording.percent(self.share)})"
        if self.touched < self.view.laps:
            told += f", all of it in {self.touched} of {self.view.laps} laps"
        middle = middle_ns(self.view, self.paid)
        if self.touched <= self.view.laps // 2 or self.ns <= MEAN_OVER_MEDIAN.value * middle:
            return told
        return f"{told} on average, {wording.time(middle)} in the middle lap"

    @property
    def hidden(self) -> str:
        """What of the rows' time costs nothing beside a device; "" on CPU-only runs."""
        rest = self.view.mean_ns(self.span) - self.ns
        if self.view.ledger.cpu or rest <= 0:
            return ""
        return f"; another {wording.time(rest)}{self.view.per_lap} beside device work"

    @property
    def totals(self) -> str:
        """The rows, what they last, what of it is paid, and the longest."""
        lasting = self.view.in_total(intervals.total(self.span))
        paid = self.view.in_total(intervals.total(self.paid))
        beside = wording.time(self.view.mean_ns(self.span) - self.ns)
        rest = "" if self.view.ledger.cpu else f", {beside}{self.view.per_lap} beside device work"
        return (
            f"{self.view.number_in_all(len(self.rows), 'call')} in {self.touched} of "
            f"{self.view.laps} laps: {lasting}; paid {paid}{rest}; the longest "
            f"{self.longest_ns:,} ns, which is {wording.time(self.longest_ns)}"
        )

    @property
    def longest_ns(self) -> int:
        """The longest row."""
        return int(self.view.case.timeline.rows.dur_ns[self.rows].max())

    def where(self) -> Sequence[tuple[str, float]]:
        """Lines of the program that the rows come from, with calls a lap, most time first."""
        rows = self.view.case.timeline.rows
        time: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for row, origin in zip(self.rows.tolist(), origins(self.view.case, self.rows), strict=True):
            said = CALLED.match(rows.name_of(row))
            line = said["where"] if said is not None and said["where"] else origin
            if line is not None:
                time[line] += int(rows.dur_ns[row])
                calls[line] += 1
        order = sorted(time, key=lambda line: (-time[line], line))
        return [(line, calls[line] / self.view.laps) for line in order]

    def by_name(self) -> Sequence[str]:
        """The rows by name, most time first ("print: 3 calls, 1.20 ms a lap")."""
        rows = self.view.case.timeline.rows
        time: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for row in self.rows.tolist():
            name = plain_name(rows.name_of(row))
            time[name] += int(rows.dur_ns[row])
            calls[name] += 1
        per = self.view.laps
        order = sorted(time, key=lambda name: (-time[name], name))[:3]
        return [
            f"{name}: {wording.counted(calls[name] / per, 'call')}, "
            f"{wording.time(time[name] / per)}{self.view.per_lap}"
            for name in order
        ]


def plain_name(name: str) -> str:
    """A row's name, of a call that the probe marked only what was called."""
    said = CALLED.match(name)
    return said["what"] if said is not None else name


def watched(case: Case) -> bool:
    """Whether calls outside torch show: in Python stacks, or marked by the probe."""
    rows = case.timeline.rows
    return bool(rows.mask_of(Kind.PYTHON).any()) or bool(rows.names_like(WATCHED).any())


def host_cost(view: DeviceView, rows: Ints) -> HostCost:
    """What rows on the threads that own or feed the lap cost on one device.

    Rows that reach over the start of a lap are left out: they hold laps, and are no part of one.
    """
    columns = view.case.timeline.rows
    mine = lane_rows(view.case, rows, feeding_lanes(view))
    mine = mine[columns.dur_ns[mine] > 0]
    starts = np.sort(np.array([x.start_ns for x in view.case.ledger.laps.laps], dtype=np.int64))
    low, high = columns.start_ns[mine], columns.end_ns(mine)
    before = np.searchsorted(starts, low, side="right")
    mine = mine[np.searchsorted(starts, high, side="left") <= before]
    mine = outermost(columns, mine) if len(mine) else mine
    mine = mine[view.touching(columns.start_ns[mine], columns.end_ns(mine))]
    span = view.rows_span(mine)
    return HostCost(view, mine, span, paid(view, span))


def paid(view: DeviceView, span: Span) -> Span:
    """The part of a set of host time that the laps of a device pay for."""
    if view.ledger.cpu:
        return view.inside(span)
    return intervals.intersect(span, view.time_in("host"))


def judged(case: Case) -> list[DeviceView]:
    """Devices on which host time can be told to cost: CPU-only runs, and devices whose idle time
    the ledger splits."""
    if device_unseen(case):
        return []
    return [v for v in device_views(case) if v.ledger.cpu or v.knows("host")]


def worst(case: Case, rows: Ints) -> HostCost | None:
    """The device that pays the largest share for the rows; None where none can be judged."""
    costs = [host_cost(view, rows) for view in judged(case)]
    return max(costs, key=lambda c: c.share, default=None)


def by_lap(view: DeviceView, span: Span) -> I64:
    """Length of a set of time in each counted window, ns."""
    low = np.array([w.start_ns for w in view.counted], dtype=np.int64)
    high = np.array([w.end_ns for w in view.counted], dtype=np.int64)
    return intervals.by_window(span, low, high)


def middle_ns(view: DeviceView, span: Span) -> int:
    """What the middle lap has of a set of time, of an even number the lower of the two."""
    has = np.sort(by_lap(view, span))
    return int(has[(len(has) - 1) // 2]) if len(has) else 0


@dataclass(frozen=True)
class Usual:
    """The part of a set of time that is a trait of the laps. Where few laps make the mean (of the
    laps that have any it is above twice the middle one), those with more than twice the middle
    one's are left out: something held them up, and what it was these rows do not tell.

    ``laps`` are the stretches of counted time in which ``span`` lies, ``left_out`` how many windows
    are not in them; ``mean_ns`` (of all windows) and ``middle_ns`` are of the whole set.
    """

    span: Span
    laps: Span
    left_out: int
    mean_ns: int
    middle_ns: int

    def told(self, view: DeviceView) -> str:
        """Behind a figure, which laps are not in it; "" where all are."""
        if not self.left_out:
            return ""
        return (
            f", without {self.left_out} of {wording.counted(view.laps, 'lap')} above twice the "
            f"middle one's {wording.time(self.middle_ns)} (with them {wording.time(self.mean_ns)} "
            "a lap)"
        )


def usual(view: DeviceView, span: Span) -> Usual:
    """The part of a set of time that is no work of a few laps."""
    has, mean = by_lap(view, span), view.mean_ns(span)
    any_ = np.sort(has[has > 0])
    middle = int(any_[(len(any_) - 1) // 2]) if len(any_) else 0
    if len(any_) == 0 or float(any_.mean()) <= MEAN_OVER_MEDIAN.value * middle:
        return Usual(span, view.windows, 0, mean, middle)
    kept = np.flatnonzero(has <= MEAN_OVER_MEDIAN.value * middle).tolist()
    laps = intervals.union(
        np.array([view.counted[i].start_ns for i in kept], dtype=np.int64),
        np.array([view.counted[i].end_ns for i in kept], dtype=np.int64),
    )
    out = view.laps - len(kept)
    return Usual(intervals.intersect(span, laps), laps, out, mean, middle)


def in_few_laps(view: DeviceView, span: Span, least: float) -> str:
    """Why a set of time is no trait of the laps: the middle lap has less than ``least`` of it, or
    the laps without those that have far more than the middle one; "" where it is one."""
    low = np.array([w.start_ns for w in view.counted], dtype=np.int64)
    high = np.array([w.end_ns for w in view.counted], dtype=np.int64)
    shares = np.sort(by_lap(view, span) / np.maximum(high - low, 1))
    middle = float(shares[(len(shares) - 1) // 2])
    if middle < least:
        return (
            f"{wording.percent(view.share(span))} of the lap on average, but "
            f"{wording.percent(middle)} of the middle one"
        )
    rest = usual(view, span)
    if rest.left_out and view.share(rest.span) < least:
        return (
            f"{wording.percent(view.share(span))} of the lap on average "
            f"({wording.time(rest.mean_ns)}), but {wording.time(rest.middle_ns)} in the middle "
            f"one: {rest.left_out} of {wording.counted(view.laps, 'lap')} have most of it"
        )
    return ""


def in_most_laps(view: DeviceView, span: Span, least: float) -> str:
    """Why a set of time is no trait of the laps: few have it, or what is more than ``least`` may be
    the main thread's wait for a CPU, or recording's own cost; else ""."""
    few = in_few_laps(view, span, least)
    if few:
        return few
    waits = without_cpu(view.case)
    if waits is not None and view.share(usual(view, span).span) - waits < least:
        return (
            f"{wording.percent(view.share(span))} of the lap, but the main thread is without a CPU "
            f"for {wording.percent(waits)} of the laps"
        )
    adds = recording_adds(view)
    if adds is not None and view.share(usual(view, span).span) - adds / view.lap_ns < least:
        return (
            f"{wording.percent(view.share(span))} of the lap, but recording makes it "
            f"{wording.time(adds)} longer, which may lie there"
        )
    return ""


def recording_adds(view: DeviceView) -> float | None:
    """What recording adds to a lap, ns; None where that was not measured or does not show."""
    cost = overhead_of(view.case.timeline, view.case.ledger)
    if cost is None or cost.cost is None or cost.plain is None or not cost.shown_to_cost:
        return None
    return cost.cost * cost.plain.mean_ns


def without_cpu(case: Case) -> float | None:
    """Share of the laps in which the main thread waits for a CPU; None where not counted."""
    if Need.SCHED not in case.has:
        return None
    of = counted(case)
    return of.cores(of.own, "main_wait_ns")
