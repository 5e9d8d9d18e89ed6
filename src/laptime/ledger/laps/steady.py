"""Which laps are steady: past warm-up, and past the filling of the launch queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from laptime.model.laps import DeviceLap, Lap

WARM_UP = 1.25
"""A leading lap this much longer than the median of those after it is warm-up. Measured: first
profiled laps of public traces are 1.4 to 190 times longer where warm-up shows, else within 2 %."""
FILLING = 0.9
"""A host lap below this share of its device period runs ahead of the device."""


def with_steadiness(laps: Sequence[Lap], windows: Sequence[DeviceLap]) -> list[Lap]:
    """The laps, each marked steady or with the reason why not.

    ``windows`` are those of the device with most work (none for CPU-only runs). Both rules look
    only at the leading laps: a slow lap in the middle is not warm-up but news.
    """
    out = list(laps)
    by_lap = {w.lap: w for w in windows}
    filling = _filling(laps, by_lap)
    for i in range(filling):
        out[i] = replace(laps[i], steady=False, why_not="launch queue filling")
    for i in range(filling, len(laps) - 1):
        later = [_length(lap, by_lap) for lap in laps[i + 1 :]]
        if _length(laps[i], by_lap) <= WARM_UP * median(later):
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
    for lap in laps:
        window = by_lap.get(lap.id)
        if window is None:
            break
        # The open window lacks the idle time before the next lap; its period is the last one's.
        period = period if window.open else window.dur_ns
        if lap.dur_ns >= FILLING * period:
            break
        count += 1
    return count
