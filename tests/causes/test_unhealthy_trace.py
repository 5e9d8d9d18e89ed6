"""The evidence itself: what it lacks is said, and what would supply it."""

from __future__ import annotations

from dataclasses import replace

from laptime.causes.case import Clear, Finding
from laptime.causes.unhealthy_trace import CAUSE
from laptime.model.health import Loss
from tests.causes.made import Made


def whole(laps: int = 4) -> Made:
    made = Made(laps=laps)
    for lap in made.each():
        made.activity("kernel", lap, 100.0, made.call("cudaLaunchKernel", lap, 0.01))
    return made


def test_a_whole_trace_is_clear() -> None:
    clear = CAUSE.look(whole().case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "4 steady laps counted, nothing lost, an activity for every launch, unattributed 0.0 %"
    )


def test_too_few_laps() -> None:
    found = CAUSE.look(whole(laps=1).case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "The trace does not carry firm conclusions: 1 steady lap counted where a spread needs 3."
    )
    assert found.bound_ns is None
    assert found.share is None
    assert "active=5" in found.next_step[0]


def test_no_laps() -> None:
    made = whole()
    made.source = "window"
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "the whole recording counts as one" in found.sentence


def test_losses_of_this_file_only() -> None:
    made = whole()
    made.losses = [Loss("file is truncated", 1, "made.json", 512), Loss("x", 9, "other.json")]
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "file is truncated (1 lost)" in found.sentence
    assert "9" not in found.sentence


def test_dropped_activities() -> None:
    made = whole()
    made.call("cudaLaunchKernel", 50.0, 0.01)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "1 of 5 launches have no activity" in found.sentence


def test_launches_behind_the_last_activity_are_no_loss() -> None:
    made = whole()
    made.call("cudaLaunchKernel", 399.0, 0.01)
    assert isinstance(CAUSE.look(made.case()), Clear)


def test_launches_inside_graph_capture_are_no_loss() -> None:
    made = whole()
    made.call("cudaStreamBeginCapture", 40.0, 0.1)
    made.call("cudaLaunchKernel", 50.0, 0.01)
    made.call("cudaStreamEndCapture", 60.0, 0.1)
    assert isinstance(CAUSE.look(made.case()), Clear)


def test_no_device_rows_although_launched() -> None:
    made = Made()
    for lap in made.each():
        made.call("cudaLaunchKernel", lap, 0.01)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "4 launch calls but no device rows" in found.sentence


def test_unattributed_and_profiler_time() -> None:
    made = whole()
    made.account("unattributed", 10.0, 22.0)
    made.account("profiler", 110.0, 140.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "3.0 % of the time is unattributed" in found.sentence
    assert "the profiler itself takes 7.5 % of the time" in found.sentence


def test_only_laps_that_are_counted_are_enough_for_a_spread() -> None:
    """Steady laps without a window of their own (no device work in them) carry no statistics."""
    case = whole().case()
    (device,) = case.ledger.devices
    short = replace(device, windows=device.windows[:2], ns=device.ns[:2])
    found = CAUSE.look(replace(case, ledger=replace(case.ledger, devices=[short])))
    assert isinstance(found, Finding)
    assert "2 steady laps counted where a spread needs 3" in found.sentence


def test_without_launch_calls_nothing_is_said_of_them() -> None:
    made = Made()
    for lap in made.each():
        made.activity("kernel", lap, 100.0)
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "4 steady laps counted, nothing lost, no launch call, unattributed 0.0 %"
