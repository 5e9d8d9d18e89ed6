"""The loader as the trace names it: its spans, how it was configured, what they left idle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import LOADER
from laptime.model.rows import Ints, Kind, Rows

WITHOUT_WORKERS = "_SingleProcessDataLoaderIter"
WITH_WORKERS = "_MultiProcessingDataLoaderIter"


def loader_rows(rows: Rows) -> Ints:
    """Rows of the loader's next (and of queue gets), as the ledger recognises them."""
    return rows.like(LOADER, Kind.ANNOTATION, Kind.CPU_OP, Kind.PYTHON)


def has_workers(rows: Rows, loader: Ints) -> bool | None:
    """Whether the loader runs in workers, by its iterator's name; None where it does not tell."""
    names = {rows.names[int(i)] for i in np.unique(rows.name[loader])}
    with_workers = any(WITH_WORKERS in n for n in names)
    without = any(WITHOUT_WORKERS in n for n in names)
    return None if with_workers == without else with_workers


@dataclass(frozen=True)
class LoaderTime:
    """The loader's time in the host windows of the steady laps, means per lap.

    ``span_ns`` is the time inside its next, ``idle_ns`` the part in which nothing ran on the
    device, ``lap_ns`` the host lap. A loader's span delays the device's window of the lap before,
    and the first one lies before any device window: these are not the ledger's windows.
    """

    lap_ns: float
    span_ns: int
    idle_ns: int

    @property
    def hidden_ns(self) -> int:
        """The part that overlaps device work."""
        return self.span_ns - self.idle_ns


def loader_time(view: DeviceView, loader: Ints) -> LoaderTime:
    """Measure the loader's rows against one device."""
    laps = view.case.ledger.laps
    chosen = laps.steady or list(laps.laps)
    windows = intervals.union(
        np.array([lap.start_ns for lap in chosen], dtype=np.int64),
        np.array([lap.end_ns for lap in chosen], dtype=np.int64),
    )
    columns = view.case.timeline.rows
    rows_span = intervals.union(columns.start_ns[loader], columns.end_ns(loader))
    span = intervals.intersect(rows_span, windows)
    number = max(1, len(chosen))
    return LoaderTime(
        intervals.total(windows) / number,
        round(intervals.total(span) / number),
        round(intervals.total(intervals.subtract(span, _busy(view))) / number),
    )


def _busy(view: DeviceView) -> Span:
    """All time in which the device works, inside its windows or not."""
    work = view.work
    return intervals.EMPTY if work is None else intervals.union(work.start_ns, work.end_ns)
