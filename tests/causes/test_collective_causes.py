"""Small collectives, reductions in every micro-step, barriers and objects."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.causes.case import Abstention, Case, Clear, Finding, Need
from laptime.causes.collective_rows import collectives
from laptime.causes.many_small_collectives import CAUSE as SMALL
from laptime.causes.object_collectives import CAUSE as OBJECTS
from laptime.causes.reduced_every_micro_step import CAUSE as MICRO
from laptime.causes.registry import outcome
from laptime.causes.view import gpu_views
from laptime.kernels.names import KernelName
from laptime.ledger.work import WorkClass
from laptime.model.rows import I64, Ints, Kind, SparseInts, SparseTexts
from tests.causes.made import ALL_NEEDS, MS, SIDE, Made

REDUCE = KernelName("ncclDevKernel_AllReduce", "NCCL", "all_reduce", comm=True)
CUSTOM = KernelName("multimem_all_reduce", "symmetric memory", "all_reduce", comm=True)
FRAME = "torch/distributed/distributed_c10d.py(3011): all_gather_object"


def reduce(made: Made, at: float, dur: float, kernel: KernelName = REDUCE) -> int:
    """An exposed collective; gives its row."""
    call = made.call("cudaLaunchKernelExC", at - 0.5, 0.01)
    made.account("exposed_comm", at, at + dur)
    return made.activity(
        kernel.name, at, dur, call, lane=SIDE, klass=WorkClass.COMM, decoded=kernel
    )


def waiting(made: Made, lap: float) -> None:
    """The host waits for the device in every lap, so that faster device work shortens it."""
    made.call("cudaDeviceSynchronize", lap + 1.0, 98.0)


def small(number: int = 100, dur: float = 0.04, kernel: KernelName = REDUCE) -> Made:
    made = Made()
    for lap in made.each():
        waiting(made, lap)
        for at in range(number):
            reduce(made, lap + 5.0 + 0.9 * at, dur, kernel)
    return made


def recorded(case: Case, elements: int, dtype: str) -> Case:
    """The case with elements and type of every collective in its record."""
    rows = case.timeline.rows
    mine: Ints = np.sort(case.work["gpu0"].row)
    count: I64 = np.full(len(mine), elements, dtype=np.int64)
    rows.ints["In msg nelems"] = SparseInts(mine, count)
    rows.texts["dtype"] = SparseTexts(mine, np.zeros(len(mine), dtype=np.int64), [dtype])
    return case


def test_many_small_ones_bound_by_what_merging_leaves() -> None:
    found = SMALL.look(small().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == round(4 * MS * 99 / 100)
    assert found.sentence == (
        "100 collectives of NCCL a lap of at most 50.0 us (of 100) take 4.00 of each 100 ms lap "
        "(4.0 %) without computation: 100 all_reduce a lap of mean 40.0 us; their bytes are not "
        "recorded."
    )


def test_bytes_are_elements_times_their_size() -> None:
    case = recorded(small().case(), 4096, "BFloat16")
    assert collectives(gpu_views(case)[0]).bytes.tolist() == [8192] * 400
    found = SMALL.look(case)
    assert isinstance(found, Finding)
    assert "; 8.19 KB each, by 100 that say so" in found.sentence


def test_an_unknown_type_gives_no_bytes() -> None:
    case = recorded(small().case(), 4096, "Quaternion")
    assert set(collectives(gpu_views(case)[0]).bytes.tolist()) == {-1}


def test_few_long_or_custom_ones_are_not_flagged() -> None:
    few = SMALL.look(small(number=9).case())
    assert isinstance(few, Clear)
    assert few.why == "9 collectives of NCCL a lap of at most 50.0 us (of 9)"
    assert isinstance(SMALL.look(small(dur=0.06).case()), Clear)
    assert isinstance(SMALL.look(small(kernel=CUSTOM).case()), Clear)
    none = SMALL.look(Made().case())
    assert isinstance(none, Clear)
    assert none.why == "no communication in the counted laps"


def accumulating(micro: int = 2, last: int = 2, early: int = 2) -> Made:
    """Each lap an optimizer step over micro-steps, each with a forward and its reductions."""
    made = Made(laps=5)
    for lap in made.each():
        waiting(made, lap)
        made.op("autograd::engine::evaluate_function: MmBackward0", lap + 8.0, 1.0)
        for step in range(micro):
            made.mark("DistributedDataParallel.forward", lap + 5.0 + 20 * step, 5.0)
            for bucket in range(last if step == micro - 1 else early):
                reduce(made, lap + 12.0 + 20 * step + 3 * bucket, 2.0)
        made.mark("Optimizer.step#AdamW.step", lap + 90.0, 5.0)
    return made


def test_all_but_the_last_micro_step_could_keep_quiet() -> None:
    """Four of five optimizer steps lie between two marks: 4 ms in four of five laps."""
    found = MICRO.look(accumulating().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == round(4 * MS * 4 / 5)
    assert found.sentence == (
        "Each of 2 micro-steps to an optimizer step reduces its gradients (2 reductions each, 4 in "
        "all); those of all but the last are exposed for 3.20 of each 100 ms lap (3.2 %)."
    )


@pytest.mark.parametrize(
    ("made", "why"),
    [(accumulating(micro=1), "1 forward to an optimizer step: nothing is accumulated"),
     (accumulating(early=0), "2 forwards to an optimizer step, but not with the same reductions "
      "behind each"),
     (Made(), "no all-reduce or reduce-scatter in the counted laps")],
)  # fmt: skip
def test_no_waste(made: Made, why: str) -> None:
    clear = MICRO.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == why


def test_abstains_where_the_marks_are_missing() -> None:
    made = Made()
    for lap in made.each():
        reduce(made, lap + 10.0, 5.0)
        made.op("autograd::engine::evaluate_function: MmBackward0", lap + 8.0, 1.0)
    answer = MICRO.look(made.case())
    assert isinstance(answer, Abstention)
    assert "optimizer's step" in answer.missing[0]


def sending(name: str = FRAME, kind: Kind = Kind.PYTHON, cpu: bool = False) -> Made:
    """A call of 8 ms a lap: computation goes on for 2 ms, then idle, then 1 ms of communication."""
    made = Made(cpu=cpu)
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
        made.row(kind, name, lap + 10.0, 8.0)
        made.row(kind, name, lap + 11.0, 1.0)
        if not cpu:
            made.activity("kernel", lap + 60.0, 9.0, made.call("cudaLaunchKernel", lap + 59.0, 0.1))
            made.account("host_sync", lap + 12.0, lap + 17.0)
            made.account("exposed_comm", lap + 17.0, lap + 25.0)
    return made


@pytest.mark.parametrize(
    ("name", "kind"),
    [(FRAME, Kind.PYTHON), ("c10d::barrier", Kind.CPU_OP), ("gloo:barrier", Kind.ANNOTATION),
     ("torch/distributed/distributed_c10d.py(4551): barrier", Kind.PYTHON)],
)  # fmt: skip
def test_the_device_without_computation_in_such_a_call(name: str, kind: Kind) -> None:
    found = OBJECTS.look(sending(name, kind).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.sentence == (
        "Barriers and collectives of objects leave the device without computation for 6.00 of each "
        "100 ms lap (6.0 %): 1 call a lap, most from train.py(42): step; transfer and waiting for "
        "late ranks cannot be told apart on one rank."
    )


def test_on_the_owning_thread() -> None:
    found = OBJECTS.look(sending(cpu=True).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 8 * MS


def test_collectives_of_tensors_are_not_flagged() -> None:
    name = "torch/distributed/distributed_c10d.py(2500): all_reduce"
    clear = OBJECTS.look(sending(name).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no communication in the counted laps"


def test_objects_without_stacks_cannot_be_told() -> None:
    made = sending("nccl:all_gather", Kind.ANNOTATION)
    answer = OBJECTS.look(made.case(ALL_NEEDS - {Need.STACKS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("names of collectives of objects",)
    assert isinstance(OBJECTS.look(made.case()), Clear)
    for lap in made.each():
        made.op("c10d::barrier", lap + 9.0, 0.5)
    beside_a_barrier = OBJECTS.look(made.case(ALL_NEEDS - {Need.STACKS}))
    assert isinstance(beside_a_barrier, Abstention)


def test_what_each_needs() -> None:
    for cause in (SMALL, MICRO, OBJECTS):
        assert isinstance(outcome(cause, small().case(frozenset())), Abstention)
