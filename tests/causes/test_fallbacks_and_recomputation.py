"""Fallbacks by operator and by name; forward work inside the backward pass; tiny kernels."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.many_tiny_kernels import CAUSE as TINY
from laptime.causes.recomputation import CAUSE as AGAIN
from laptime.causes.registry import causes, judge, outcome
from laptime.causes.slow_fallback_kernel import CAUSE as FALLBACK
from laptime.causes.unfused_elementwise import CAUSE as ELEMENTWISE
from laptime.model.rows import Kind
from tests.causes.kernels_made import ADD, GEMM, MUL, SOFTMAX, launch, waiting
from tests.causes.made import ALL_NEEDS, MS, Made

MATH = "aten::_scaled_dot_product_attention_math"
NAIVE = "naive_conv_nonpacked_fwd_nchw_half_double_half"
GROUPED = "void conv2d_grouped_direct_kernel<__half, __half, __half, float, float, true>(int)"
NODE = "autograd::engine::evaluate_function: "


def kernels(*steps: tuple[str, float, tuple[str, ...]]) -> Made:
    made = waiting(Made())
    for lap in made.each():
        at = lap + 1.0
        for kernel, length, operators in steps:
            launch(made, kernel, at, length, operators)
            at += length + 0.1
    return made


def test_attention_by_products_inside_its_operator() -> None:
    sdpa = ("aten::scaled_dot_product_attention", MATH)
    made = kernels(
        (GEMM, 3.0, (*sdpa, "aten::bmm")),
        (MUL, 4.0, (*sdpa, "aten::mul")),
        (ADD, 4.0, (*sdpa, "aten::add")),
        (SOFTMAX, 2.0, (*sdpa, "aten::_softmax")),
        (GEMM, 5.0, ("aten::mm",)),
    )
    found = FALLBACK.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 13 * MS
    assert found.sentence == (
        "Fallback kernels take 13.0 of each 100 ms lap (13 %): 4 kernels a lap of mean 3.25 ms."
    )
    assert found.why[0] == f"inside {MATH}: 13.0 ms a lap"
    assert isinstance(ELEMENTWISE.look(made.case()), Clear)


@pytest.mark.parametrize("name", [NAIVE, GROUPED])
def test_convolutions_by_their_names(name: str) -> None:
    found = FALLBACK.look(kernels((name, 3.0, ("aten::conv2d",))).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 3 * MS
    assert found.why[0] == "direct or naive convolutions by name: 3.00 ms a lap"


def test_other_kernels_are_no_fallback() -> None:
    clear = FALLBACK.look(kernels((GEMM, 9.0, ("aten::conv2d",))).case())
    assert isinstance(clear, Clear)
    assert clear.why == "fallback kernels take 0.0 % of the lap, below 2.0 %"


def test_fallback_abstains_without_device_rows() -> None:
    answer = outcome(FALLBACK, Made().case(ALL_NEEDS - {Need.GPU_ROWS}))
    assert isinstance(answer, Abstention)


def backward(*inside: tuple[str, Kind], idle_ms: float = 10.0) -> Made:
    """A kernel of 6 ms launched inside rows of 5 ms, nested in the order given; idle beside."""
    made = Made()
    for lap in made.each():
        for depth, (name, kind) in enumerate(inside):
            made.row(kind, name, lap + 10.0 + depth * 0.01, 5.0 - depth * 0.02)
        call = made.call("cudaLaunchKernel", lap + 12.0, 0.1)
        made.activity(GEMM, lap + 20.0, 6.0, call)
        made.account("host_ops", lap + 10.0, lap + 10.0 + idle_ms)
    return made


def test_the_checkpoint_node() -> None:
    """6 ms of the device and the host's 5 ms in the node."""
    found = AGAIN.look(backward((f"{NODE}CheckpointFunctionBackward", Kind.CPU_OP)).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 11 * MS
    assert found.sentence == (
        "The backward pass launches 1 kernel a lap of forward work again: the device takes 6.00 ms "
        "for them alone and the host 5.00 ms to ask for them; at most 11.0 of each 100 ms lap "
        "(11 %) could go, for memory."
    )


def test_gradients_inside_the_checkpoint_node_are_backward() -> None:
    node = (f"{NODE}CheckpointFunctionBackward", Kind.CPU_OP)
    clear = AGAIN.look(backward(node, (f"{NODE}MmBackward0", Kind.CPU_OP)).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no forward work inside the backward pass"


def test_frames_of_checkpointing_without_reentry() -> None:
    frame = ("torch/utils/checkpoint.py(1111): unpack_hook", Kind.PYTHON)
    found = AGAIN.look(backward((f"{NODE}ReluBackward0", Kind.CPU_OP), frame, idle_ms=2.0).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == (6 + 2) * MS


def test_forward_operators_inside_a_node() -> None:
    relu, linear = (f"{NODE}ReluBackward0", Kind.CPU_OP), ("aten::linear", Kind.CPU_OP)
    assert isinstance(AGAIN.look(backward(relu, linear).case()), Finding)
    of_a_program = (f"{NODE}FusedLossBackward", Kind.CPU_OP)
    assert isinstance(AGAIN.look(backward(of_a_program, linear).case()), Clear)
    assert isinstance(AGAIN.look(backward(relu, ("aten::mm", Kind.CPU_OP)).case()), Clear)
    assert isinstance(AGAIN.look(backward(linear).case()), Clear)


def test_recomputation_abstains_without_operators() -> None:
    answer = outcome(AGAIN, backward().case(ALL_NEEDS - {Need.HOST_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("host_rows",)


def tiny(number: int = 40, length_us: float = 5.0, account: str = "kernel_gap") -> Made:
    """Kernels with gaps of 0.2 ms in front of them, from 0.2 ms on; then one long kernel."""
    made = Made()
    for lap in made.each():
        for i in range(number):
            at = lap + 0.2 * (i + 1)
            launch(made, ADD, at, length_us / 1000, call_ms=lap + 0.2 * i + 0.01)
            made.account(account, at - 0.1, at)
        launch(made, GEMM, lap + 20.0, 79.5)
        made.account("host_ops", lap + 19.0, lap + 20.0)
    return made


def test_idle_time_in_front_of_tiny_kernels() -> None:
    """60 gaps of 0.1 ms in the account; the gap of 1 ms in front of the long kernel is not one."""
    found = TINY.look(tiny(number=60).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.share == pytest.approx(0.06)
    assert found.sentence == (
        "98.4 % of the kernels last no more than 10.0 us (60 kernels a lap of mean 5.00 us), and "
        "the device is idle in front of them for 6.00 of each 100 ms lap (6.0 %)."
    )
    assert "these gaps by account: kernel_gap 6.00 ms" in found.why


def test_tiny_kernels_that_are_few_or_cost_little() -> None:
    clear = TINY.look(tiny(number=31).case())
    assert isinstance(clear, Clear)
    assert clear.why == "31 kernels a lap of at most 10 us"
    clear = TINY.look(tiny(number=40).case())
    assert isinstance(clear, Clear)
    assert clear.why.endswith("idle in front of them 4.0 % of the lap, below 5.0 %")


def test_longer_kernels_are_not_tiny() -> None:
    clear = TINY.look(tiny(number=60, length_us=11.0).case())
    assert isinstance(clear, Clear)
    assert clear.why == "0.0 % of the kernels, below 50 %, last no more than 10.0 us"


def test_a_launch_bound_host_explains_the_symptom() -> None:
    made = tiny(number=90, account="host_ops")
    case = made.case()
    using = [c for c in causes() if c.id in ("launch-bound", "many-tiny-kernels")]
    judged = judge(case.run, [case], using)
    assert [f.id for f in judged.findings] == ["launch-bound"]
    assert [f.id for f in judged.silenced] == ["many-tiny-kernels"]


def test_tiny_abstains_without_launch_calls() -> None:
    answer = outcome(TINY, Made().case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)
