"""Gradients of indexing, expansion of quantised weights, sparse formats built again."""

from __future__ import annotations

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.dequantise_each_call import CAUSE as DEQUANTISE
from laptime.causes.formats_rebuilt import CAUSE as FORMATS
from laptime.causes.index_scatter_backward import CAUSE as SCATTER
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.kernels_made import ADD, GEMM, launch, waiting
from tests.causes.made import ALL_NEEDS, MS, Made

SORT = "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<int>(int)"
INDEXING = "void at::native::indexing_backward_kernel<float, 4>(long const*, long const*)"
EXPAND = "void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*, unsigned char*)"
NODE = "autograd::engine::evaluate_function: "


def kernels(*steps: tuple[str, float, tuple[str, ...]]) -> Made:
    made = waiting(Made())
    for lap in made.each():
        at = lap + 1.0
        for kernel, length, operators in steps:
            launch(made, kernel, at, length, operators)
            at += length + 0.1
    return made


@pytest.mark.parametrize("node", ["IndexBackward0", "IndexSelectBackward0", "GatherBackward0"])
def test_everything_launched_for_the_gradient_of_an_index(node: str) -> None:
    operators = (f"{NODE}{node}", "aten::_index_put_impl_")
    made = kernels(
        (SORT, 2.0, operators), (INDEXING, 3.0, operators), (GEMM, 9.0, (f"{NODE}MmBackward0",))
    )
    found = SCATTER.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert found.sentence == (
        "Gradients of indexing take 5.00 of each 100 ms lap (5.0 %): 2 kernels a lap of mean 2.50 "
        "ms."
    )


def test_its_kernel_is_known_by_name() -> None:
    found = SCATTER.look(kernels((INDEXING, 3.0, ())).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 3 * MS


def test_embeddings_and_forward_indices_are_not_flagged() -> None:
    for operators in ((f"{NODE}EmbeddingBackward0",), ("aten::index_put_",), ("aten::index",)):
        clear = SCATTER.look(kernels((SORT, 5.0, operators)).case())
        assert isinstance(clear, Clear)
        assert clear.why == "gradients of indexing take 0.0 % of the lap, below 2.0 %"


def test_expanded_weights() -> None:
    made = kernels((EXPAND, 4.0, ()), (GEMM, 4.0, ("aten::mm",)), (EXPAND, 2.0, ()))
    found = DEQUANTISE.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.share == pytest.approx(0.06)
    assert isinstance(DEQUANTISE.look(kernels((GEMM, 9.0, ())).case()), Clear)


def converting(operator: str = "aten::coalesce", laps: int = 4, within: str | None = None) -> Made:
    """In each lap a conversion of 4 ms of host time, 2 ms of it inside another, a blocking call of
    1 ms in it and 3 ms of kernels; the device is idle for 10 ms."""
    made = Made()
    for i, lap in enumerate(made.each()):
        if i >= laps:
            break
        if within:
            made.mark(within, lap + 9.0, 9.0)
        made.op(operator, lap + 10.0, 4.0)
        made.op("aten::_coalesce", lap + 10.5, 2.0)
        call = made.call("cudaLaunchKernel", lap + 11.0, 0.1)
        made.call("cudaStreamSynchronize", lap + 11.2, 1.0)
        made.activity(SORT, lap + 30.0, 3.0, call)
        made.account("host_ops", lap + 10.0, lap + 20.0)
    return made


def test_conversions_in_each_lap() -> None:
    """3 ms of kernels and 4 ms of the host less the call of 1 ms."""
    found = FORMATS.look(converting().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 6 * MS
    assert found.sentence == (
        "1 conversion a lap of sparse formats: the device takes 3.00 ms for their kernels alone "
        "and the host 3.00 ms in them; at most 6.00 of each 100 ms lap (6.0 %) could go, if the "
        "pattern is always the same."
    )


@pytest.mark.parametrize("operator", ["aten::to_sparse_csr", "aten::_to_sparse"])
def test_other_formats(operator: str) -> None:
    assert isinstance(FORMATS.look(converting(operator).case()), Finding)


def test_frames_of_torch_sparse() -> None:
    made = converting("aten::sort")
    for lap in made.each():
        made.row(Kind.PYTHON, "torch_sparse/transpose.py(6): transpose", lap + 10.0, 6.0)
    found = FORMATS.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == (3 + 5) * MS


def test_a_format_built_once_is_not_flagged() -> None:
    clear = FORMATS.look(converting(laps=1).case())
    assert isinstance(clear, Clear)
    assert clear.why == "1 conversion of sparse formats in all 4 counted laps"


def test_sparse_gradients_in_the_optimizer_are_not_flagged() -> None:
    clear = FORMATS.look(converting(within="Optimizer.step#SparseAdam.step").case())
    assert isinstance(clear, Clear)
    assert clear.why == "0 conversions of sparse formats in all 4 counted laps"


def test_pointwise_work_is_none_of_them() -> None:
    case = kernels((ADD, 9.0, ("aten::add",))).case()
    for cause in (SCATTER, DEQUANTISE, FORMATS):
        assert isinstance(cause.look(case), Clear)


def test_abstain() -> None:
    for cause, need in (
        (SCATTER, Need.GPU_ROWS),
        (DEQUANTISE, Need.GPU_ROWS),
        (FORMATS, Need.HOST_ROWS),
    ):
        answer = outcome(cause, converting().case(ALL_NEEDS - {need}))
        assert isinstance(answer, Abstention)
        assert answer.missing == (need.value,)
