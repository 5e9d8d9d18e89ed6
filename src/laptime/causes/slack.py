"""What a faster device can gain at most, where the host sets the pace."""

from __future__ import annotations

from laptime.causes import wording
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.model.rows import API_CALLS


def host_waits_ns(view: DeviceView) -> int | None:
    """Mean time per counted lap in which the host may be waiting for the device.

    A lap that only its device work shortens cannot end before the host has done its own part, so
    that it shrinks by no more than the host now waits. The host waits for the device inside API
    calls only (synchronisation, blocking copies, launches into a full queue), so that the time in
    which any thread is inside an API call while the device is busy is an upper bound of it. Python
    that polls without calls is not seen.

    None where the bound does not hold: no launch calls, or no closed steady lap (while the launch
    queue fills, the host does not wait yet and still is not what limits the run).
    """
    work = view.work
    ledger = view.case.ledger
    steady = {lap.id for lap in ledger.laps.laps if lap.steady}
    chosen = [
        w
        for w, c in zip(view.ledger.windows, ledger.counted(view.ledger).tolist(), strict=True)
        if c
    ]
    if work is None or not work.launched.any() or ledger.laps.source == "window":
        return None
    if not chosen or any(w.open or w.lap not in steady for w in chosen):
        return None
    rows = view.case.timeline.rows
    calls = rows.of_kind(*API_CALLS)
    inside = intervals.union(rows.start_ns[calls], rows.end_ns(calls))
    busy = intervals.union(work.start_ns, work.end_ns)
    return view.mean_ns(view.inside(intervals.intersect(inside, busy)))


def capped(view: DeviceView, bound_ns: int) -> tuple[int, str]:
    """A bound on shortening device work, no larger than what the host waits for the device.

    Returns the bound and, where it was lowered, the words that say so.
    """
    waits = host_waits_ns(view)
    if waits is None or waits >= bound_ns:
        return bound_ns, ""
    return waits, (
        f"the host waits for the device at most {wording.time(waits)}{view.per_lap}, so that "
        "faster device work alone can gain no more"
    )
