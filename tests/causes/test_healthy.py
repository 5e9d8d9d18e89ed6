"""The healthy verdict: positive, with its figure, and only alone."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.healthy import CAUSE
from laptime.causes.input_starvation import CAUSE as INPUT
from laptime.causes.registry import causes, judge
from laptime.causes.verdict import verdict
from tests.causes.made import ALL_NEEDS, Made
from tests.causes.test_input_starvation import SINGLE


def busy(idle_ms: float = 2.0, account: str = "kernel_gap") -> Made:
    made = Made(lap_ms=95.7)
    for lap in made.each():
        made.account(account, lap + 10.0, lap + 10.0 + idle_ms)
    return made


def test_states_the_figure() -> None:
    found = CAUSE.look(busy().case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "Device busy 97.9 % of each 95.7 ms lap; 0.0 % unattributed, no cause above its limit."
    )
    assert found.share == pytest.approx(1 - 2 / 95.7)
    assert found.bound_ns is None


def test_an_idle_device_is_not_healthy() -> None:
    clear = CAUSE.look(busy(idle_ms=20.0).case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "device busy 79 % of the lap, 0.0 % with copies or communication alone, 0.0 % unattributed"
    )


def test_too_much_unattributed_is_not_healthy() -> None:
    assert isinstance(CAUSE.look(busy(3.0, "unattributed").case()), Clear)


def test_speaks_only_where_no_other_cause_does() -> None:
    made = busy(idle_ms=6.0, account="input_wait")
    for lap in made.each():
        made.mark(SINGLE, lap + 10.0, 6.0)
    case = made.case()
    assert isinstance(CAUSE.look(case), Finding)
    judged = judge(case.run, [case], using=[CAUSE, INPUT])
    assert [f.id for f in judged.findings] == ["input-starvation"]
    assert judged.silenced == ()
    assert judged.clear == ()


def test_the_verdict_of_a_healthy_run() -> None:
    case = busy().case()
    judged = judge(case.run, [case])
    assert [f.id for f in judged.findings] == ["healthy"]
    assert verdict(judged, [case]) == (
        "Device busy 97.9 % of each 95.7 ms lap; 0.0 % unattributed, no cause above its limit."
    )


def test_cpu_only_run_counts_operators() -> None:
    made = Made(cpu=True)
    made.account("between_ops", 10.0, 20.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.sentence.startswith("The owning thread is inside operators 97.5 % of each 100 ms")


def test_abstains_where_a_device_was_used_and_not_recorded() -> None:
    made = Made(cpu=True)
    made.call("cudaLaunchKernel", 1.0, 0.1)
    answer = CAUSE.look(made.case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("gpu_rows",)


@pytest.mark.parametrize("account", ["exposed_copy", "exposed_comm"])
def test_a_device_busy_with_moving_data_is_not_healthy(account: str) -> None:
    clear = CAUSE.look(busy(idle_ms=30.0, account=account).case())
    assert isinstance(clear, Clear)
    assert clear.why.startswith("device busy 100.0 % of the lap, 31 % with copies or communication")


def test_the_verdict_names_what_could_not_be_judged() -> None:
    case = busy().case(ALL_NEEDS - {Need.LOADER_SPANS, Need.LAUNCH_CALLS})
    few = ("healthy", "host-sync", "input-starvation", "launch-bound", "pageable-copies")
    using = [c for c in causes() if c.id in few]
    assert verdict(judge(case.run, [case], using), [case]).endswith(
        "no cause above its limit; not judged: host-sync, input-starvation, launch-bound, "
        "pageable-copies."
    )


def test_one_open_window_that_leaves_out_part_of_the_lap_is_not_healthy() -> None:
    """Busy all of 90 ms between first and last kernel, in a lap of 120 ms."""
    cut = Made(lap_ms=90.0, laps=1, host_ms=120.0, open_window=True)
    clear = CAUSE.look(cut.case())
    assert isinstance(clear, Clear)
    assert clear.why.endswith(
        "; that lap spans only the device's first to last work in a host lap of 120 ms"
    )
    whole = Made(lap_ms=90.0, laps=1, host_ms=99.0, open_window=True)
    assert isinstance(CAUSE.look(whole.case()), Finding)
