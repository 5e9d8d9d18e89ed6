"""What recording costs: means and intervals by hand, and nothing where there are too few laps."""

from __future__ import annotations

from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.ledger.overhead import overhead, t_point
from laptime.model.counters import LapRecord


def laps(*lengths: int, items: int | None = None) -> list[LapRecord]:
    unit = None if items is None else "samples"
    return [LapRecord(i, 0, n, "plain", items, unit) for i, n in enumerate(lengths)]


def test_by_hand() -> None:
    found = overhead(laps(90, 100, 110, items=50), laps(110, 120, 130))
    assert found.plain is not None
    assert found.plain.mean_ns == 100
    half = 4.303 * (100 / 3) ** 0.5  # variance 100, two degrees of freedom
    assert found.plain.low_ns == pytest.approx(100 - half)
    assert found.plain.high_ns == pytest.approx(100 + half)
    assert found.cost == pytest.approx(0.2)
    welch = 2.776 * (200 / 3) ** 0.5 / 100  # equal variances: four degrees of freedom
    assert found.cost_low == pytest.approx(0.2 - welch)
    assert found.cost_high == pytest.approx(0.2 + welch)
    assert not found.shown_to_cost
    assert found.per_s == pytest.approx(150 / 300e-9)
    assert found.unit == "samples"


def test_too_few_laps_have_no_interval() -> None:
    found = overhead(laps(100, 100), laps(120, 120, 120))
    assert found.plain is not None
    assert (found.plain.mean_ns, found.plain.low_ns, found.cost) == (100, None, None)
    nothing = overhead([], laps(1, 2, 3))
    assert (nothing.plain, nothing.cost, nothing.per_s) == (None, None, None)


def test_laps_without_variance_have_an_interval_of_a_point() -> None:
    found = overhead(laps(100, 100, 100), laps(108, 108, 108))
    assert (found.cost, found.cost_low, found.cost_high) == pytest.approx((0.08, 0.08, 0.08))
    assert found.shown_to_cost


def test_throughput_is_over_the_laps_that_say_how_many_they_had() -> None:
    mixed = [*laps(100, 300, items=5), *laps(999)]
    found = overhead(mixed, [])
    assert (found.per_s, found.unit, found.counted) == (10 / 400e-9, "samples", 2)
    few = overhead([*laps(100, items=5), *laps(100, 100)], [])
    assert (few.per_s, few.unit, few.counted) == (None, None, 0)


def test_tokens() -> None:
    told = [LapRecord(i, 0, 200, "plain", 4, "samples", 4 * n) for i, n in enumerate((10, 30))]
    found = overhead(told, [])
    assert found.per_s == pytest.approx(8 / 400e-9)
    assert found.tokens_per_s == pytest.approx(160 / 400e-9)


def test_points_of_student_fall_towards_the_normal() -> None:
    points = [t_point(n) for n in range(1, 400)]
    assert points == sorted(points, reverse=True)
    assert points[0] == 12.706
    assert points[-1] >= NormalDist().inv_cdf(0.975)
    assert points[-1] == pytest.approx(NormalDist().inv_cdf(0.975), rel=0.02)


@given(st.lists(st.integers(1, 10**12), min_size=3, max_size=30), st.integers(2, 5))
def test_a_longer_clock_scales_everything(lengths: list[int], times: int) -> None:
    once = overhead(laps(*lengths), laps(*lengths)).plain
    more = overhead(laps(*(n * times for n in lengths)), []).plain
    assert once is not None
    assert more is not None
    assert more.low_ns == pytest.approx(times * (once.low_ns or 0), abs=1e-3 * once.mean_ns)
    assert overhead(laps(*lengths), laps(*lengths)).cost == 0
