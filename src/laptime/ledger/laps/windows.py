"""Device windows: from the start of a lap's first own work to that of the next lap."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.ledger.work import Work
from laptime.model.laps import DeviceLap, Lap


def device_windows(laps: Sequence[Lap], work: Work) -> list[DeviceLap]:
    """Windows of one device, ascending. A lap without own work there has none.

    Own work is what was launched inside the host window, even if it ends later; where a device
    has no launch calls at all, what started inside the host window. The last window ends with its
    own work and is open.
    """
    if not laps or len(work.row) == 0:
        return []
    launched = work.launched
    chosen = launched if launched.any() else np.ones(len(work.row), dtype=np.bool_)
    called, start, end = work.called_ns[chosen], work.start_ns[chosen], work.end_ns[chosen]
    low = np.array([lap.start_ns for lap in laps], dtype=np.int64)
    high = np.array([lap.end_ns for lap in laps], dtype=np.int64)
    lap = np.searchsorted(low, called, side="right") - 1
    own = (lap >= 0) & (called < high[np.maximum(lap, 0)])
    lap, start, end = lap[own], start[own], end[own]
    if len(lap) == 0:
        return []
    far = np.iinfo(np.int64).max
    first = np.full(len(laps), far, dtype=np.int64)
    np.minimum.at(first, lap, start)
    last = np.full(len(laps), -far, dtype=np.int64)
    np.maximum.at(last, lap, end)
    has = np.flatnonzero(first < far)
    # A prefetched copy may start before the previous lap's own work: windows never go back.
    begins = np.maximum.accumulate(first[has])
    out = []
    for i, k in enumerate(has.tolist()):
        closed = i + 1 < len(has)
        until = int(begins[i + 1]) if closed else max(int(last[k]), int(begins[i]))
        out.append(
            DeviceLap(work.device, laps[k].id, int(begins[i]), until - int(begins[i]), not closed)
        )
    return out
