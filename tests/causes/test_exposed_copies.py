"""Exposed copies: by direction, without pageable ones, without what computation hides."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.exposed_copies import CAUSE
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, Made

PINNED = "Memcpy HtoD (Pinned -> Device)"
PAGEABLE = "Memcpy HtoD (Pageable -> Device)"
INSIDE = "Memcpy DtoD (Device -> Device)"
RESULT = "Memcpy DtoH (Device -> Pinned)"


def copying(name: str = PINNED, alone_ms: float = 6.0) -> Made:
    """A copy of 8 ms a lap, the first of them alone; the host waits for the device all lap."""
    made = Made()
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(42): step", lap + 1.0, 20.0)
        made.row(Kind.PYTHON, "torch/nn/modules/module.py(1): _call_impl", lap + 1.5, 19.0)
        with_call = made.call("cudaMemcpyAsync", lap + 2.0, 0.1)
        made.activity(name, lap + 10.0, 8.0, with_call, size=100_000_000)
        made.account("exposed_copy", lap + 10.0, lap + 10.0 + alone_ms)
        made.activity("kernel", lap + 10.0 + alone_ms, 80.0)
        made.call("cudaStreamSynchronize", lap + 30.0, 60.0)
    return made


def test_a_copy_with_its_bytes_and_line() -> None:
    found = CAUSE.look(copying().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.share == pytest.approx(0.06)
    assert found.sentence == (
        "Copies run while the device computes nothing for 6.00 of each 100 ms lap (6.0 %): "
        "1 host-to-device (100 MB) 6.00 ms a lap, most from train.py(42): step."
    )
    assert found.why[0] == "1 host-to-device (100 MB) 6.00 ms a lap alone, of 8.00 ms of copying"


def test_directions_add_up_where_copies_overlap() -> None:
    made = copying(INSIDE)
    for lap in made.each():
        made.activity(RESULT, lap + 12.0, 3.0, lane=2)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert "1 device-to-host 3.00 ms, 1 device-to-device (100 MB) 3.00 ms a lap" in found.sentence


def test_pageable_copies_have_a_cause_of_their_own() -> None:
    clear = CAUSE.look(copying(PAGEABLE).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no copy but pageable ones in the counted laps"


def test_no_copy_at_all_is_not_called_pageable() -> None:
    made = Made()
    for lap in made.each():
        made.activity("gemm", lap, 50.0, made.call("cudaLaunchKernel", lap, 0.01))
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "no copy in the counted laps"


def test_unnamed_memory_counts() -> None:
    found = CAUSE.look(copying("Memcpy HtoD (Host -> Device)").case())
    assert isinstance(found, Finding)
    assert "host-to-device (100 MB) 6.00 ms" in found.sentence


def test_below_the_limit() -> None:
    clear = CAUSE.look(copying(alone_ms=1.9).case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "copies that are not pageable ones run alone for 1.9 % of the lap, below 2.0 %"
    )


def test_sets_of_memory_are_no_copies() -> None:
    made = Made()
    for lap in made.each():
        made.row(Kind.MEMSET, "Memset (Device)", lap + 10.0, 8.0)
        made.account("exposed_copy", lap + 10.0, lap + 18.0)
    assert isinstance(CAUSE.look(made.case()), Clear)


def test_a_host_that_never_waits_leaves_nothing_to_gain() -> None:
    made = Made()
    for lap in made.each():
        call = made.call("cudaMemcpyAsync", lap + 2.0, 0.1)
        made.activity(PINNED, lap + 10.0, 6.0, call)
        made.account("exposed_copy", lap + 10.0, lap + 16.0)
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert "the host is never in a call while the device has work" in clear.why


def test_copies_of_ddp_buckets_have_their_own_advice() -> None:
    made = copying(INSIDE)
    for lap in made.each():
        made.op("torch.distributed.ddp.reducer::copy_bucket_to_grad", lap + 1.9, 0.3)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "gradient_as_bucket_view" in found.next_step[0]


def test_abstains_without_launch_calls() -> None:
    answer = outcome(CAUSE, copying().case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)


def test_abstains_where_kernels_may_have_run_unseen() -> None:
    made = copying()
    for lap in made.each():
        made.account("unattributed", lap + 90.0, lap + 95.0)
    answer = CAUSE.look(made.case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("what else ran: 5.0 % of the time is unattributed",)
