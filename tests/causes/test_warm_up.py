"""Warm-up in the recording: how much a mean over all laps is off."""

from __future__ import annotations

from dataclasses import replace

from laptime.causes.case import Case, Clear, Finding
from laptime.causes.registry import judge
from laptime.causes.warm_up_in_window import CAUSE
from tests.causes.made import MS, Made


def warming(first_ms: float = 200.0, why: str = "warm-up", steady: bool = False) -> Case:
    """Four laps of 100 ms, the first of them another length and not steady."""
    case = Made().case()
    laps = list(case.ledger.laps.laps)
    laps[0] = replace(laps[0], dur_ns=round(first_ms * MS), steady=steady, why_not=why)
    found = replace(case.ledger.laps, laps=laps)
    return replace(case, ledger=replace(case.ledger, laps=found))


def test_the_mean_of_all_is_told_beside_that_of_steady_laps() -> None:
    found = CAUSE.look(warming())
    assert isinstance(found, Finding)
    assert found.bound_ns is None
    assert found.sentence == (
        "1 lap of 4 takes 200 ms where steady laps take a mean of 100 ms (2.00 times); the mean of "
        "all 4 is 125 ms, 25 % above that of the steady ones."
    )
    assert found.formula.startswith(
        "mean of 4 laps / mean of 3 steady laps - 1 = 125 ms / 100 ms - 1 = 25 %;"
    )
    assert found.why[1].startswith("1 lap of warm-up, 200 ms / 100 ms = 2.00 times")
    assert [e.dur_ns for e in found.events] == [200 * MS]


def test_a_healthy_run_stays_healthy_beside_it() -> None:
    case = warming()
    found = [f.id for f in judge(case.run, [case]).findings]
    assert found == ["healthy", "warm-up-in-window"]


def test_a_warm_up_that_changes_little() -> None:
    clear = CAUSE.look(warming(first_ms=104.0))
    assert isinstance(clear, Clear)
    assert clear.why == "1 lap of warm-up changes the mean by 1.0 %"


def test_laps_while_the_queue_fills_are_no_warm_up() -> None:
    for case in (warming(why="launch queue filling"), Made().case()):
        clear = CAUSE.look(case)
        assert isinstance(clear, Clear)
        assert clear.why == "no lap is told to be warm-up"


def test_nothing_to_compare_with() -> None:
    case = warming()
    laps = [replace(lap, steady=False, why_not="warm-up") for lap in case.ledger.laps.laps]
    only = replace(case, ledger=replace(case.ledger, laps=replace(case.ledger.laps, laps=laps)))
    clear = CAUSE.look(only)
    assert isinstance(clear, Clear)
    assert clear.why == "no steady lap to compare the warm-up with"
