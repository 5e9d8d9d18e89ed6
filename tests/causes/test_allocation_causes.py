"""Allocation in the laps: of device memory, of pinned memory, and by an emptied cache."""

from __future__ import annotations

import pytest

from laptime.causes.cache_emptying import CAUSE as EMPTYING
from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.device_allocation import CAUSE as DEVICE
from laptime.causes.pinned_allocation import CAUSE as PINNED
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, Made

FRAME = "torch/cuda/memory.py(212): empty_cache"
SIDE_THREAD = 1


def launched(made: Made, lap: float) -> None:
    """A kernel whose call makes the thread one that feeds the device."""
    made.activity("kernel", lap + 60.0, 30.0, made.call("cudaLaunchKernel", lap + 59.0, 0.01))


def allocating(call: str = "cudaMalloc", laps: int = 4, source: str = "mark") -> Made:
    """Two calls of 3 ms a lap with the device idle, and one of 5 ms beside its work."""
    made = Made(laps=laps, source=source)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
        launched(made, lap)
        for at in (10.0, 20.0):
            made.call(call, lap + at, 3.0)
            made.account("allocator", lap + at, lap + at + 3.0)
        made.call(call, lap + 70.0, 5.0)
    return made


def emptying(frames: bool = True, releases: int = 3) -> Made:
    """Each lap: releases of 1 ms in a row, then two allocations of 2 ms inside operators."""
    made = Made()
    for lap in made.each():
        launched(made, lap)
        if frames:
            made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
            made.row(Kind.PYTHON, FRAME, lap + 9.9, releases + 0.2)
        for free in range(releases):
            made.call("cudaFree", lap + 10.0 + free, 1.0)
        made.account("allocator", lap + 10.0, lap + 10.0 + releases)
        for at in (30.0, 40.0):
            made.op("aten::empty", lap + at - 0.1, 2.2)
            made.call("cudaMalloc", lap + at, 2.0)
            made.account("allocator", lap + at, lap + at + 2.0)
    return made


def test_idle_time_in_calls_for_device_memory() -> None:
    found = DEVICE.look(allocating().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.share == pytest.approx(0.06)
    assert found.sentence == (
        "Calls for device memory leave the device idle for 6.00 of each 100 ms lap (6.0 %): "
        "cudaMalloc 3 times a lap, most from train.py(42): step."
    )
    assert found.why[0].startswith("the calls last 11.0 ms a lap")
    assert isinstance(PINNED.look(allocating().case()), Clear)


@pytest.mark.parametrize("call", ["hipMalloc", "cuMemMap", "hipFree", "cudaMallocManaged"])
def test_other_names_of_the_same(call: str) -> None:
    found = DEVICE.look(allocating(call).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS


@pytest.mark.parametrize(
    "call", ["cudaHostAlloc", "cudaFreeHost", "cudaHostRegister", "hipHostMalloc"]
)
def test_pinned_memory_is_another_cause(call: str) -> None:
    found = PINNED.look(allocating(call).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert f"{call} 3 times a lap, most from train.py(42): step." in found.sentence
    clear = DEVICE.look(allocating(call).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no allocation of device memory in the counted laps"


def test_another_thread_pins_while_the_device_waits_for_input() -> None:
    made = Made()
    for lap in made.each():
        launched(made, lap)
        made.row(Kind.RUNTIME, "cudaHostAlloc", lap + 10.0, 8.0, SIDE_THREAD)
        made.account("input_wait", lap + 12.0, lap + 30.0)
    found = PINNED.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.formula.endswith("= 0 ns + 6.00 ms")


def test_one_lap_of_several_is_told() -> None:
    made = Made()
    for lap in made.each():
        launched(made, lap)
    made.call("cudaMalloc", 110.0, 20.0)
    made.account("allocator", 110.0, 130.0)
    found = DEVICE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert "(5.0 %), in 1 of 4 laps: cudaMalloc 0.2 times a lap" in found.sentence


def test_calls_beside_device_work_cost_nothing() -> None:
    made = Made()
    for lap in made.each():
        launched(made, lap)
        made.call("cudaMalloc", lap + 70.0, 5.0)
    clear = DEVICE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "the device waits for its allocations for 0.0 % of the lap, below 2.0 %"


def test_first_use_is_not_told_from_churn() -> None:
    for cause, call in ((DEVICE, "cudaMalloc"), (PINNED, "cudaHostAlloc")):
        answer = cause.look(allocating(call, laps=1, source="window").case())
        assert isinstance(answer, Abstention)
        assert answer.missing[0].startswith("steady laps: ")
        assert answer.missing[0].endswith("6.0 %, which may be first use")


def test_abstains_without_launch_calls() -> None:
    for cause in (DEVICE, PINNED, EMPTYING):
        answer = outcome(cause, allocating().case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
        assert isinstance(answer, Abstention)
        assert answer.missing == ("launch_calls",)


def test_an_emptied_cache_with_what_is_allocated_again() -> None:
    found = EMPTYING.look(emptying().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 7 * MS
    assert found.sentence == (
        "torch.cuda.empty_cache() once a lap from train.py(42): step releases 3 segments a lap, "
        "of which 2 are allocated again: the device is idle for 7.00 of each 100 ms lap (7.0 %)."
    )
    assert found.formula.endswith("= 3.00 ms + 4.00 ms")
    assert isinstance(DEVICE.look(emptying().case()), Clear)


def test_no_more_is_allocated_again_than_was_released() -> None:
    found = EMPTYING.look(emptying(releases=1).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 3 * MS
    other = DEVICE.look(emptying(releases=1).case())
    assert isinstance(other, Finding)
    assert other.bound_ns == 2 * MS


def test_releases_in_a_row_without_stacks() -> None:
    found = EMPTYING.look(emptying(frames=False).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 7 * MS
    assert found.sentence.startswith(
        "A row of releases outside any operator once a lap, as empty_cache makes it (no stack "
        "names the caller), releases 3 segments a lap"
    )


def test_a_single_release_or_one_inside_an_operator_empties_nothing() -> None:
    assert isinstance(EMPTYING.look(emptying(frames=False, releases=1).case()), Clear)
    made = emptying(frames=False)
    for lap in made.each():
        made.op("aten::empty", lap + 9.0, 5.0)
    clear = EMPTYING.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "no cache is emptied in the counted laps"
    retried = DEVICE.look(made.case())
    assert isinstance(retried, Finding)
    assert retried.bound_ns == 7 * MS


def test_with_stacks_only_the_frame_counts() -> None:
    made = emptying(frames=False)
    made.row(Kind.PYTHON, "train.py(1): main", 0.0, 400.0)
    assert isinstance(EMPTYING.look(made.case()), Clear)
