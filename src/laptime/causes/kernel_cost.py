"""What device work of a kind costs: the counted time in which nothing else runs beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case
from laptime.causes.view import DeviceView, gpu_views
from laptime.kernels.names import KernelName
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.sums import add_at
from laptime.ledger.work import WorkClass
from laptime.model.rows import Ints, Kind, Mask

NAMES_SHOWN = 3
NAME_CHARS = 100


@dataclass(frozen=True)
class KernelCost:
    """Device work of one kind: ``span`` the counted time that only such work takes, ``at`` the
    positions in the device's ``Work`` of those inside the counted windows."""

    view: DeviceView
    span: Span
    at: Ints

    @property
    def ns(self) -> int:
        """Mean time per counted window."""
        return self.view.mean_ns(self.span)

    @property
    def share(self) -> float:
        """Share of counted time, 0..1."""
        return self.view.share(self.span)

    @property
    def rows(self) -> Ints:
        """Rows of the work."""
        work = self.view.work
        return np.zeros(0, dtype=np.int64) if work is None else work.row[self.at]

    @property
    def per_lap(self) -> float:
        """How many there are, a mean per counted window."""
        return len(self.at) / self.view.laps if self.view.laps else 0.0

    @property
    def mean_ns(self) -> float:
        """Mean duration; 0 where there is none."""
        return float(self.view.case.timeline.rows.dur_ns[self.rows].mean()) if len(self.at) else 0.0

    @property
    def taken(self) -> str:
        """ "2.10 of each 18.9 ms lap (11 %)"."""
        return f"{self.view.of_lap(self.ns)} ({wording.percent(self.share)})"

    @property
    def counted(self) -> str:
        """ "249 kernels a lap of mean 5.60 us"."""
        return (
            f"{wording.counted(self.per_lap, 'kernel')}{self.view.per_lap} of mean "
            f"{wording.time(self.mean_ns)}"
        )

    @property
    def totals(self) -> str:
        """What ``taken`` and ``counted`` are means of, to the nanosecond."""
        view, told = self.view, []
        if len(self.at):
            durations = int(view.case.timeline.rows.dur_ns[self.rows].sum())
            told.append(
                f"{view.number_in_all(len(self.at), 'kernel')}: {view.in_total(durations)}, "
                f"a mean of {wording.time(self.mean_ns)} each"
            )
        if len(self.span[0]):
            told.append(alone(view, intervals.total(self.span)))
        return "; ".join(told)

    def by_name(self, most: int = NAMES_SHOWN) -> Sequence[str]:
        """All of them together, then the names with most time, each with its number and time per
        counted window."""
        rows = self.view.case.timeline.rows
        names, at = np.unique(rows.name[self.rows], return_inverse=True)
        number = np.bincount(at, minlength=len(names))
        spent = np.zeros(len(names), dtype=np.int64)
        add_at(spent, at, rows.dur_ns[self.rows])
        order = np.argsort(-spent, kind="stable")[:most]
        return *((self.totals,) if self.totals else ()), *(
            f"{wording.times(int(number[i]) / self.view.laps)}{self.view.per_lap}, "
            f"{wording.time(int(spent[i]) / self.view.laps)}: "
            f"{rows.names[int(names[i])][:NAME_CHARS]}"
            for i in order.tolist()
        )


def alone(view: DeviceView, ns: int) -> str:
    """Time that only such work takes, over the counted windows, and its share of them."""
    share = ns / view.whole_ns if view.whole_ns else 0.0
    return f"alone for {view.in_total(ns)} ({wording.percent(share)} of {view.whole_ns:,} ns)"


def cost_of(view: DeviceView, such: Mask) -> KernelCost:
    """The cost of the work that ``such`` marks: time in which none but it computes or communicates.

    Copies and sets beside it do not count as other work, since they do not keep the device from
    going on.
    """
    work = view.work
    if work is None or not such.any():
        return KernelCost(view, intervals.EMPTY, np.zeros(0, dtype=np.int64))
    others = ~such & (work.klass != int(WorkClass.COPY))
    span = intervals.subtract(
        intervals.union(work.start_ns[such], work.end_ns[such]),
        intervals.union(work.start_ns[others], work.end_ns[others]),
    )
    inside = view.touching(work.start_ns, work.end_ns)
    return KernelCost(view, view.inside(span), inside[such[inside]])


def costliest(case: Case, choose: Callable[[DeviceView], Mask]) -> KernelCost | None:
    """The cost on the device where it is the largest share; None without device time."""
    costs = [cost_of(v, choose(v)) for v in gpu_views(case) if v.work is not None]
    return max(costs, key=lambda c: c.share, default=None)


def kernels_where(view: DeviceView, test: Callable[[KernelName], bool]) -> Mask:
    """Which of the device's compute kernels have a decoded name that passes the test."""
    work = view.work
    if work is None:
        return np.zeros(0, dtype=np.bool_)
    rows = view.case.timeline.rows
    named = np.zeros(len(rows.names) + 1, dtype=np.bool_)
    named[[i for i, k in view.case.kernel_names.items() if test(k)]] = True
    mask: Mask = (work.klass == int(WorkClass.COMPUTE)) & named[rows.name[work.row]]
    mask &= rows.kind[work.row] == Kind.KERNEL
    return mask
