"""Exposed communication: by instants without compute, whatever the kernels' durations add up to."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.exposed_collectives import CAUSE, _operation
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
