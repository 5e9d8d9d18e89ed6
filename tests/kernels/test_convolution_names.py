"""cuDNN, MIOpen and CK: direction, type, tensor cores."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from tests.kernels.reading_table import Case, check

CK_WEIGHT = (
    "_ZN2ck16tensor_operation6device37kernel_batched_gemm_xdlops_bwd_weightINS_47GridwiseGemm_bk0mk1"
    "_bk0nk1_mn_xdlops_bwd_weightILi64EttftLNS_25InMemoryDataOperationEnumE1ENS_16TensorDescriptor"
)
CK_FORWARD = (
    "_ZN2ck16tensor_operation6device12_GLOBAL__N_149kernel_grouped_conv_fwd_multiple_abd_xdl_cshuffle"
    "INS_34GridwiseGemmMultipleD_xdl_cshuffleItttftNS_5TupleIJEEEtNS0_12element_wise11PassThroughE"
)

CASES = [
    Case("volta_scudnn_128x128_stridedB_splitK_small_nn_v1", "cuDNN", "conv", "fp32", False,
         "128x128", "sm70"),
    Case("cudnn_infer_volta_scudnn_128x64_relu_medium_nn_v1", "cuDNN", "conv", "fp32", False,
         "128x64", "sm70"),
    Case("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "cuDNN", "conv", "fp32", False, None,
         "sm80"),
    Case("volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1", "cuDNN", "conv", "fp32",
         False),
    Case("volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_interior_nhwc_tn_v1", "cuDNN", "conv",
         "fp16", True, "256x128"),
    Case("volta_s884cudnn_fp16_256x128_ldg8_wgrad_idx_exp_interior_nhwc_nt_v1", "cuDNN",
         "conv_backward_weight", "fp16", True),
    Case("volta_fp16_s884cudnn_fp16_128x128_ldg8_dgrad_f2f_exp_small_nhwc2nchw_tt_v1", "cuDNN",
         "conv_backward_data", "fp16", True),
    Case("volta_fp16_scudnn_fp16_128x64_relu_small_nn_v1", "cuDNN", "conv", "fp16", False),
    Case("turing_fp16_s1688cudnn_fp16_256x64_sliced1x2_ldg8_relu_f2f_exp_small_nhwc_tn_v1", "cuDNN",
         "conv", "fp16", True, None, "sm75"),
    Case(
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
        "stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn",
        "cuDNN", "conv", "tf32", True, "128x128x16", "sm80",
    ),
    Case(
        "sm80_xmma_dgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_"
        "stage3_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
        "cuDNN", "conv_backward_data", "fp16", True,
    ),
    Case(
        "sm80_xmma_wgrad_implicit_gemm_indexed_f32f32_f32f32_f32_nhwckrsc_nhwc_tilesize128x128x8_"
        "stage3_warpsize2x2x1_g1_ffma_execute_split_k_kernel_cudnn",
        "cuDNN", "conv_backward_weight", "fp32", False,
    ),
    Case("xmma_not_a_kernel", "unknown", "unknown"),
    Case(
        "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_"
        "32x4_nhwc_align8>(cutlass_tensorop_bf16_s16816fprop_optimized_bf16_256x64_32x4_nhwc_align8"
        "::Params)",
        "cuDNN", "conv", "bf16", True, "256x64x32",
    ),
    Case("void cutlass_cudnn::Kernel<cutlass_tensorop_s1688wgrad_optimized_tf32_128x128_16x4_nhwc_"
         "align4>(int)", "CUTLASS", "conv_backward_weight", "tf32", True),
    Case("void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int)",
         "cuDNN", "conv", "fp32", False),
    Case("void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int)",
         "cuDNN", "conv_backward_data", "fp32", False),
    Case("void cudnn::cnn::wgrad_alg0_engine<float, 128, 6, 7, 3, 3, 5, false, 512>(int, int)",
         "cuDNN", "conv_backward_weight", "fp32", False),
    Case("void wgrad_alg0_engine<float, 128, 5, 5, 3, 3, 3, false, 512>(int, int)", "cuDNN",
         "conv_backward_weight", "fp32", False),
    Case("void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(int)", "cuDNN", "conv",
         "fp32"),
    Case("void cudnn::winograd_nonfused::winogradWgradDelta4x4<float, float>(int)", "cuDNN",
         "conv_backward_weight", "fp32"),
    Case("void conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, __half, __half, "
         "__half, float, float, __half>(int)", "cuDNN", "conv", "fp16"),
    Case("void dgrad2d_grouped_direct_kernel<__half, __half, float>(int)", "cuDNN",
         "conv_backward_data", "fp16"),
    Case("cask_cudnn::computeOffsetsKernel(cask_cudnn::ComputeOffsetsParams)", "cuDNN", "setup"),
    Case("void cask_cudnn_infer::computeOffsetsKernel<false, false>(int)", "cuDNN", "setup"),
    Case("void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, "
         "(cudnnKernelDataType_t)2>(int)", "cuDNN", "transpose", "fp32"),
    Case("void nhwcToNchwKernel<__half, __half, float, true, false>(int)", "cuDNN", "transpose",
         "fp16"),
    Case("void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>(int)",
         "cuDNN", "norm", "fp32"),
    Case("void cudnn::bn_bw_1C11_singleread<float, 512, true, 1, 2, 0>(int)", "cuDNN",
         "norm_backward", "fp32"),
    Case("void cudnn::batchnorm_bwtr_nhwc_semiPersist<__half, 512>(int)", "cuDNN", "norm_backward",
         "fp16"),
    Case("void precomputed_convolve_sgemm<float, 1024, 5, 5, 4, 3, 3, 1, true>(int)", "cuDNN", "conv",
         "fp32", False),
    Case("void flip_filter<float, float>(cudnnTensor4dStruct)", "cuDNN", "unknown"),
    Case("void cudnn::pooling_bw_5d_kernel_max<float, float>(int)", "cuDNN", "pooling_backward",
         "fp32"),
    Case("void cudnn::ops::softmax_bw_kernel<2, float, float>(int)", "cuDNN", "softmax_backward",
         "fp32"),
    Case("void cudnn::pooling_fw_4d_kernel<float, float, cudnn::maxpooling_func<float>, 0>(int)",
         "cuDNN", "pooling", "fp32"),
    Case("void fft2d_r2c_32x32<float, false, 0u, false>(float2*)", "cuDNN", "fft"),
    Case("cudnn_generated_fort_native_sdpa_sm80_flash_fprop_wmma_f16_knob_6_128x64x64_4x1x1_cga1x1x1_"
         "kernel0_0", "cuDNN", "attention", "fp16", True, None, "sm80"),
    Case("cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x128x128", "cuDNN",
         "attention_backward", "fp16", True, None, "sm90"),
    Case("void LSTM_elementWise_fp<float, float, float>(int, int)", "cuDNN", "rnn", "fp32"),
    # MIOpen and CK.
    Case("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64",
         "MIOpen", "conv", "bf16", True, "128x128x32"),
    Case("igemm_bwd_gtcx2_nhwc_fp16_bx0_ex1_bt64x128x32_wt32x32x8", "MIOpen", "conv_backward_data",
         "fp16", True, "64x128x32"),
    Case("igemm_wrw_gtcx3_nhwc_fp32_bx0_ex0_bt64x64x64_wt32x32x8", "MIOpen", "conv_backward_weight",
         "fp32", True),
    Case("miopenSp3AsmConv_v30_3_1_gfx9_fp32_f3x2_stride1", "MIOpen", "conv", "fp32"),
    Case("miopenGcnAsmConv1x1WrW", "MIOpen", "conv_backward_weight"),
    Case("naive_conv_ab_nonpacked_bwd_nchw_half_double_half", "MIOpen", "conv_backward_data", "fp16"),
    Case("MIOpenBatchNormFwdTrainSpatial", "MIOpen", "norm"),
    Case("MIOpenBatchNormBwdSpatial", "MIOpen", "norm_backward"),
    Case("batched_transpose_64x32_pack_4x2_ediv_2x1_half", "MIOpen", "transpose"),
    Case("transpose_NCHW2CNHW_V2_2D_WG_off64", "MIOpen", "transpose"),
    Case("SubTensorOpWithScalar1d", "MIOpen", "fill"),
    Case("SubTensorOpWithCastTensor1d", "MIOpen", "copy"),
    Case(CK_WEIGHT, "CK", "conv_backward_weight", "bf16", True),
    Case(CK_FORWARD, "CK", "conv", "bf16", True),
    Case("void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::"
         "gemm::RowMajor, _Float16, _Float16> >(int)", "CK", "gemm", "fp16", True),
    Case("void ck::kernel_moe_gemm_2lds<ck::GridwiseMoeGemm>(int)", "CK", "gemm"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:60])
def test_name_is_read(case: Case) -> None:
    check(case)
