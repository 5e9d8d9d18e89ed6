"""Checks of values that the host reads, and settings for debugging."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.checks_in_hot_path import CAUSE as CHECKS
from laptime.causes.debug_settings import CAUSE as DEBUG
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, Made

NODE = "autograd::engine::evaluate_function: MmBackward0"


def check(made: Made, at: float, reads: str = "aten::item", between: str = "aten::all") -> None:
    """A check of 5 ms: a kernel of 2 ms, then idle inside a blocking call for 1 ms."""
    made.op("aten::isfinite", at, 1.0)
    made.op("aten::abs", at + 0.1, 0.2)
    made.activity("check", at + 1.0, 2.0, made.call("cudaLaunchKernel", at + 0.5, 0.1))
    made.op(between, at + 1.2, 0.5)
    made.op(reads, at + 2.0, 3.0)
    made.call("cudaStreamSynchronize", at + 2.5, 1.5)
    made.account("host_sync", at + 3.0, at + 4.0)


def checking(**how: str) -> Made:
    made = Made()
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
        check(made, lap + 10.0, **how)
        made.op("aten::mm", lap + 20.0, 1.0)
        made.activity("kernel", lap + 20.5, 70.0, made.call("cudaLaunchKernel", lap + 20.2, 0.1))
    return made


def test_a_check_costs_its_kernel_and_the_wait_for_its_outcome() -> None:
    found = CHECKS.look(checking().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 3 * MS
    assert found.share == pytest.approx(0.03)
    assert found.sentence == (
        "Checks of values cost the device 3.00 of each 100 ms lap (3.0 %): 1 outcome read a lap, "
        "most from train.py(42): step."
    )


@pytest.mark.parametrize("reads", ["aten::is_nonzero", "aten::_local_scalar_dense"])
def test_other_ways_to_read(reads: str) -> None:
    assert isinstance(CHECKS.look(checking(reads=reads).case()), Finding)


@pytest.mark.parametrize("how", [{"reads": "aten::mul"}, {"between": "aten::mm"}])
def test_outcomes_that_stay_on_the_device_are_not_flagged(how: dict[str, str]) -> None:
    clear = CHECKS.look(checking(**how).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no value is checked and read in the counted laps"


def test_reading_a_value_that_is_no_check_is_not_flagged() -> None:
    made = Made()
    for lap in made.each():
        made.op("aten::sum", lap + 10.0, 1.0)
        made.op("aten::item", lap + 12.0, 8.0)
        made.account("host_sync", lap + 12.0, lap + 20.0)
    assert isinstance(CHECKS.look(made.case()), Clear)


def test_checks_on_the_owning_thread() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.op("aten::isnan", lap + 10.0, 4.0)
        made.op("aten::any", lap + 14.0, 1.0)
        made.op("aten::item", lap + 15.0, 1.0)
    found = CHECKS.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.sentence.startswith("Checks of values take 6.00 of each 100 ms lap (6.0 %)")


def test_checks_abstain_without_operators() -> None:
    answer = outcome(CHECKS, checking().case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("host_rows",)


def launching(until_end: bool, share: float = 1.0) -> Made:
    """25 kernels of 1 ms a lap, 1 ms of idle time before each; so many calls last until the end."""
    made = Made()
    for lap in made.each():
        for at in range(25):
            start = lap + 2.0 + 3.0 * at
            waits = until_end and at < 25 * share
            call = made.call("cudaLaunchKernel", start, 2.1 if waits else 0.2)
            made.activity("kernel", start + 1.0, 1.0, call)
            made.account("host_launch", start, start + 1.0)
    return made


def test_launches_that_last_until_their_kernel_has_ended() -> None:
    found = DEBUG.look(launching(True).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 25 * MS
    assert found.sentence == (
        "Settings for debugging cost 25.0 of each 100 ms lap (25 %): 100 of 100 launches return "
        "only when their kernel has ended, and the device is idle between them for 25.0 ms."
    )
    assert "CUDA_LAUNCH_BLOCKING" in found.next_step[0]


def test_ordinary_launches_are_not_blocking() -> None:
    clear = DEBUG.look(launching(False).case())
    assert isinstance(clear, Clear)
    assert clear.why == "0 of 100 launches last until their kernel has ended"
    assert isinstance(DEBUG.look(launching(True, 0.9).case()), Clear)


def anomalous(nodes: int = 3, checked: int = 3) -> Made:
    made = Made()
    for lap in made.each():
        for at in range(nodes):
            made.op(NODE, lap + 10.0 * at, 9.0)
            if at < checked:
                made.op("aten::isnan", lap + 10.0 * at + 1.0, 0.5)
                made.op("aten::_is_any_true", lap + 10.0 * at + 2.0, 0.5)
                made.op("aten::item", lap + 10.0 * at + 3.0, 2.0)
                made.account("host_ops", lap + 10.0 * at + 3.0, lap + 10.0 * at + 5.0)
        made.activity("kernel", lap + 60.0, 10.0, made.call("cudaLaunchKernel", lap + 59.0, 0.1))
    return made


def test_anomaly_mode_checks_every_node() -> None:
    found = DEBUG.look(anomalous().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert "12 of 12 nodes of autograd check their gradients for NaN" in found.sentence
    assert isinstance(CHECKS.look(anomalous().case()), Clear)


def test_anomaly_mode_on_the_owning_thread() -> None:
    """Nodes that only add up a gradient are not checked, and not counted."""
    made = Made(cpu=True)
    for lap in made.each():
        made.op(NODE, lap + 10.0, 9.0)
        made.op("aten::isnan", lap + 11.0, 0.5)
        made.op("aten::_is_any_true", lap + 12.0, 0.5)
        made.op("aten::item", lap + 13.0, 2.0)
        for at in (20.0, 30.0):
            name = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
            made.op(name, lap + at, 1.0)
    found = DEBUG.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 3 * MS
    assert found.sentence.startswith(
        "Settings for debugging cost 3.00 of each 100 ms lap (3.0 %): 4 of 4 nodes"
    )
    clear = DEBUG.look(Made(cpu=True).case())
    assert isinstance(clear, Clear)
    assert clear.why == "0 of 0 nodes of autograd check for NaN"


def test_a_hook_that_checks_one_gradient_is_no_anomaly_mode() -> None:
    clear = DEBUG.look(anomalous(checked=1).case())
    assert isinstance(clear, Clear)
    assert clear.why.endswith("4 of 12 nodes of autograd check for NaN")


def test_debugging_abstains_without_calls() -> None:
    answer = outcome(DEBUG, launching(True).case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)
