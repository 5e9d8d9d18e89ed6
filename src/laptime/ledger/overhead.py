"""What recording costs: laps without the profiler held against the laps it recorded.

Both are measured by the same clock at the same places of the same run. Intervals are at 95 %:
Student's t of the mean of plain laps, Welch's of the difference (B. L. Welch, Biometrika 34, 1947,
28-35; degrees of freedom rounded down), with laps taken as independent. The cost is that
difference against the mean of the plain laps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, sqrt
from statistics import fmean, variance

from laptime.ledger.ledger import Ledger
from laptime.model.counters import LapRecord
from laptime.model.run import Timeline

LEVEL = 0.95
LEAST_LAPS = 3
"""Laps below which no interval is given: two laps have a spread by accident."""

_T = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""97.5 % points of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of
Statistical Methods, 1.3.6.7.2); between the steps beyond, the lower step's point, the wider one."""
_T_BEYOND = ((120, 1.980), (60, 2.000), (40, 2.021), (30, 2.042))


@dataclass(frozen=True)
class MeanLap:
    """A mean lap with its interval; ``low_ns`` and ``high_ns`` are None below ``LEAST_LAPS``."""

    laps: int
    mean_ns: float
    low_ns: float | None
    high_ns: float | None


@dataclass(frozen=True)
class Overhead:
    """Plain laps and recorded ones. ``cost`` is the share by which a recorded lap is longer, with
    its interval; None where either kind has too few laps. ``per_s`` are items a second, in
    ``unit``, over the ``counted`` plain laps that say how many they had, and ``tokens_per_s`` the
    tokens; None where fewer than half of the plain laps say."""

    plain: MeanLap | None
    recorded: MeanLap | None
    cost: float | None = None
    cost_low: float | None = None
    cost_high: float | None = None
    per_s: float | None = None
    unit: str | None = None
    counted: int = 0
    tokens_per_s: float | None = None

    @property
    def shown_to_cost(self) -> bool:
        """Whether the interval of the cost lies above nothing."""
        return self.cost_low is not None and self.cost_low > 0


def overhead_of(timeline: Timeline, ledger: Ledger) -> Overhead | None:
    """The overhead of one timeline's recording; None where the evidence is a trace alone.

    Recorded laps are the steady ones where the ledger's laps are the capture's, else all.
    """
    if timeline.capture is None:
        return None
    process = timeline.capture.process
    recorded = process.of_phase("recorded")
    steady = {lap.label for lap in ledger.laps.steady}
    counted = [lap for lap in recorded if f"laptime.lap#{lap.number}" in steady]
    return overhead(process.of_phase("plain"), counted or recorded)


def overhead(plain: Sequence[LapRecord], recorded: Sequence[LapRecord]) -> Overhead:
    """Plain laps against recorded ones."""
    a, b = [lap.dur_ns for lap in plain], [lap.dur_ns for lap in recorded]
    units = {lap.unit for lap in plain if lap.items is not None}
    counted, per_s = (
        _rate([(lap.items, lap.dur_ns) for lap in plain]) if len(units) == 1 else (0, None)
    )
    _, tokens_per_s = _rate([(lap.tokens, lap.dur_ns) for lap in plain])
    cost = low = high = None
    if min(len(a), len(b)) >= LEAST_LAPS and fmean(a) > 0:
        base, difference = fmean(a), fmean(b) - fmean(a)
        half = _welch(a, b)
        cost, low, high = (x / base for x in (difference, difference - half, difference + half))
    unit = units.pop() if per_s is not None else None
    return Overhead(_mean(a), _mean(b), cost, low, high, per_s, unit, counted, tokens_per_s)


def _mean(lengths: Sequence[int]) -> MeanLap | None:
    if not lengths:
        return None
    mean, many = fmean(lengths), len(lengths)
    if many < LEAST_LAPS:
        return MeanLap(many, mean, None, None)
    half = t_point(many - 1) * sqrt(variance(lengths) / many)
    return MeanLap(many, mean, mean - half, mean + half)


def _welch(a: Sequence[int], b: Sequence[int]) -> float:
    """Half the interval of the difference of two means."""
    u, v = variance(a) / len(a), variance(b) / len(b)
    if u + v == 0:
        return 0.0
    freedom = (u + v) ** 2 / (u * u / (len(a) - 1) + v * v / (len(b) - 1))
    return t_point(max(1, floor(freedom))) * sqrt(u + v)


def t_point(freedom: int) -> float:
    """The 97.5 % point of Student's t."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    return next(point for least, point in _T_BEYOND if freedom >= least)


def _rate(laps: Sequence[tuple[int | None, int]]) -> tuple[int, float | None]:
    """How many laps say how many they had, and that a second over those; None below half."""
    known = [(many, dur_ns) for many, dur_ns in laps if many is not None]
    total = sum(dur_ns for _, dur_ns in known)
    if total <= 0 or 2 * len(known) < len(laps):
        return 0, None
    return len(known), sum(many for many, _ in known) * 1e9 / total
