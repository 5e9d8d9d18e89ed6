from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.causes import wording
from laptime.causes.case import Finding
from laptime.report.numbers import count, duration, many, share, shorten, visible
from laptime.report.shown import finding_head


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "not measured"),
        (0, "0 ns"),
        (0.2, "<1 ns"),
        (12, "12 ns"),
        (999, "999 ns"),
        (1000, "1.00 us"),
        (4_210, "4.21 us"),
        (9_996, "10.0 us"),
        (59_300_000, "59.3 ms"),
        (174_900_000, "175 ms"),
        (999_499, "999 us"),
        (999_600, "1.00 ms"),
        (999_999_999, "1.00 s"),
        (59_960_000_000, "1.00 min"),
        (90_000_000_000, "1.50 min"),
        (7_200_000_000_000, "2.00 h"),
        (-4_210, "-4.21 us"),
    ],
)
def test_durations_have_three_digits_and_never_cross_a_unit(ns: float | None, text: str) -> None:
    assert duration(ns) == text


_SCALE = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9}


@given(st.integers(1, 10**15))
def test_a_duration_is_within_half_a_percent_of_what_it_stands_for(ns: int) -> None:
    number, unit = duration(ns).split()
    assert abs(float(number) * _SCALE[unit] - ns) <= 0.00501 * ns


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (None, "not measured"),
        (0.0, "0.0%"),
        (0.0001, "<0.1%"),
        (0.339, "33.9%"),
        (0.99999, ">99.9%"),
        (1.0, "100.0%"),
    ],
)
def test_shares(part: float | None, text: str) -> None:
    assert share(part) == text


def test_counts() -> None:
    assert count(1234567) == "1,234,567"
    assert count(None) == "not measured"
    assert many(1, "lap") == "1 lap"
    assert many(0, "lap") == "0 laps"


def test_what_acts_is_shown_instead() -> None:
    assert visible("plain name<4>") == "plain name<4>"
    assert visible("a\x1b[2Jb\nc\u202ed\ud800\u200b") == "a\\x1b[2Jb\\x0ac\\u202ed\\ud800\\u200b"
    assert visible("Größe 矩阵") == "Größe 矩阵"


@given(st.text(), st.integers(0, 60))
def test_shortened_text_fits_and_keeps_both_ends(text: str, width: int) -> None:
    short = shorten(text, width)
    assert len(short) <= max(width, 0)
    if len(text) > width >= 4:
        assert short[0] == text[0]
        assert short[-1] == text[-1]


@given(st.text(st.characters()))
def test_visible_text_encodes_and_is_one_line(text: str) -> None:
    shown = visible(text)
    shown.encode("utf-8")
    assert len(shown.splitlines()) <= 1


@pytest.mark.parametrize("part", [0.004, 0.0331, 0.0994, 0.205, 0.339, 0.8996, 0.979])
def test_a_findings_head_rounds_as_its_sentence_does(part: float) -> None:
    finding = Finding("x", "X", "", part, None, "", None, None)
    assert finding_head(finding) == f"X (x), {wording.percent(part).replace(' ', '')} of the lap"
