"""Host synchronisation: only where it left the device idle."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.host_sync import CAUSE
from laptime.causes.registry import outcome
from tests.causes.made import ALL_NEEDS, MS, Made


def synchronising(idle_ms: float = 8.0) -> Made:
    """Two .item() a lap; the second leaves the device idle, inside the call and behind it."""
    made = Made()
    for lap in made.each():
        made.mark("train_step", lap + 5.0, 80.0)
        for at in (10.0, 50.0):
            made.op("aten::item", lap + at, 5.0)
            made.op("aten::_local_scalar_dense", lap + at + 0.1, 4.8)
            made.call("cudaStreamSynchronize", lap + at + 1.0, 3.0)
        made.activity("kernel", lap, 100.0, made.call("cudaLaunchKernel", lap, 0.01))
        made.account("host_sync", lap + 53.0, lap + 53.0 + idle_ms)
    return made


def test_names_calls_their_number_and_their_origin() -> None:
    found = CAUSE.look(synchronising().case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "Blocking calls leave the device idle for 8.00 of each 100 ms lap (8.0 %): "
        "cudaStreamSynchronize once a lap, from aten::item."
    )
    assert found.bound_ns == 8 * MS
    assert found.share == pytest.approx(0.08)
    assert "inside train_step: 1 call a lap" in found.why
    assert {e.name for e in found.events} == {"cudaStreamSynchronize"}
    assert [e.start_ns for e in found.events] == [
        round((lap * 100 + 51.0) * MS) for lap in range(4)
    ]


def test_off_the_critical_side_is_not_flagged() -> None:
    clear = CAUSE.look(synchronising(idle_ms=0.5).case())
    assert isinstance(clear, Clear)
    assert clear.why == "blocking calls leave the device idle for 0.5 % of the lap, below 2.0 %"


@pytest.mark.parametrize("need", [Need.GPU_ROWS, Need.LAUNCH_CALLS])
def test_abstains_without_rows(need: Need) -> None:
    answer = outcome(CAUSE, synchronising().case(ALL_NEEDS - {need}))
    assert isinstance(answer, Abstention)
    assert answer.missing == (need.value,)


def test_no_call_recorded_is_said_and_not_measured_as_nothing() -> None:
    made = Made()
    for lap in made.each():
        made.activity("kernel", lap, 100.0, made.call("cudaLaunchKernel", lap, 0.01))
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "no blocking call recorded"


def test_abstains_where_operators_synchronise_in_calls_that_are_not_recorded() -> None:
    made = Made()
    for lap in made.each():
        made.activity("kernel", lap, 100.0, made.call("cudaLaunchKernel", lap, 0.01))
        made.op("aten::item", lap + 4.0, 88.0)
    answer = CAUSE.look(made.case())
    assert isinstance(answer, Abstention)
    assert answer.missing == (
        "blocking calls: operators that synchronise take 88 % of the lap, and no call in them is "
        "recorded",
    )
