"""Rates of the pool: the interval, and what a page counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.planted import MARKS, page, wilson, write
from tests.planted.declared import KINDS


def test_wilson_against_published_values() -> None:
    # Newcombe, Stat. Med. 17 (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for hits, cases, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        assert wilson(hits, cases) == pytest.approx((low, high), abs=5e-5)
    assert wilson(0, 0) == (0.0, 1.0)


def told(counts: bool, right: bool, alarm: bool) -> dict[str, Any]:
    loud = [["page-faults", 0.2]] if alarm else [["page-faults", 0.05], ["healthy", None]]
    return {
        "program": KINDS[0].program,
        "accepted": sorted(KINDS[0].accepted),
        "counts": counts,
        "right": right,
        "alarm": alarm,
        "planted": {"findings": [["gc-pauses", 0.4]] if counts else [], "others_cores": 0.2},
        "clean": {"findings": loud},
    }


def test_only_cases_that_count_make_the_rates(tmp_path: Path) -> None:
    cases = [told(True, True, False), told(True, False, True), told(False, True, True)]
    text = page(cases)
    assert "3 cases were run and 2 count" in text
    assert "| the fault's finding is the first one | 1 of 2 | 50.0% | 9.5% to 90.5% |" in text
    assert "above 5% | 1 of 2 | 50.0%" in text
    assert "| 2 of 3 | 1 | gc-pauses 1 | page-faults 1 |" in text
    place = tmp_path / "page.md"
    place.write_text(f"before\n{MARKS[0]}\nold\n{MARKS[1]}\nafter\n")
    write(place, text)
    assert place.read_text() == f"before\n{MARKS[0]}\n\n{text}\n\n{MARKS[1]}\nafter\n"
