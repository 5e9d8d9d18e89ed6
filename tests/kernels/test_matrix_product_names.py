"""cuBLAS, CUTLASS, Tensile, DeepGEMM, quantised products: above all, tensor cores or not."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from tests.kernels.reading_table import Case, check

GEMM3 = (
    "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, "
    "int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarp"
    "Specialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> >, cutlass::gemm::KernelTma"
    "WarpSpecializedCooperative>, cute::tuple<cute::C<128>, cute::C<128>, cute::C<64> >, "
    "cutlass::bfloat16_t, cute::tuple<long, cute::C<1>, long>, cutlass::bfloat16_t> > >"
    "(cutlass::gemm::kernel::GemmUniversal::Params)"
)
GEMM3_MANGLED = (
    "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEENS1_10collective"
    "13CollectiveMmaINS1_34MainloopSm90TmaGmmaWarpSpecializedILi4ENS5_IJNS4_1CILi2EEENSA_ILi1EEES"
)

CASES = [
    # fp32 on ordinary units.
    Case("volta_sgemm_128x64_nn", "cuBLAS", "gemm", "fp32", False, "128x64", "sm70"),
    Case("volta_sgemm_32x32_sliced1x4_tn", "cuBLAS", "gemm", "fp32", False, "32x32", "sm70"),
    Case("ampere_sgemm_128x32_tn", "cuBLAS", "gemm", "fp32", False, "128x32", "sm80"),
    Case("ampere_sgemm_64x32_sliced1x4_nt", "cuBLAS", "gemm", "fp32", False, "64x32"),
    Case("maxwell_sgemm_128x64_raggedMn_tn", "cuBLAS", "gemm", "fp32", False, "128x64", "sm50"),
    Case("turing_sgemm_128x128_nn", "cuBLAS", "gemm", "fp32", False, "128x128", "sm75"),
    Case("volta_dgemm_64x64_nn", "cuBLAS", "gemm", "fp64", False, "64x64"),
    Case("volta_hgemm_128x64_nn", "cuBLAS", "gemm", "fp16", False),
    Case("ampere_gcgemm_64x64_nt", "cuBLAS", "gemm", "complex64", False),
    Case(
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_warpsize1x4x1_ffma_aligna4_"
        "alignc4_execute_kernel__5x_cublas",
        "cuBLAS", "gemm", "fp32", False, "64x256x8", "sm80",
    ),
    Case(
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>"
        "(cutlass_80_simt_sgemm_128x32_8x5_nn_align1::Params)",
        "CUTLASS", "gemm", "fp32", False, "128x32x8", "sm80",
    ),
    Case(
        "cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x64x16_1x1x1_3_tnn_align1_bias_f32_relu",
        "CUTLASS", "gemm", "fp32", False, "128x64x16", "sm100",
    ),
    Case(
        "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 4, 4, true, cublasGemvTensorStridedBatched<"
        "float const>, cublasGemvTensorStridedBatched<float const> >(int)",
        "cuBLAS", "gemm", "fp32", False,
    ),
    Case("void magma_sgemmEx_kernel<float, float, float, true, false, 6, 4, 6, 3, 4>(int, int)",
         "cuBLAS", "gemm", "fp32"),
    Case("void magma_lds128_sgemm_kernel<float, false, true>(int)", "cuBLAS", "gemm", "fp32"),
    Case("magmablas_dgemm_batched_kernel(int)", "MAGMA", "gemm"),
    Case("std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, "
         "float, false, cublasGemvParamsEx<int> >(int)", "cuBLAS", "gemv", "fp32"),
    Case("void ger_kernel<float, cublasGerParams<float> >(cublasGerParams<float>)", "cuBLAS",
         "unknown"),
    Case("void splitk_reduce_kernel<16, 64>(float*)", "unknown", "reduce"),
    # TF32.
    Case(
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1>"
        "(cutlass_80_tensorop_s1688gemm_256x64_16x4_tn_align1::Params)",
        "CUTLASS", "gemm", "tf32", True, "256x64x16", "sm80",
    ),
    Case(
        "void cutlass::Kernel<cutlass_80_tensorop_s1688tf32gemm_128x128_32x3_nn_align4>(int)",
        "CUTLASS", "gemm", "tf32", True, "128x128x32", "sm80",
    ),
    Case(
        "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x64x32_stage3_warpsize2x2x1_"
        "tensor16x8x8_execute_kernel__5x_cublas",
        "cuBLAS", "gemm", "tf32", True, "128x64x32", "sm80",
    ),
    Case(
        "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "cuBLAS", "gemm", "tf32", True, "128x128x32", "sm90",
    ),
    Case("ampere_s1688gemm_tf32_128x64_ldg4_stages_16x5_nn", "cuBLAS", "gemm", "tf32", True),
    # Half-width types.
    Case("volta_fp16_s884gemm_fp16_256x128_ldg8_f2f_nn", "cuBLAS", "gemm", "fp16", True, "256x128"),
    Case("volta_h884gemm_64x64_ldg8_nn", "cuBLAS", "gemm", "fp16", True, "64x64", "sm70"),
    Case("turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "cuBLAS", "gemm", "fp16", True),
    Case("turing_h1688gemm_128x128_ldg8_stages_32x1_tn", "cuBLAS", "gemm", "fp16", True),
    Case("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "cuBLAS", "gemm", "bf16",
         True, "128x64x64", "sm80"),
    Case("ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn", "cuBLAS", "gemm",
         "fp16", True, "64x64x64"),
    Case("ampere_h16816gemm_256x128_ldg8_stages_32x3_nn", "cuBLAS", "gemm", "fp16", True),
    Case("turing_int8_i8816gemm_int8_128x128_ldg16_relu_stages_64x1_tn", "cuBLAS", "gemm", "int8",
         True),
    Case(
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8>"
        "(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8::Params)",
        "CUTLASS", "gemm", "bf16", True, "128x64x64", "sm80",
    ),
    Case(
        "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>"
        "(int)",
        "CUTLASS", "gemm", "bf16", True, "32x32x128", "sm80",
    ),
    Case("void cutlass::Kernel<cutlass_75_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_nn_align8>(int)",
         "CUTLASS", "gemm", "fp16", True, "32x32x64", "sm75"),
    Case("cutlass_80_tensorop_d884gemm_64x32_16x4_nt_align1", "CUTLASS", "gemm", "fp64", True),
    Case("cutlass_80_tensorop_h16816gemm_128x128_32x4_nn_align8", "CUTLASS", "gemm", "fp16", True),
    Case(
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
        "segment_k_off_kernel__5x_cublas",
        "cuBLAS", "gemm", "bf16", True, "128x128x64", "sm90",
    ),
    Case(
        "sm90_xmma_gemm_f16f16_f16f32_f32_nt_n_tilesize64x128x64_warpgroupsize1x1x1_bias_f16_"
        "execute_segment_k_off_kernel__5x_cublas",
        "cuBLAS", "gemm", "fp16", True, "64x128x64",
    ),
    Case(
        "sm89_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_stage3_warpsize2x2x1_"
        "tensor16x8x32_execute_kernel__5x_cublas",
        "cuBLAS", "gemm", "fp8", True, "128x128x64", "sm89",
    ),
    Case(
        "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize256x64x64_stage4_warpsize4x1x1_tensor16x8x32_"
        "execute_kernel_cublas",
        "cuBLAS", "gemm", "int8", True,
    ),
    Case("nvjet_tst_64x8_64x16_4x1_v_bz_TNT", "cuBLAS", "gemm", "bf16", True, "64x8x64"),
    Case("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "cuBLAS", "gemm", "bf16", True),
    Case("nvjet_tss_64x8_64x16_2x1_v_bz_splitK_TNT", "cuBLAS", "gemm", "bf16", True),
    Case("nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NNT", "cuBLAS", "gemm", "fp16", True, "256x128x64"),
    Case("nvjet_hss_128x160_64x5_2x1_v_bz_TNN", "cuBLAS", "gemm", "fp16", True),
    Case("nvjet_sm100_tst_256x128_64x5_2x2_2cta_h_bz_TNT", "cuBLAS", "gemm", "bf16", True,
         "256x128x64", "sm100"),
    Case("nvjet_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT", "cuBLAS", "gemm", "fp8", True, "128x256x128"),
    Case("nvjet_qqtst_128x256_128x6_2x2_2cta_h_bz_Avec32UE8M0_Bvec32UE8M0_TNT", "cuBLAS", "gemm",
         "fp8", True),
    Case("nvjet_sm100_ootst_128x256_256x5_2x1_2cta_v_bz_Avec16UE4M3_Bvec16UE4M3_TNT", "cuBLAS",
         "gemm", "fp4", True),
    Case("nvjet_sss_128x128_32x4_1x1_v_bz_TNN", "cuBLAS", "gemm", None, None),
    Case(
        "cutlass3x_sm90_tensorop_s64x128x16gemm_f16_f16_f32_f16_f16_128x128x64_2x1x1_0_ttt_align8_"
        "warpspecialized_pingpong_epi_tma",
        "CUTLASS", "gemm", "fp16", True, "128x128x64", "sm90",
    ),
    Case(
        "cutlass3x_sm90_tensorop_s64x128x32gemm_e4m3_e4m3_f32_bf16_bf16_64x128x128_2x1x1_0_tnt_"
        "align16_warpspecialized_epi_nosmem",
        "CUTLASS", "gemm", "fp8", True, "64x128x128", "sm90",
    ),
    Case("cutlass3x_sm100_tensorop_s128x128x8tf32gemm_f32_f32_f32_f32_f32_128x128x32_1x1x1_0_tnn_"
         "align4_1sm", "CUTLASS", "gemm", "tf32", True, None, "sm100"),
    Case(GEMM3, "CUTLASS", "gemm", "bf16", True, "128x128x64", "sm90"),
    Case(GEMM3_MANGLED, "CUTLASS", "gemm", None, True, None, "sm90"),
    Case(
        "void cutlass::Kernel<cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::threadblock::Mma"
        "Multistage<cutlass::gemm::GemmShape<128, 128, 32>, cutlass::half_t, cutlass::gemm::warp::"
        "MmaTensorOp<cutlass::gemm::GemmShape<64, 64, 32> > > > >(int)",
        "CUTLASS", "gemm", "fp16", True, "128x128x32",
    ),
    # Vector products, split-K, epilogues.
    Case("void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false, false, "
         "cublasGemvParamsEx<int> >(int)", "cuBLAS", "gemv", "fp32", False),
    Case("void gemvNSP_kernel<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float, 1, 32, 4, 1024, "
         "cublasGemvParams<int> >(int)", "cuBLAS", "gemv", "bf16", False),
    Case("void gemv2N_kernel<int, int, __half, __half, __half, float, 128, 1, 4, 4, 1, false, "
         "cublasGemvParamsEx<int> >(int)", "cuBLAS", "gemv", "fp16", False),
    Case("void splitKreduce_kernel<32, 16, int, float, __nv_bfloat16, float, __nv_bfloat16, true, "
         "true, false>(cublasSplitKParams<float>, float const*)", "cuBLAS", "reduce"),
    Case("void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, "
         "false>(cublasLt::cublasSplitKParams<float>)", "cuBLAS", "reduce"),
    Case("void cutlass::device_kernel<vllm::cutlass_3x_gemm_fp8_blockwise<cutlass::bfloat16_t, 1, 128, "
         "128> >(int)", "CUTLASS", "gemm", "fp8"),
    Case("void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>, int> >(int)",
         "cuBLAS", "reduce", "fp32"),
    # Tensile.
    Case(
        "Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs_MT32x32x64_MI16x16x1_SN_LDSB0_AFC1_ISA90a_IU1",
        "Tensile", "gemm", "bf16", True, "32x32x64", "gfx90a",
    ),
    Case("Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_ISA942_IU1",
         "Tensile", "gemm", "bf16", True, "256x128x64", "gfx942"),
    Case("Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE_1LDSB0", "Tensile", "gemm", "fp16",
         True, "128x128x32"),
    Case("Cijk_Ailk_Bljk_SB_MT64x64x16_MI16x16x4x1_SN_1LDSB0", "Tensile", "gemm", "fp32", True),
    Case("Cijk_Ailk_Bljk_SB_MT128x64x8_SE_K1_TT8_4_WG16_16_1", "Tensile", "gemm", "fp32", False),
    Case("Cijk_Ailk_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT128x128x16_MI16x16x1_SN_ISA942", "Tensile",
         "gemm", "tf32", True),
    Case("Cijk_Ailk_Bljk_DB_MT64x64x16_MI16x16x4x1_SN", "Tensile", "gemm", "fp64", True),
    Case("Cijk_Alik_Bljk_F8BS_BH_Bias_HA_S_SAB_SCD_UserArgs_MT256x256x128_MI16x16x1_SN_ISA942",
         "Tensile", "gemm", "fp8", True),
    Case("Cijk_Alik_Bljk_I8II_BH_MT128x128x64_MI32x32x16x1", "Tensile", "gemm", "int8", True),
    Case("Custom_Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1_UserArgs_shortname0_gfx950", "Tensile",
         "gemm", "bf16", True, "256x256x64", "gfx950"),
    Case("Custom_Cijk_Ailk_Bljk_F8H_HHS_BH_MT128x16x128_MI16x16x1_Freesize_10_gfx942", "Tensile",
         "gemm", None, True),
    Case("Cijk_Alik_Bljk_HSS_BH_GB_MT64x64x32_MI16x16x16x1", "Tensile", "gemm", "fp16", True),
    # Products of narrow types.
    Case("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u, 4096u, 7168u, 1u, 128u, 128u, 128u>(float*)",
         "DeepGEMM", "gemm", "fp8", True, None, "sm90"),
    Case("void deep_gemm::sm100_fp8_fp4_gemm_1d1d_impl<1u, 2u>(int)", "DeepGEMM", "gemm", None, True),
    Case("sm90_fp8_gemm_1d2d_impl", "DeepGEMM", "gemm", "fp8", True),
    Case(
        "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_"
        "TN_transOut_schedP2x1x2x3_biasM_bN_tmaOpt_clmp_dynBatch_sm100f",
        "TensorRT-LLM", "gemm", None, True, "128x16x256", "sm100",
    ),
    Case("void marlin::Marlin<__nv_bfloat16, 1125899906909960l, 256, 1, 8, 8, 4>(int4 const*)",
         "Marlin", "gemm", "bf16"),
    Case("void marlin_moe_wna16::Marlin<1125899906909960l, 256>(int4 const*)", "Marlin", "gemm"),
    Case("void gptq_marlin_repack_kernel<256, 4, false>(unsigned int const*)", "Marlin",
         "transpose"),
    Case("kgemm_4bit_inference_naive<__nv_bfloat16, 128, 16>(int, int)", "bitsandbytes", "gemv",
         "bf16"),
    Case("fused_moe_kernel", "Triton", "gemm"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:60])
def test_name_is_read(case: Case) -> None:
    check(case)
