"""Whether the clocks of host and device agree, as far as a timeline's own rows can tell.

Work cannot begin before the call that launches it, nor end after a call that waited for it has
returned. Where a row says so, the clocks disagree by at least as much. A device clock that is
ahead is seen only where the program waits for the whole device; without that, it may be the reason
where even work that found its device idle begins long after its call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.model.health import Health
from laptime.model.rows import API_CALLS, DEVICE_WORK, I64, Ints, Rows, present
from laptime.model.run import Timeline

ROUNDING_NS = 1_000
"""Up to here rows of whole microseconds may contradict each other by rounding alone."""

WAITS_FOR_DEVICE = re.compile(r"^(cuda|hip)DeviceSynchronize(_|$)")

SLOW_LAUNCH_NS = 1_000_000
"""An implausible launch latency. Measured: 4 to 30 us is the least of published traces; 7 and
21 ms in two where the host was ahead of the device throughout, which is what the next two tell."""

IDLE_NS = 10_000
"""An idle device: what is queued already begins within 1 to 3 us of the work before it."""

LAUNCHES = 20
"""Launches on an idle device from which the least of their latencies is asked."""

WRONG = (
    "launch latency, the lag between host and device, and which lap device work belongs to are "
    "wrong by as much"
)


def check(timeline: Timeline, who: str, health: Health) -> None:
    """Add to ``health`` where the rows of a timeline say, or suggest, that clocks disagree.

    ``who`` names the timeline in the warnings.
    """
    launched = _launched(timeline.rows)
    if launched is None:
        return
    latency = timeline.rows.start_ns[launched.work] - launched.called_ns
    early_ns, early = -int(latency.min()), int((latency < 0).sum())
    if early_ns > ROUNDING_NS:
        health.warnings.append(
            f"{who}: {early} of {len(latency)} device activities start before their own launch "
            f"call, by up to {told(early_ns)}: host and device clocks disagree by at least that; "
            f"{WRONG}"
        )
        return
    waits, late, late_ns, name = _after_their_wait(timeline, launched)
    if late_ns > ROUNDING_NS:
        health.warnings.append(
            f"{who}: device work ends up to {told(late_ns)} after the {name} that waited for it "
            f"returned ({late} of {waits} such calls): host and device clocks disagree by at least "
            f"that; {WRONG}"
        )
    elif int(latency.min()) > SLOW_LAUNCH_NS:
        idle = _found_idle(timeline, launched)
        if len(idle) >= LAUNCHES:
            least = told(int(latency[idle].min()))
            health.warnings.append(
                f"{who}: {len(idle)} launches found their device idle, and none began sooner than "
                f"{least} after its call: the device's clock may be ahead of the host's by up to "
                f"that; if so, {WRONG}"
            )


def told(ns: int) -> str:
    """A time in the unit that keeps its number short."""
    for unit_ns, unit in ((3_600_000_000_000, "h"), (1_000_000_000, "s"), (1_000_000, "ms")):
        if abs(ns) >= unit_ns:
            return f"{ns / unit_ns:.1f} {unit}"
    return f"{ns / 1000:.1f} us"


@dataclass(frozen=True)
class _Launched:
    """Activities with a recorded call: their rows, and the start and end of the first such call."""

    work: Ints
    called_ns: I64
    call_end_ns: I64


def _launched(rows: Rows) -> _Launched | None:
    """Each activity with the earliest of the calls that have its id; None where none has one."""
    work, calls = rows.of_kind(*DEVICE_WORK), rows.of_kind(*API_CALLS)
    if rows.correlation is None or len(work) == 0 or len(calls) == 0:
        return None
    ids = rows.correlation[calls]
    usable = present(ids) & (ids != 0)
    calls, ids = calls[usable], ids[usable]
    if len(calls) == 0:
        return None
    if (ids[1:] < ids[:-1]).any():
        order = np.argsort(ids, kind="stable")
        calls, ids = calls[order], ids[order]
    again = ids[1:] == ids[:-1]
    if again.any():
        calls = calls[np.lexsort((rows.start_ns[calls], ids))]
        first = np.flatnonzero(np.append(True, ~again))
        calls, ids = calls[first], ids[first]
    wanted = rows.correlation[work]
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    hit = ids[at] == wanted
    if not hit.any():
        return None
    call = calls[at[hit]]
    return _Launched(work[hit], rows.start_ns[call], rows.end_ns(call))


def _after_their_wait(timeline: Timeline, launched: _Launched) -> tuple[int, int, int, str]:
    """Calls that waited for the whole device after a launch, those of them that returned before
    the work was over, the longest time by which one did, and its name.

    Such a call waits for the current device, which is not recorded: only where the timeline has
    work of one device alone is it known what was waited for.
    """
    rows = timeline.rows
    device = [lane.device for lane in timeline.lanes]
    if len({device[lane] for lane in np.unique(rows.lane[launched.work]).tolist()}) != 1:
        return 0, 0, 0, ""
    waits = rows.like(WAITS_FOR_DEVICE, *API_CALLS)
    waits = waits[rows.dur_ns[waits] >= 0]
    if len(waits) == 0:
        return 0, 0, 0, ""
    order = np.argsort(launched.call_end_ns, kind="stable")
    over = np.maximum.accumulate(rows.end_ns(launched.work)[order])
    before = np.searchsorted(launched.call_end_ns[order], rows.start_ns[waits], side="right")
    waits, before = waits[before > 0], before[before > 0]
    late = over[before - 1] - rows.end_ns(waits)
    if len(late) == 0:
        return 0, 0, 0, ""
    worst = int(np.argmax(late))
    return len(waits), int((late > 0).sum()), int(late[worst]), rows.name_of(int(waits[worst]))


def _found_idle(timeline: Timeline, launched: _Launched) -> Ints:
    """Which launched activities began when their device had been idle for ``IDLE_NS``."""
    rows = timeline.rows
    names = sorted({lane.device or "" for lane in timeline.lanes})
    of_lane = np.array([names.index(lane.device or "") for lane in timeline.lanes], dtype=np.int64)
    work = rows.of_kind(*DEVICE_WORK)
    found = [np.zeros(0, dtype=np.int64)]
    for device in np.unique(of_lane[rows.lane[work]]).tolist():
        mine = work[of_lane[rows.lane[work]] == device]
        mine = mine[np.argsort(rows.start_ns[mine], kind="stable")]
        over = np.maximum.accumulate(rows.end_ns(mine))
        found.append(mine[1:][rows.start_ns[mine[1:]] - over[:-1] >= IDLE_NS])
    return np.flatnonzero(np.isin(launched.work, np.concatenate(found)))
