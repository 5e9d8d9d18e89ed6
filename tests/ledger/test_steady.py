"""Which laps are steady: the limits of warm-up and of the filling queue, to the nanosecond."""

from __future__ import annotations

import pytest

from laptime.ledger.laps.steady import with_steadiness
from laptime.model.laps import DeviceLap, Lap

MS = 1_000_000


def laps_of(durations_ns: list[int], period_ns: int | None = None) -> list[Lap]:
    """Laps one behind the other, or one every ``period_ns``."""
    out, at = [], 0
    for number, dur in enumerate(durations_ns):
        out.append(Lap(f"lap{number}", f"step {number}", at, dur))
        at += dur if period_ns is None else period_ns
    return out


def windows_of(durations_ns: list[int]) -> list[DeviceLap]:
    """Device windows one behind the other, the last one open."""
    out, at = [], 0
    for number, dur in enumerate(durations_ns):
        is_open = number == len(durations_ns) - 1
        out.append(DeviceLap("gpu0", f"lap{number}", at, dur, is_open))
        at += dur
    return out


def why_not(laps: list[Lap], windows: list[DeviceLap] | None = None) -> list[str | None]:
    return [lap.why_not for lap in with_steadiness(laps, windows or [])]


@pytest.mark.parametrize(("first_ns", "said"), [(125 * MS, None), (125 * MS + 1, "warm-up")])
def test_a_first_lap_a_quarter_longer_is_not_yet_warm_up(first_ns: int, said: str | None) -> None:
    assert why_not(laps_of([first_ns, *[100 * MS] * 4])) == [said, None, None, None, None]


def test_several_leading_laps_may_warm_up_but_a_slow_one_in_the_middle_is_news() -> None:
    slow = [400, 200, 100, 300, 100, 100, 100]
    told = why_not(laps_of([ms * MS for ms in slow]))
    assert told == ["warm-up", "warm-up", None, None, None, None, None]


def test_the_length_compared_with_is_the_upper_median_of_the_later_laps() -> None:
    # Later laps: 10, 100, 100, 300: their upper median is 100, their largest 300.
    assert why_not(laps_of([130 * MS, 10 * MS, 100 * MS, 100 * MS, 300 * MS]))[0] == "warm-up"
    # Later laps: 10, 100: the upper median is 100, the lower one 10.
    assert why_not(laps_of([100 * MS, 10 * MS, 100 * MS]))[0] is None


def test_a_lap_is_as_long_as_its_closed_device_window() -> None:
    laps = laps_of([100 * MS] * 4)
    assert why_not(laps, windows_of([105 * MS, *[100 * MS] * 3])) == [None] * 4
    # Long on the device only in its first window: on the host it then runs ahead.
    assert why_not(laps, windows_of([130 * MS, *[100 * MS] * 3]))[0] == "launch queue filling"
    # The open window at the end says nothing of its lap's length.
    assert why_not(laps, windows_of([*[100 * MS] * 3, 900 * MS])) == [None] * 4


@pytest.mark.parametrize(
    ("host_ns", "said"), [(90 * MS, None), (90 * MS - 1, "launch queue filling")]
)
def test_the_queue_fills_while_the_host_takes_less_than_nine_tenths(
    host_ns: int, said: str | None
) -> None:
    laps = laps_of([host_ns, *[100 * MS] * 4])
    assert why_not(laps, windows_of([100 * MS] * 5)) == [said, None, None, None, None]


def test_the_way_to_the_next_lap_counts_as_the_host_s() -> None:
    laps = laps_of([50 * MS] * 4, period_ns=100 * MS)
    assert why_not(laps, windows_of([100 * MS] * 4))[:3] == [None, None, None]


def test_an_open_window_takes_the_period_of_the_last_closed_one() -> None:
    laps = laps_of([50 * MS] * 4)
    # The last lap's own window is short: its period is 100 ms as before, and the queue still fills.
    told = why_not(laps, windows_of([100 * MS, 100 * MS, 100 * MS, 40 * MS]))
    assert told == ["launch queue filling"] * 4


def test_a_lap_without_device_work_is_never_steady() -> None:
    laps = laps_of([100 * MS] * 3)
    windows = [w for w in windows_of([100 * MS] * 3) if w.lap != "lap1"]
    assert why_not(laps, windows) == [None, "no device work of its own", None]
