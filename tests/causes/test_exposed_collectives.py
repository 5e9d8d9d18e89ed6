"""Exposed communication: by instants without compute, whatever the kernels' durations add up to."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.exposed_collectives import CAUSE, _operation
from laptime.causes.healthy import CAUSE as HEALTHY
from laptime.causes.registry import outcome
from laptime.kernels.names import KernelName
from laptime.ledger.work import WorkClass
from tests.causes.made import ALL_NEEDS, MS, SIDE, Made

REDUCE = KernelName("ncclDevKernel_AllReduce", "NCCL", "all_reduce", comm=True)
GATHER = KernelName("ncclDevKernel_AllGather", "NCCL", "all_gather", comm=True)


def communicating(exposed_ms: float = 15.0) -> Made:
    """A 30 ms all-reduce of which the last part is exposed, and a 5 ms all-gather, all exposed."""
    made = Made()
    for lap in made.each():
        made.activity(
            REDUCE.name, lap + 10.0, 30.0, lane=SIDE, klass=WorkClass.COMM, decoded=REDUCE
        )
        made.activity(GATHER.name, lap + 60.0, 5.0, lane=SIDE, klass=WorkClass.COMM, decoded=GATHER)
        made.account("compute_with_comm", lap + 10.0, lap + 40.0 - exposed_ms)
        made.account("exposed_comm", lap + 40.0 - exposed_ms, lap + 40.0)
        made.account("exposed_comm", lap + 60.0, lap + 60.0 + min(5.0, exposed_ms))
    return made


def test_names_collectives_by_exposed_time() -> None:
    found = CAUSE.look(communicating().case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "Communication without computation takes 20.0 of each 100 ms lap (20 %): 1 all_reduce "
        "15.0 ms, 1 all_gather 5.00 ms a lap; transfer and waiting for late ranks "
        "cannot be told apart on one rank."
    )
    assert found.bound_ns == 20 * MS
    assert found.share == pytest.approx(0.2)


def test_overlapped_communication_is_not_flagged() -> None:
    clear = CAUSE.look(communicating(exposed_ms=0.5).case())
    assert isinstance(clear, Clear)
    assert clear.why == "exposed communication is 1.0 % of the lap, below 5.0 %"


def test_no_communication() -> None:
    clear = CAUSE.look(Made().case())
    assert isinstance(clear, Clear)
    assert clear.why == "no communication in the counted laps"


def test_abstains_without_device_rows() -> None:
    answer = outcome(CAUSE, communicating().case(ALL_NEEDS - {Need.GPU_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("gpu_rows",)


@pytest.mark.parametrize(
    ("recorded", "operation"),
    [
        ("_allgather_base", "all_gather"),
        ("allreduce", "all_reduce"),
        ("reduce_scatter_tensor_coalesced", "reduce_scatter_tensor"),
        ("all_to_allv", "all_to_allv"),
        ("", None),
        (None, None),
    ],
)
def test_recorded_names_in_the_words_of_kernels(
    recorded: str | None, operation: str | None
) -> None:
    assert _operation(recorded) == operation


def on_thread(gloo_ms: float = 40.0) -> Made:
    """A CPU-only run: an operator around an asynchronous all-reduce, 30 ms of work beside it."""
    made = Made(cpu=True)
    for lap in made.each():
        made.op("backward", lap + 9.0, gloo_ms + 20.0)
        made.op("gloo:all_reduce", lap + 10.0, gloo_ms)
        made.op("aten::mm", lap + 20.0, 30.0)
        made.op("gloo:barrier", lap + 10.0, 1.0, lane=SIDE)
    return made


NO_GPU = ALL_NEEDS - {Need.GPU_ROWS}


def test_cpu_only_run_counts_the_owning_thread_without_the_work_beside() -> None:
    found = CAUSE.look(on_thread().case(NO_GPU))
    assert isinstance(found, Finding)
    assert found.sentence == (
        "The owning thread does nothing but communicate for 10.0 of each 100 ms lap (10 %), most "
        "of it in gloo:all_reduce; transfer and waiting for late ranks cannot be told apart on one "
        "rank."
    )
    assert found.bound_ns == 10 * MS
    assert {e.name for e in found.events} == {"gloo:all_reduce"}


def test_cpu_only_run_counts_the_wait_for_threads_that_communicate() -> None:
    """A reduction runs on a thread of gloo's from 50 to 90 ms; the owner computes to 60 ms, then
    is in no row (DDP's wait at the end of the backward pass) and steps at 85 ms: 25 ms of wait,
    and 1 ms for the call that starts it."""
    made = Made(cpu=True)
    for lap in made.each():
        made.op("c10d::allreduce_", lap + 49.0, 1.0)
        made.op("backward", lap, 60.0)
        made.account("operators", lap, lap + 60.0)
        made.op("gloo:all_reduce", lap + 50.0, 40.0, lane=SIDE)
        made.account("between_ops", lap + 60.0, lap + 85.0)
        made.op("step", lap + 85.0, 15.0)
        made.account("operators", lap + 85.0, lap + 100.0)
    found = CAUSE.look(made.case(NO_GPU))
    assert isinstance(found, Finding)
    assert found.bound_ns == 26 * MS
    assert {e.name for e in found.events} == {"gloo:all_reduce", "c10d::allreduce_"}


def test_a_thread_that_starts_no_communication_is_not_seen_to_wait_for_it() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.op("gloo:all_reduce", lap + 50.0, 40.0, lane=SIDE)
        made.account("between_ops", lap, lap + 100.0)
    assert isinstance(CAUSE.look(made.case(NO_GPU)), Abstention)


def test_cpu_only_run_with_little_communication_is_clear() -> None:
    clear = CAUSE.look(on_thread(gloo_ms=4.0).case(NO_GPU))
    assert isinstance(clear, Clear)
    assert clear.why == "the owning thread only communicates for 4.0 % of the lap, below 5.0 %"


def test_cpu_only_run_abstains_where_a_device_was_used_and_not_recorded() -> None:
    made = on_thread()
    made.call("cudaLaunchKernel", 1.0, 0.1)
    assert isinstance(CAUSE.look(made.case(NO_GPU)), Abstention)


def test_a_thread_that_communicates_is_not_healthy() -> None:
    clear = HEALTHY.look(on_thread().case(NO_GPU))
    assert isinstance(clear, Clear)
    assert "10 % with copies or communication alone" in clear.why


def test_a_bound_that_the_host_lowers_to_nothing_is_no_finding() -> None:
    made = communicating()
    for lap in made.each():
        made.activity("kernel", lap, 0.5, made.call("cudaLaunchKernel", lap, 0.4))
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why.startswith(
        "communication without computation takes 20.0 of each 100 ms lap (20 %), but the host "
        "waits for the device at most 400 us a lap"
    )


def test_rows_that_only_start_communication_on_a_device_say_nothing_of_it() -> None:
    for name in ("nccl:all_reduce", "record_param_comms"):
        made = Made(cpu=True)
        for lap in made.each():
            made.op(name, lap + 10.0, 1.0)
        answer = CAUSE.look(made.case(NO_GPU))
        assert isinstance(answer, Abstention)
        assert answer.missing == ("gpu_rows",)
