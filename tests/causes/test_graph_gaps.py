"""Gaps between replays: right before and behind them, not between eager kernels."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.graph_gaps import CAUSE
from laptime.causes.registry import outcome
from tests.causes.made import ALL_NEEDS, MS, Made


def replaying(
    call: str = "cudaGraphLaunch", gap_ms: float = 6.0, account: str = "host_ops"
) -> Made:
    """A replay of two kernels and 80 ms, a gap, an eager kernel, a gap of 2 ms, another one."""
    made = Made()
    for lap in made.each():
        graph = made.call(call, lap + 0.1, 0.1)
        made.activity("node", lap + 1.0, 40.0, graph)
        made.activity("node", lap + 41.0, 40.0, graph)
        made.account(account, lap + 81.0, lap + 81.0 + gap_ms)
        for at in (81.0 + gap_ms, 84.0 + gap_ms):
            made.activity("eager", lap + at, 1.0, made.call("cudaLaunchKernel", lap + at - 1, 0.1))
        made.account("host_ops", lap + 82.0 + gap_ms, lap + 84.0 + gap_ms)
    return made


@pytest.mark.parametrize("call", ["cudaGraphLaunch", "hipGraphLaunch"])
def test_the_gap_behind_a_replay(call: str) -> None:
    found = CAUSE.look(replaying(call).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.sentence == (
        "The device waits 6.00 of each 100 ms lap (6.0 %) for the host right before or behind "
        "replays of graphs: 1 replay a lap, 1 gap a lap of mean 6.00 ms."
    )


def test_back_to_back_replays_are_not_flagged() -> None:
    clear = CAUSE.look(replaying(gap_ms=1.0).case())
    assert isinstance(clear, Clear)
    assert clear.why.startswith("beside 1 replay a lap the device waits for the host for 1.0 %")


@pytest.mark.parametrize("account", ["input_wait", "host_sync", "gc"])
def test_waits_with_a_cause_of_their_own_are_theirs(account: str) -> None:
    assert isinstance(CAUSE.look(replaying(account=account).case()), Clear)


def test_without_graphs() -> None:
    clear = CAUSE.look(replaying("cudaLaunchKernel").case())
    assert isinstance(clear, Clear)
    assert clear.why == "no replay of a graph in the counted laps"


def test_abstains_without_calls() -> None:
    answer = outcome(CAUSE, replaying().case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)
