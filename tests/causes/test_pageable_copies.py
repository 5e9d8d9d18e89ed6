"""Pageable copies: the call is the cost; tiny and hidden copies are none."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.host_sync import CAUSE as HOST_SYNC
from laptime.causes.pageable_copies import CAUSE
from laptime.causes.registry import outcome
from tests.causes.made import ALL_NEEDS, MS, Made

PAGEABLE = "Memcpy HtoD (Pageable -> Device)"
PINNED = "Memcpy HtoD (Pinned -> Device)"


def copying(size: int = 19_267_584, name: str = PAGEABLE) -> Made:
    """A 4 ms call: 1 ms idle, a 2.5 ms copy alone, then a 0.5 ms wait and 1.5 ms of refill."""
    made = Made()
    for lap in made.each():
        call = made.call("cudaMemcpyAsync", lap + 10.0, 4.0)
        made.call("cudaStreamSynchronize", lap + 14.0, 0.5)
        made.activity(name, lap + 11.0, 2.5, call, size=size)
        made.account("host_launch", lap + 10.0, lap + 11.0)
        made.account("exposed_copy", lap + 11.0, lap + 13.5)
        made.account("launch_latency", lap + 13.5, lap + 14.0)
        made.account("host_sync", lap + 14.0, lap + 16.0)
    return made


def test_call_copy_and_refill_are_counted_once_each() -> None:
    found = CAUSE.look(copying().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.share == pytest.approx(0.06)
    assert found.sentence == (
        "Copies from pageable memory (1 a lap, 19.3 MB) hold the host in their calls for 4.00 of "
        "each 100 ms lap; the device copies alone for 2.50 ms and is idle in or behind them for "
        "3.50 ms (6.0 % together)."
    )
    assert "1 copy a lap: 77,070,336 bytes in all 4 counted laps, 19.3 MB" in found.why


def test_the_same_wait_is_not_host_synchronisation_too() -> None:
    clear = HOST_SYNC.look(copying().case())
    assert isinstance(clear, Clear)
    assert "for 0.0 % of the lap" in clear.why


def called_early(made: Made) -> Made:
    """A copy begins each lap, called 2 ms before it; that of the lap behind the last counted one
    is called in the last counted window."""
    for lap in (*made.each(), 400.0):
        call = made.call("cudaMemcpyAsync", lap - 2.0, 2.0)
        made.activity(PAGEABLE, lap, 3.0, call, size=19_267_584)
        made.account("exposed_copy", lap, lap + 3.0)
        made.account("host_sync", lap + 98.0, lap + 100.0)
    return made


def test_a_call_counts_in_the_window_that_it_lies_in() -> None:
    found = CAUSE.look(called_early(Made()).case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "Copies from pageable memory (1 a lap, 19.3 MB) hold the host in their calls for 2.00 of "
        "each 100 ms lap; the device copies alone for 3.00 ms and is idle in or behind them for "
        "2.00 ms (5.0 % together)."
    )
    assert found.bound_ns == 5 * MS
    assert [e.start_ns for e in found.events] == [98 * MS, 198 * MS, 298 * MS, 398 * MS]
    assert "4 copies above 64 KB in all 4 counted laps, 0 smaller not counted" in found.why
    made = called_early(Made())
    made.call("cudaStreamSynchronize", 50.0, 0.1)
    clear = HOST_SYNC.look(made.case())
    assert isinstance(clear, Clear)
    assert "for 0.0 % of the lap" in clear.why


def test_tiny_copies_are_not_flagged() -> None:
    clear = CAUSE.look(copying(size=65_536).case())
    assert isinstance(clear, Clear)
    assert clear.why == "none of 4 host-to-device copies is pageable and above 64 KB (4 tiny)"


def test_pinned_copies_are_not_flagged() -> None:
    assert isinstance(CAUSE.look(copying(name=PINNED).case()), Clear)


def test_hidden_copies_are_not_flagged() -> None:
    made = Made()
    for lap in made.each():
        call = made.call("cudaMemcpyAsync", lap + 10.0, 4.0)
        made.activity(PAGEABLE, lap + 11.0, 2.5, call, size=19_267_584)
        made.activity("kernel", lap, 100.0)
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "pageable copies cost 0.0 % of the lap, below 2.0 %"


def test_no_copies_at_all() -> None:
    clear = CAUSE.look(Made().case())
    assert isinstance(clear, Clear)
    assert clear.why == "no copy from the host in the counted laps"


def test_abstains_where_the_recorder_does_not_name_the_memory() -> None:
    answer = CAUSE.look(copying(name="Memcpy HtoD (Host -> Device)").case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("memory kind of the host-to-device copies",)


def test_abstains_without_launch_calls() -> None:
    answer = outcome(CAUSE, copying().case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)
