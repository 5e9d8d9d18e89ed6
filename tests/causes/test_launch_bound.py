"""Launch-bound: many short gaps while the host is at work; long gaps are something else."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.launch_bound import CAUSE
from laptime.causes.registry import outcome
from tests.causes.made import ALL_NEEDS, MS, Made


def launching(gap_ms: float = 0.06, kernels: int = 20) -> Made:
    """Laps of 2 ms: kernels of 20 us, each behind a gap split between operator and call."""
    made = Made(lap_ms=2.0)
    step = 2.0 / kernels
    for lap in made.each():
        for i in range(kernels):
            at = lap + i * step
            call = made.call("cudaLaunchKernel", at + gap_ms / 2, gap_ms / 2)
            made.activity("kernel", at + gap_ms, 0.02, call)
            made.account("host_ops", at, at + gap_ms / 2)
            made.account("host_launch", at + gap_ms / 2, at + gap_ms)
    return made


def test_states_gaps_kernels_and_their_means() -> None:
    found = CAUSE.look(launching().case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "The device waits 1.20 of each 2.00 ms lap (60 %) for the host to launch: 20 gaps of mean "
        "60.0 us and 20 kernels of mean 20.0 us a lap."
    )
    assert found.bound_ns == 1.2 * MS
    assert found.share == pytest.approx(0.6)
    assert found.why[0].endswith("host_launch 600 us, host_ops 600 us")


def test_short_kernels_with_a_full_queue_are_not_flagged() -> None:
    clear = CAUSE.look(launching(gap_ms=0.001).case())
    assert isinstance(clear, Clear)
    assert clear.why == "the device waits 1.0 % of the lap for launches, below 5.0 %"


def test_long_gaps_are_stalls_not_launch_cost() -> None:
    made = Made()
    for lap in made.each():
        made.account("host_between_ops", lap + 10.0, lap + 70.0)
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why.endswith(
        "another 60 % lie in gaps above 1.00 ms, which are stalls, not launch cost"
    )


@pytest.mark.parametrize("need", [Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS])
def test_abstains_without_rows(need: Need) -> None:
    answer = outcome(CAUSE, launching().case(ALL_NEEDS - {need}))
    assert isinstance(answer, Abstention)
    assert answer.missing == (need.value,)


def test_synchronising_operators_without_recorded_calls_are_not_launch_cost() -> None:
    made = launching()
    for lap in made.each():
        for i in range(20):
            made.op("aten::item", lap + i * 0.1 + 0.01, 0.02)
    assert isinstance(CAUSE.look(made.case()), Clear)
    made.call("cudaDeviceSynchronize", 7.9, 0.05)
    assert isinstance(CAUSE.look(made.case()), Finding)
