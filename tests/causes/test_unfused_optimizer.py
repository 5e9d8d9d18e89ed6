"""Loops over parameters: told by their kernels in the regions, bounded on either side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.registry import outcome
from laptime.causes.unfused_optimizer import CAUSE
from laptime.kernels import decode
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, Made

MUL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
    "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)"
)
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
    "std::array<char*, 3ul> >(int)"
)
FOREACH = (
    "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
    "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor"
    "<float, 2, 2, 0>, std::plus<float>, float>(int)"
)


def updating(
    tensors: int = 20,
    mark: str = "Optimizer.step#SGD.step",
    kind: Kind = Kind.ANNOTATION,
    operators: tuple[str, ...] = ("aten::mul_", "aten::add_"),
    names: tuple[str, ...] = (MUL, ADD),
    idle_ms: float = 30.0,
) -> Made:
    """A step of 10 ms of host time at 50 ms of each lap; for each tensor a kernel of 0.1 ms for
    each operator, at the lap's end; the device is idle for ``idle_ms`` from 50 ms on."""
    made = Made()
    for lap in made.each():
        made.row(kind, mark, lap + 50.0, 10.0)
        at, step = lap + 50.0, 10.0 / (tensors * len(operators))
        run = lap + 90.0
        for _ in range(tensors):
            for operator, name in zip(operators, names, strict=True):
                made.op(operator, at, step * 0.9)
                call = made.call("cudaLaunchKernel", at + step * 0.1, step * 0.5)
                made.activity(name, run, 0.1, call, decoded=decode(name))
                at, run = at + step, run + 0.1
        made.account("host_ops", lap + 50.0, lap + 50.0 + idle_ms)
    return made


def test_bound_is_all_but_one_pass_and_the_host_time() -> None:
    """40 kernels of 0.1 ms: 4 ms, of which one of two passes is 2 ms; its 20 fixed parts are at
    most 0.1 ms each, so that it could shrink to nothing. The host is 10 ms in the step."""
    found = CAUSE.look(updating().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 14 * MS
    assert found.share == pytest.approx(0.14)
    assert found.sentence == (
        "SGD.step launches 40 kernels a lap for single tensors (2 for each of 20): the device "
        "takes 4.00 ms for them and the host 10.0 ms to ask for them; at most 14.0 of each 100 "
        "ms lap (14 %) could go."
    )
    assert found.events_in_all == 160


def test_one_pass_over_large_tensors_stays() -> None:
    """40 tensors, one kernel each: 20 of 0.1 ms and 20 of 0.3 ms, 8 ms together. One pass stays,
    less the fixed part of 40 kernels, at most 0.1 ms each: 4 ms could go."""
    made = Made()
    for lap in made.each():
        made.mark("Optimizer.step#SGD.step", lap + 50.0, 10.0)
        for i in range(40):
            at = lap + 50.0 + i * 0.25
            made.op("aten::add_", at, 0.2)
            call = made.call("cudaLaunchKernel", at + 0.05, 0.1)
            made.activity(ADD, lap + 80.0 + i * 0.4, 0.1 + 0.2 * (i % 2), call, decoded=decode(ADD))
        made.account("host_ops", lap + 50.0, lap + 53.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == (4 + 3) * MS
    assert "8.00 ms of only these kernels" in found.formula
    assert "40 x 100 us (the shortest kernel) = 4.00 ms" in found.formula


def test_idle_time_caps_the_host_part() -> None:
    found = CAUSE.look(updating(idle_ms=1.0).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS


def test_blocking_calls_of_the_step_are_not_counted() -> None:
    made = updating()
    for lap in made.each():
        made.call("cudaStreamSynchronize", lap + 52.0, 4.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == (4 + 6) * MS


def test_foreach_operators_are_not_flagged() -> None:
    clear = CAUSE.look(updating(operators=("aten::_foreach_add_",), names=(FOREACH,)).case())
    assert isinstance(clear, Clear)
    assert clear.why == "0 kernels a lap for single tensors in SGD.step, fewer than 32"


def test_a_slow_path_inside_a_foreach_operator_is_not_flagged() -> None:
    made = updating()
    for lap in made.each():
        made.op("aten::_foreach_addcdiv_", lap + 50.0, 10.0)
    assert isinstance(CAUSE.look(made.case()), Clear)


def test_few_parameters_are_not_flagged() -> None:
    clear = CAUSE.look(updating(tensors=15).case())
    assert isinstance(clear, Clear)
    assert clear.why == "30 kernels a lap for single tensors in SGD.step, fewer than 32"


def test_a_loop_that_costs_little_is_not_flagged() -> None:
    made = updating(idle_ms=0.0)
    small = Made(lap_ms=1000.0)
    small.rows, small.work, small.decoded = made.rows, made.work, made.decoded
    clear = CAUSE.look(small.case())
    assert isinstance(clear, Clear)
    assert "could cost 0.4 % of the lap, below 2.0 %" in clear.why


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        ("torch/nn/utils/clip_grad.py(160): clip_grad_norm_", "clip_grad_norm_"),
        ("models/ema.py(31): update", "update"),
        ("train.py(88): update_ema", "update_ema"),
        ("torch/optim/adamw.py(300): _single_tensor_adamw", "_single_tensor_adamw"),
    ],
)
def test_averages_and_clipping_are_seen_in_stacks(frame: str, told: str) -> None:
    found = CAUSE.look(updating(mark=frame, kind=Kind.PYTHON).case())
    assert isinstance(found, Finding)
    assert found.sentence.startswith(f"{told} launches 40 kernels a lap")


def test_the_line_of_code_is_named() -> None:
    made = updating()
    for lap in made.each():
        made.row(Kind.PYTHON, "train.py(12): main", lap, 99.0)
        made.row(Kind.PYTHON, "train.py(42): step", lap + 49.0, 12.0)
        made.row(Kind.PYTHON, "torch/optim/sgd.py(103): step", lap + 49.5, 11.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert "from train.py(42): step, 4.00 ms a lap" in found.why


def test_clear_without_an_optimizer() -> None:
    clear = CAUSE.look(Made().case())
    assert isinstance(clear, Clear)
    assert clear.why == "no optimizer step, average or clipping is marked"


def test_abstains_without_host_rows() -> None:
    answer = outcome(CAUSE, updating().case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("host_rows",)


def test_a_rank_is_named() -> None:
    case = updating().case()
    found = CAUSE.look(replace(case, timeline=replace(case.timeline, rank=3)))
    assert isinstance(found, Finding)
    assert found.rank == 3
