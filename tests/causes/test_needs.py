"""What a timeline holds is decided once, from rows, work, laps and header."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.causes.case import NAMES, OF_A_CAPTURE, SUPPLY, Need
from laptime.causes.needs import abstention, lacking, needs_met
from laptime.model.rows import Ints, Kind
from tests.causes.made import Made


def met(made: Made, **facts: object) -> frozenset[Need]:
    case = made.case()
    case.timeline.facts = facts
    return needs_met(case.timeline, case.work, case.ledger)


def test_an_empty_timeline_meets_what_its_laps_do() -> None:
    assert met(Made(laps=2)) == {Need.DEVICE_PROPERTIES}
    assert met(Made(laps=3)) == {Need.DEVICE_PROPERTIES, Need.THREE_LAPS}


def test_device_rows_without_calls() -> None:
    made = Made()
    made.activity("kernel", 1.0, 1.0)
    assert met(made) == {Need.GPU_ROWS, Need.DEVICE_PROPERTIES, Need.THREE_LAPS}


def test_everything() -> None:
    made = Made()
    made.activity("kernel", 1.0, 1.0, made.call("cudaLaunchKernel", 0.5, 0.1))
    made.mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 2.0, 1.0)
    made.row(Kind.PYTHON, "train.py(3): step", 0.0, 9.0)
    assert met(made, record_shapes=1) == frozenset(Need) - OF_A_CAPTURE


@pytest.mark.parametrize(("key", "held"), [("Input Dims", True), ("Ev Idx", False)])
def test_shapes_by_a_sample_of_operators(key: str, held: bool) -> None:
    made = Made()
    made.op("aten::mm", 0.0, 1.0)
    case = made.case()

    def read(rows: Ints) -> list[dict[str, object] | None]:
        return [{key: 1} for _ in np.asarray(rows)]

    case.timeline.rows.read_args = read
    assert (Need.SHAPES in needs_met(case.timeline, case.work, case.ledger)) is held


def test_every_need_names_its_supply() -> None:
    assert set(SUPPLY) == set(Need)
    for need in Need:
        assert abstention("x", [need], 3).supply == SUPPLY[need]


def test_what_is_missing_is_told_in_words_and_its_mend_once() -> None:
    said = abstention("x", (Need.CAPTURE, Need.COUNTERS, Need.SCHED), None)
    assert said.missing == ("capture", "counters", "sched")
    assert lacking(said) == (
        "a capture; host counters over the laps; run-queue times of the process"
    )
    assert said.supply.count("record with `laptime run`") == 1
    assert said.supply == SUPPLY[Need.COUNTERS]
    said = abstention("x", (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.SHAPES), None)
    assert lacking(said) == "rows of a device; calls that launch device work; shapes of operators"
    assert said.supply == f"{SUPPLY[Need.LAUNCH_CALLS]}; {SUPPLY[Need.SHAPES]}"
    assert abstention("x", (Need.SCHED,), None).supply == SUPPLY[Need.SCHED]


def test_every_need_has_a_name() -> None:
    assert set(NAMES) == {need.value for need in Need}
