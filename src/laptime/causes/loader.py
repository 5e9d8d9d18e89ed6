"""The loader as the trace names it: its spans, how it was configured, what they left idle."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from laptime.causes.case import Case
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Rows

WITHOUT_WORKERS = "_SingleProcessDataLoaderIter"
WITH_WORKERS = "_MultiProcessingDataLoaderIter"


def loader_rows(case: Case) -> Ints:
    """Rows of the loader's next (and of queue gets), as the ledger recognised them."""
    return case.ledger.loaders.rows(case.timeline.rows)


def outermost(rows: Rows, loader: Ints) -> Ints:
    """Those of the rows that lie inside no other one of their thread, in order of thread and start:
    a next is called by a next (torch's mark around its Python frames), and is one span."""
    end = rows.end_ns(loader)
    order = np.lexsort((loader, -end, rows.start_ns[loader], rows.lane[loader]))
    loader, end = loader[order], end[order]
    keep = np.ones(len(loader), dtype=np.bool_)
    bounds = [0, *(np.flatnonzero(np.diff(rows.lane[loader])) + 1).tolist(), len(loader)]
    for low, high in pairwise(bounds):
        reach = np.maximum.accumulate(end[low:high])
        keep[low + 1 : high] = end[low + 1 : high] > reach[:-1]
    return loader[keep]


def has_workers(rows: Rows, loader: Ints) -> bool | None:
    """Whether the loader runs in workers, by its iterator's name; None where it does not tell."""
    names = {rows.names[int(i)] for i in np.unique(rows.name[loader])}
    with_workers = any(WITH_WORKERS in n for n in names)
    without = any(WITHOUT_WORKERS in n for n in names)
    return None if with_workers == without else with_workers


@dataclass(frozen=True)
class LoaderTime:
    """The loader's time in the host windows of the steady laps.

    ``lap_ns`` is their mean length, ``laps`` their number. ``span_all_ns`` is the time inside the
    loader's next in all of them, ``idle_all_ns`` the part in which nothing ran on the device;
    ``span_ns`` and ``idle_ns`` are means per lap. ``spans`` are the outermost rows inside the laps.
    A loader's span delays the device's window of the lap before, and the first one lies before any
    device window: these are not the ledger's windows.
    """

    laps: int
    lap_ns: float
    span_all_ns: int
    idle_all_ns: int
    spans: Ints

    @property
    def span_ns(self) -> int:
        """The loader's time, a mean per lap."""
        return round(self.span_all_ns / self.laps)

    @property
    def idle_ns(self) -> int:
        """The part in which nothing ran on the device, a mean per lap."""
        return round(self.idle_all_ns / self.laps)

    @property
    def hidden_ns(self) -> int:
        """The part that overlaps device work, a mean per lap."""
        return self.span_ns - self.idle_ns

    @property
    def hidden_all_ns(self) -> int:
        """The part that overlaps device work, in all laps."""
        return self.span_all_ns - self.idle_all_ns


def loader_time(view: DeviceView, loader: Ints) -> LoaderTime:
    """Measure the loader's rows against one device."""
    laps = view.case.ledger.laps
    chosen = laps.steady or list(laps.laps)
    windows = intervals.union(
        np.array([lap.start_ns for lap in chosen], dtype=np.int64),
        np.array([lap.end_ns for lap in chosen], dtype=np.int64),
    )
    columns = view.case.timeline.rows
    outer = outermost(columns, loader)
    start, end = columns.start_ns[outer], columns.end_ns(outer)
    span = intervals.intersect(intervals.union(start, end), windows)
    number = max(1, len(chosen))
    return LoaderTime(
        number,
        intervals.total(windows) / number,
        intervals.total(span),
        intervals.total(intervals.subtract(span, _busy(view))),
        outer[intervals.by_window(windows, start, end) > 0],
    )


def _busy(view: DeviceView) -> Span:
    """All time in which the device works, inside its windows or not."""
    work = view.work
    return intervals.EMPTY if work is None else intervals.union(work.start_ns, work.end_ns)
