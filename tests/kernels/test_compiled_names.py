"""Inductor, hand-written Triton, XLA, rows of the runtimes."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from tests.kernels.reading_table import Case, check

CASES = [
    Case("triton_poi_fused_add_mul_relu_3", "Inductor", "elementwise"),
    Case("triton_poi_fused__to_copy_1", "Inductor", "elementwise"),
    Case("triton_poi_fused_0", "Inductor", "elementwise"),
    Case("triton_red_fused_sum_0", "Inductor", "reduce"),
    Case("triton_per_fused_mean_pow_5", "Inductor", "reduce"),
    Case("triton_per_fused__softmax_7", "Inductor", "softmax"),
    Case("triton_red_fused__log_softmax_nll_loss_forward_2", "Inductor", "softmax"),
    Case("triton_per_fused_native_layer_norm_4", "Inductor", "norm"),
    Case("triton_red_fused_native_layer_norm_backward_11", "Inductor", "norm_backward"),
    Case("triton_red_fused_add_rms_norm_0", "Inductor", "norm"),
    Case("triton_for_fused_2", "Inductor", "elementwise"),
    Case("triton_tem_fused_mm_4", "Inductor", "gemm"),
    Case("triton_tem_fused_addmm_t_view_1", "Inductor", "gemm"),
    Case("triton_tem_fused__to_copy_convolution_2", "Inductor", "conv"),
    Case("triton_tem_fused_flex_attention_0", "Inductor", "attention"),
    Case("triton_tem_fused_flex_attention_backward_1", "Inductor", "attention_backward"),
    Case("triton_tem_fused_0", "Inductor", "unknown"),
    Case("triton_mm", "Inductor", "gemm"),
    Case("triton__0d1d2d3de", "Inductor", "fused"),
    Case("matmul_kernel", "Triton", "gemm"),
    Case("_layer_norm_fwd_1pass_kernel", "Triton", "norm"),
    Case("_rms_norm_backward_kernel", "Triton", "norm_backward"),
    Case("liger_cross_entropy_kernel", "Triton", "loss"),
    Case("_swiglu_forward_kernel", "Triton", "activation"),
    Case("_triton_rope", "Triton", "rope"),
    Case("chunk_gated_delta_rule_fwd_kernel_h_blockdim64", "Triton", "ssm"),
    Case("_chunk_scan_fwd_kernel", "Mamba", "ssm"),
    Case("loop_add_fusion", "JAX/XLA", "elementwise"),
    Case("loop_multiply_select_fusion_2", "JAX/XLA", "elementwise"),
    Case("input_reduce_fusion_3", "JAX/XLA", "reduce"),
    Case("input_transpose_fusion_1", "JAX/XLA", "transpose"),
    Case("input_concatenate_fusion", "JAX/XLA", "cat"),
    Case("input_scatter_fusion_5", "JAX/XLA", "scatter"),
    Case("wrapped_transpose", "JAX/XLA", "transpose"),
    Case("wrapped_add", "JAX/XLA", "elementwise"),
    Case("gemm_fusion_dot_12", "JAX/XLA", "gemm"),
    Case("triton_per_fused__softmax_backward_data_5", "Inductor", "softmax_backward"),
    Case("triton_gemm_dot_4", "JAX/XLA", "gemm"),
    Case("_softmax_bwd_kernel", "Triton", "softmax_backward"),
    Case("l2norm_bwd_kernel", "Triton", "norm_backward"),
    Case("_Z14softmax_kernelPf", "unknown", "softmax"),
    Case("triton_softmax_3", "JAX/XLA", "softmax"),
    Case("fusion_17", "JAX/XLA", "fused"),
    Case("void regular_fft<1024u, EPT<8u>, 32u, float>(kernel_arguments_t<unsigned int>)", "cuFFT",
         "fft"),
    Case("void vector_fft<256u, EPT<16u>, float>(int)", "cuFFT", "fft"),
    Case("void cusparse::csrmv_v3_kernel<int, int, float>(int)", "cuSPARSE", "sparse"),
    Case("void gen_sequenced<curandStateXORWOW, float2, normal_args_st>(int)", "cuRAND", "random"),
    Case("Memcpy HtoD (Pageable -> Device)", "driver", "copy"),
    Case("Memset (Device)", "driver", "fill"),
    Case("__amd_rocclr_copyBuffer.kd", "ROCm runtime", "copy"),
    Case("__amd_rocclr_fillBufferAligned.kd", "ROCm runtime", "fill"),
    Case("void rocprim::ROCPRIM_400200_NS::detail::trampoline_kernel<rocprim::ROCPRIM_400200_NS::detail"
         "::wrapped_scan_config<rocprim::ROCPRIM_400200_NS::default_config, long> >(int)", "rocPRIM",
         "scan"),
    Case("void rocprim::detail::block_sort_kernel<256u, 4u>(int)", "rocPRIM", "sort"),
    Case("triton_spl_fused_cumsum_1", "Inductor", "scan"),
    # C++ kernels with the names of Triton kernels.
    Case("void softmax_kernel<float>(float*)", "unknown", "softmax", "fp32"),
    Case("void matmul_kernel(float*, float*)", "unknown", "gemm"),
    Case("void dot_kernel<float>(float*)", "unknown", "unknown"),
    Case("void reduce_kernel<float>(float*)", "unknown", "unknown"),
    # Names that say nothing.
    Case("kernel", "unknown", "unknown"),
    Case("my_kernel(float*)", "unknown", "unknown"),
    Case("void Foo::bar<int>(int)", "unknown", "unknown"),
    Case("_Z3addPfS_", "unknown", "unknown"),
    Case("_Z", "unknown", "unknown"),
    Case("", "unknown", "unknown"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:90])
def test_name_is_read(case: Case) -> None:
    check(case)
