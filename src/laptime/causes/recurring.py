"""Whether a cost that belongs to a program's first laps can be told to come back in every lap."""

from __future__ import annotations

import numpy as np

from laptime.causes import wording
from laptime.causes.case import SUPPLY, Abstention, Need
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span


def only_first_use(cause_id: str, view: DeviceView, what: str) -> Abstention | None:
    """An abstention where no steady lap is counted: what is done once at the first use of a device
    cannot be told there from what every lap does. None where steady laps are counted.

    ``what`` says what was seen ("allocation calls leave the device idle 52 % of the time").
    """
    laps = view.case.ledger.laps
    steady = {lap.id for lap in laps.steady}
    if laps.source != "window" and any(w.lap in steady for w in view.counted):
        return None
    return Abstention(
        cause_id,
        (f"steady laps: {what}, which may be first use",),
        SUPPLY[Need.THREE_LAPS],
        view.case.timeline.rank,
    )


def in_laps(view: DeviceView, span: Span) -> str:
    """In how many of the counted laps the set has time, where not in all (", in 1 of 5 laps")."""
    starts = np.array([w.start_ns for w in view.counted], dtype=np.int64)
    ends = np.array([w.end_ns for w in view.counted], dtype=np.int64)
    held = int((intervals.by_window(span, starts, ends) > 0).sum())
    return "" if held == view.laps else f", in {held} of {wording.counted(view.laps, 'lap')}"
