"""Which laps are steady: past warm-up, and past the filling of the launch queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median_high

from laptime.model.laps import DeviceLap, Lap

WARM_UP = 1.25
"""A leading lap this much longer than the median of those after it is warm-up. Measured: first
profiled laps of public traces are 1.4 to 190 times longer where warm-up shows, else within 2 %."""
NO_WORK = "no device work of its own"
FILLING = 0.9
"""A host lap below this share of its device period runs ahead of the device."""


def with_steadiness(laps: Sequence[Lap], windows: Sequence[DeviceLap]) -> list[Lap]:
    """The laps, each marked steady or with the reason why not.

    ``windows`` are those of the device with most work (none for CPU-only runs). Both rules look
    only at the leading laps: a slow lap in the middle is not warm-up but news.
    """
    by_lap = {w.lap: w for w in windows}
    out = [
        lap if not windows or lap.id in by_lap else replace(lap, steady=False, why_not=NO_WORK)
        for lap in laps
    ]
    working = [i for i, lap in enumerate(out) if lap.steady]
    filling = _filling([laps[i] for i in working], by_lap)
    for i in working[:filling]:
        out[i] = replace(laps[i], steady=False, why_not="launch queue filling")
    for at, i in enumerate(working[filling:-1], filling):
        later = [_length(laps[k], by_lap) for k in working[at + 1 :]]
        # The upper median: one short lap at the end does not make the whole laps warm-up.
        if _length(laps[i], by_lap) <= WARM_UP * median_high(later):
            break
        out[i] = replace(laps[i], steady=False, why_not="warm-up")
    return out


def _length(lap: Lap, by_lap: dict[str, DeviceLap]) -> int:
    """A lap's length: on the host, or on the device where that is longer and closed."""
    window = by_lap.get(lap.id)
    on_device = window.dur_ns if window is not None and not window.open else 0
    return max(lap.dur_ns, on_device)


def _filling(laps: Sequence[Lap], by_lap: dict[str, DeviceLap]) -> int:
    """How many leading laps run ahead of the device: shorter on the host than their device
    period, so that the lag between host and device grows."""
    count = 0
    period = 0
    for at, lap in enumerate(laps):
        window = by_lap.get(lap.id)
        if window is None:
            break
        # The open window lacks the idle time before the next lap; its period is the last one's.
        period = period if window.open else window.dur_ns
        # Laps without work in between lengthen the window and the host's way to the next alike.
        on_host = lap.dur_ns
        if at + 1 < len(laps):
            on_host = max(on_host, laps[at + 1].start_ns - lap.start_ns)
        if on_host >= FILLING * period:
            break
        count += 1
    return count
