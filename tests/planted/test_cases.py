"""What the matrix declares, and how a case is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laptime.causes.registry import causes
from tests.planted import cases
from tests.planted.cases import Answer, Case
from tests.planted.declared import AWAITED, KINDS


def test_each_kind_has_its_program_and_ids_of_the_catalogue() -> None:
    known = {c.id for c in causes()}
    for kind in KINDS:
        assert (cases.PROGRAMS / f"{kind.program}.py").exists(), kind.program
        assert kind.accepted <= known | AWAITED, kind.program
    assert len({k.program for k in KINDS}) == len(KINDS)


def answer(lap_ns: float, *findings: tuple[str, float | None]) -> Answer:
    return Answer(lap_ns, findings, "", 0.0)


def case(planted: Answer, clean: Answer) -> Case:
    return Case("any", 1, ("gc-pauses",), planted, clean)


def test_only_the_first_finding_can_be_right() -> None:
    one, other = ("gc-pauses", 0.3), ("input-starvation", 0.4)
    assert case(answer(2, one, other), answer(1)).right
    assert not case(answer(2, other, one), answer(1)).right
    assert not case(answer(2), answer(1)).right


@pytest.mark.parametrize(("planted", "counts"), [(109, False), (110, True), (90, False)])
def test_a_fault_counts_from_a_tenth_of_the_lap(planted: float, counts: bool) -> None:
    assert case(answer(planted), answer(100)).counts is counts


def test_a_clean_program_is_alarmed_by_bounds_above_a_twentieth() -> None:
    quiet = answer(1, ("page-faults", 0.05), ("cpu-contention", None), ("healthy", None))
    assert not case(answer(2), quiet).false_alarm
    loud = answer(1, ("healthy", None), ("page-faults", 0.051))
    assert case(answer(2), loud).false_alarm
    assert loud.loud == ("page-faults",)


def test_the_clock_leaves_out_warm_up_recording_and_tails(tmp_path: Path) -> None:
    # 6 of warm-up, 10 of 10 ns, one on the way into the window, 3 recorded, 10 of 20 ns.
    lengths = [900] * 6 + [10] * 10 + [500] + [700] * 3 + [20] * 9 + [20_000]
    ends = [0]
    for length in lengths:
        ends.append(ends[-1] + length)
    place = tmp_path / "p1"
    place.mkdir()
    laps = [
        {"n": i, "start": ends[i], "end": ends[i + 1], "phase": "recorded"} for i in range(17, 20)
    ]
    (place / "laps.jsonl").write_text("".join(json.dumps(lap) + "\n" for lap in laps))
    # Of the 20 left, 2 go at either end: 8 of 10 ns and 8 of 20 ns.
    assert cases._lap_ns(ends, tmp_path) == pytest.approx(15.0)


def test_bounds_are_over_the_mean_of_steady_closed_windows() -> None:
    said = {
        "laps": [{"id": "0", "steady": False}, *({"id": i, "steady": True} for i in "123")],
        "device_laps": [
            {"lap": "0", "dur_ns": 900, "open": False},
            {"lap": "1", "dur_ns": 100, "open": False},
            {"lap": "2", "dur_ns": 300, "open": False},
            {"lap": "3", "dur_ns": 5, "open": True},
        ],
        "findings": [{"id": "a", "bound_ns": 50}, {"id": "b", "bound_ns": None}],
    }
    assert cases._findings(said) == (("a", 0.25), ("b", None))
