"""Names of kernels that tests of kernel causes launch, and how they are launched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from laptime.causes.case import Case
from laptime.kernels import decode
from laptime.model.rows import Ints
from tests.causes.made import MS, STREAM, Made

_ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::"
MUL = (
    f"{_ELEMENTWISE}BinaryFunctor<float, float, float, at::native::binary_internal::"
    "MulFunctor<float> >, std::array<char*, 3ul> >(int)"
)
ADD = f"{_ELEMENTWISE}CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)"
RSQRT = f"{_ELEMENTWISE}rsqrt_kernel_cuda(at::TensorIteratorBase&)>(int)"
FILL = f"{_ELEMENTWISE}FillFunctor<float>, std::array<char*, 1ul> >(int)"
TO_BF16 = f"{_ELEMENTWISE}bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)>(int)"
FUSED_MUL = "triton_poi_fused_mul_0"
STRIDED = (
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::native::"
    "direct_copy_kernel_cuda(at::TensorIteratorBase&)>(int)"
)
NHWC = "void nchwToNhwcKernel<__half, __half, float, true, false, (cudnnKernelDataType_t)2>(int)"
BATCHED_TRANSPOSE = "batched_transpose_32x32_half"
GEMM = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"
SOFTMAX = (
    "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 10, "
    "false, false>(int)"
)
SOFTMAX_BACKWARD = (
    "void (anonymous namespace)::softmax_warp_backward<c10::BFloat16, c10::BFloat16, float, 10, "
    "false, false>(int)"
)


def launch(
    made: Made,
    kernel: str,
    at_ms: float,
    dur_ms: float,
    operators: Sequence[str] = (),
    lane: int = STREAM,
    call_ms: float | None = None,
) -> int:
    """One kernel, whose call lies inside the operators, outermost first; the call is before it by
    its own length unless ``call_ms`` says when."""
    at = at_ms - 0.001 if call_ms is None else call_ms
    for depth, operator in enumerate(operators):
        made.op(operator, at + depth * 1e-5, 0.0008 - depth * 2e-5)
    call = made.call("cudaLaunchKernel", at + 0.0002, 0.0003)
    return made.activity(kernel, at_ms, dur_ms, call, lane=lane, decoded=decode(kernel))


def waiting(made: Made) -> Made:
    """A host that waits for the device at the end of every lap, so that faster kernels gain."""
    for lap in made.each():
        made.call("cudaDeviceSynchronize", lap + 0.5, made.lap_ns / MS - 1.0)
    return made


def with_grids(case: Case, args: Mapping[str, Mapping[str, Any]]) -> Case:
    """The case with arguments of kernels, by kernel name."""
    rows = case.timeline.rows

    def read(wanted: Ints) -> list[dict[str, Any] | None]:
        found = (args.get(rows.name_of(int(r))) for r in wanted)
        return [None if one is None else dict(one) for one in found]

    rows.read_args = read
    return case
