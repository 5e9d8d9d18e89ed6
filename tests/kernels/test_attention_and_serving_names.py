"""Attention in its many libraries, and the kernels of serving engines."""

# ruff: noqa: E501 (literal names)

from __future__ import annotations

import pytest

from tests.kernels.reading_table import Case, check

FLASH3 = (
    "void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::Collective"
    "MainloopFwdSm90<2, cute::tuple<cute::C<1>, cute::C<1>, cute::C<1> >, cute::tuple<cute::C<128>, "
    "cute::C<176>, cute::C<128> >, 128, cutlass::bfloat16_t, float, cutlass::arch::Sm90, false> > > >"
    "(flash::Params)"
)
FLASH3_MANGLED = (
    "_ZN7cutlass13device_kernelIN5flash11enable_sm90INS1_16FlashAttnBwdSm90INS1_25CollectiveMainloopBwd"
    "Sm90ILi2ELi2ELi2EN4cute5tupleIJNS5_1CILi1EEES8_S8_EEENS_10bfloat16_tEfNS_4arch4Sm90ELb1ELb0"
)

CASES = [
    Case("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, "
         "false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4> >, "
         "false, true>(pytorch_flash::Flash_fwd_params)", "FlashAttention", "attention", "bf16", True,
         "128x128x64"),
    Case("void flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128, (int)64, (int)4, (bool)0, "
         "(bool)0, cutlass::half_t> >(Flash_fwd_params)", "FlashAttention", "attention", "fp16", True,
         "128x64x128"),
    Case("void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, "
         "cutlass::bfloat16_t> >(flash::Flash_fwd_params)", "FlashAttention", "attention", "bf16", True),
    Case("void flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<128, 64, 128, 8, 2, "
         "4, 2, false, false, cutlass::bfloat16_t> >(Flash_bwd_params)", "FlashAttention",
         "attention_backward", "bf16", True),
    Case("void flash_bwd_dot_do_o_kernel<true, Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, "
         "false, cutlass::half_t> >(Flash_bwd_params)", "FlashAttention", "attention_backward", "fp16"),
    Case("_Z16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi128ELi64ELi4ELb0ELb0EN7cutlass10bfloat"
         "16_tE19Flash_kernel_traitsILi128ELi128ELi64ELi4ES2_EELb0EEv16Flash_fwd_params",
         "FlashAttention", "attention", "bf16", True),
    Case("void fmha_fprop_fp16_sm80_loop_kernel<FMHA_kernel_traits<128, 64>, true>(int)",
         "FlashAttention", "attention", "fp16", True),
    Case(FLASH3, "FlashAttention", "attention", "bf16", True, None, "sm90"),
    Case(FLASH3_MANGLED, "FlashAttention", "attention_backward", "bf16", True, None, "sm90"),
    Case("void flash::prepare_varlen_num_blocks_kernel<1, true>(int)", "FlashAttention", "setup"),
    Case("fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
         "xFormers", "attention", "bf16", True, "64x64", "sm80"),
    Case("fmha_cutlassF_f32_aligned_64x64_rf_sm80(PyTorchMemEffAttention::Params)", "xFormers",
         "attention", "fp32", None, "64x64"),
    Case("fmha_cutlassB_f16_aligned_64x64_k64_dropout_sm80(int)", "xFormers", "attention_backward",
         "fp16", True),
    Case("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
         "TensorRT-LLM", "attention", "fp8", True, None, "sm100"),
    Case("void flashinfer::BatchDecodeWithPagedKVCacheKernel<(flashinfer::PosEncodingMode)0, 2u, 4u, "
         "8u, __nv_bfloat16>(int)", "FlashInfer", "attention", "bf16"),
    Case("void flashinfer::BatchPrefillWithPagedKVCacheKernel<flashinfer::KernelTraits<1>, int>(int)",
         "FlashInfer", "attention"),
    Case("void flashinfer::PersistentVariableLengthMergeStatesKernel<8u, 16u, 8u, 4u, float, "
         "__nv_bfloat16, int>(float*)", "FlashInfer", "attention", "fp32"),
    Case("void vllm::paged_attention_v1_kernel<unsigned short, unsigned short, 128, 16, 128>(int)",
         "vLLM", "attention"),
    Case("void paged_attention_ll4mi_QKV_mfma16_kernel<0, __hip_bfloat16, __hip_bfloat16, (vllm::Fp8KV"
         "CacheDataType)0, 1, 128, 256>(int)", "vLLM", "attention", "bf16"),
    Case("kernel_unified_attention_2d", "Triton", "attention"),
    Case("_fwd_grouped_kernel_stage1", "Triton", "attention"),
    Case("attn_fwd", "Triton", "attention"),
    Case("bwd_kernel_dk_dv", "Triton", "attention_backward"),
    Case("_ZN5aiter30fmha_fwd_hd128_bf16_rtna_groupE.kd", "AITER", "attention", "bf16"),
    Case("aiter::fmha_bwd_hd128_bf16_causal_a32_rtz_psskddv", "AITER", "attention_backward", "bf16"),
    Case("_ZN5aiter32mla_a16w16_qh16_m16x4_n16x1_coexE.kd", "AITER", "attention"),
    Case("void ck_tile::kentry<1, ck_tile::FmhaFwdKernel<ck_tile::BlockFmhaPipelineQRKSVSAsync<int>, "
         "int> >(int)", "CK", "attention"),
    Case("void ck_tile::kentry<1, ck_tile::FmhaBwdDQDKDVKernel<int> >(int)", "CK",
         "attention_backward"),
    Case("void cutlass::device_kernel<cutlass::fmha::kernel::Sm100FmhaFwdKernelTmaWarpspecialized<cute"
         "::tuple<int> > >(int)", "CUTLASS", "attention", None, True, None, "sm100"),
    Case("void flash_fwd_splitkv_combine_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, "
         "cutlass::bfloat16_t>, 4, 1, true>(Flash_fwd_params)", "FlashAttention", "attention", "bf16"),
    Case("kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object_at__",
         "FlashAttention", "attention"),
    Case("_ZN5aiter31pa_bf16_pertokenFp8_gqa8_2tg_4wE.kd", "AITER", "attention"),
    # Norm, rope, cache, activation.
    Case("void vllm::rms_norm_kernel<c10::BFloat16, 8, 2>(c10::BFloat16*, c10::BFloat16 const*)",
         "vLLM", "norm", "bf16"),
    Case("std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, void>::type vllm::"
         "fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*, long)", "vLLM", "norm", "bf16"),
    Case("void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*)",
         "FlashInfer", "norm", "bf16"),
    Case("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_", "AITER",
         "norm", "bf16"),
    Case("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwd"
         "PipelineProblemIDF16bDF16bfDF16b", "CK", "norm", "bf16"),
    Case("void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "vLLM", "rope", "bf16"),
    Case("void flashinfer::BatchQKApplyRotaryPosIdsCosSinCacheKernel<false, 128u, 8u, 16u, __half>(int)",
         "FlashInfer", "rope", "fp16"),
    Case("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, unsigned char, (vllm::Fp8KVCacheData"
         "Type)1>(int)", "vLLM", "kv_cache", "bf16"),
    Case("void (anonymous namespace)::store_kvcache<2048l, 4, false, long>(int)", "SGLang", "kv_cache"),
    Case("create_flashinfer_kv_indices_triton", "SGLang", "kv_cache"),
    Case("void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel, true>(c10::BFloat16*)",
         "vLLM", "activation", "bf16"),
    Case("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_"
         "S5_EEEEvPS3_", "SGLang", "activation", "bf16"),
    Case("_gemm_a8w8_blockscale_kernel_BLOCK_SIZE_M_64", "AITER", "gemm"),
    Case("_gemm_afp4wfp4_kernel", "AITER", "gemm"),
    Case("_batched_gemm_a8wfp4_kernel", "AITER", "gemm"),
    Case("void wvSplitK_hf_sml_<__hip_bfloat16, 64, 2, 16, 8, 2, 1>(int)", "vLLM", "gemm", "bf16"),
    Case("void mul_mat_vec_q<(ggml_type)2, 1, false>(void const*)", "llama.cpp", "gemm"),
    Case("rms_norm_kernel", "unknown", "norm"),
    # Mixture of experts, sampling, quantisation.
    Case("_fwd_kernel_ep_scatter_2", "Triton", "moe_routing"),
    Case("void vllm::moe::topkGatingSoftmax<8, 128, 4, 16, 32, int, __nv_bfloat16>(int)", "vLLM",
         "moe_routing", "bf16"),
    Case("void vllm::moe::moe_align_block_size_kernel<int>(int const*)", "vLLM", "moe_routing"),
    Case("void moe::dev::routing::routingRenormalize::routingIndicesHistogramScoresKernel<int>(int)",
         "TensorRT-LLM", "moe_routing"),
    Case("void moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<int> >(int)",
         "TensorRT-LLM", "moe_routing"),
    Case("_combined_routing_compute", "Triton", "moe_routing"),
    Case("_topk_forward", "Triton", "topk"),
    Case("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "Triton", "gemm", "bf16", True,
         "16x128x256"),
    Case("_ZN5aiter47fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256E.kd", "AITER", "gemm", "fp8"),
    Case("void flashinfer::sampling::TopPSamplingFromProbKernel<1024u, float, int>(float*)",
         "FlashInfer", "sampling", "fp32"),
    Case("void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16, c10::Float8_e4m3fn>(int)", "vLLM",
         "quantize", "bf16"),
    Case("void tensorrt_llm::kernels::quantize_with_block_size<(tensorrt_llm::BlockScaleQuantizationType"
         ")2, __nv_bfloat16, 32, true>(int)", "TensorRT-LLM", "quantize"),
    Case("_per_token_group_quant_8bit", "Triton", "quantize"),
    Case("void per_token_group_quant_8bit_kernel<__nv_bfloat16, c10::Float8_e4m3fn>(int)", "unknown",
         "quantize", "bf16"),
    Case("void moe_align_block_size_kernel<int>(int const*)", "unknown", "moe_routing"),
    Case("void act_and_mul_kernel<__nv_bfloat16>(__nv_bfloat16*)", "unknown", "activation", "bf16"),
    Case("void build_tree_efficient(long*)", "SGLang", "sampling"),
    Case("act_quant_kernel", "Triton", "quantize"),
    Case("weight_dequant_kernel", "Triton", "dequantize"),
    Case("void soft_max_back_f32<true, 64>(float const*)", "llama.cpp", "softmax_backward"),
    Case("_Z27kernel_unified_attention_2dPf", "unknown", "attention"),
    Case("void kQuantizeBlockwise<__half, 64, 2, 0, 2>(float*)", "bitsandbytes", "quantize", "fp16"),
    Case("void kDequantizeBlockwise<__nv_bfloat16, 512, 64, 8, 2>(float*)", "bitsandbytes",
         "dequantize", "bf16"),
    # State space, embeddings, Transformer Engine.
    Case("void selective_scan_fwd_kernel<Selective_Scan_fwd_kernel_traits<128, 16, 1, true, c10::BFloat"
         "16, float> >(SSMParamsBase)", "Mamba", "ssm", "bf16"),
    Case("void causal_conv1d_fwd_kernel<Causal_conv1d_fwd_kernel_traits<128, 4, true, c10::Half> >(int)",
         "Mamba", "ssm", "fp16"),
    Case("void split_embedding_codegen_forward_unweighted_kernel<float, float, float, false, long, 1ul, "
         "16ul>(int)", "FBGEMM", "embedding", "fp32"),
    Case("void split_embedding_backward_codegen_rowwise_adagrad_unweighted_kernel_warp_per_row_1<float, "
         "float, float, 1ul, 16>(int)", "FBGEMM", "embedding_backward", "fp32"),
    Case("void fbgemm_gpu::permute_2D_data_kernel<true, int, int, float>(int)", "FBGEMM", "index"),
    Case("void transformer_engine::normalization::rmsnorm_fwd_general_kernel<transformer_engine::"
         "normalization::Kernel_traits<__nv_bfloat16, float> >(int)", "Transformer Engine", "norm",
         "bf16"),
    Case("void transformer_engine::normalization::rmsnorm_bwd_finalize_general_kernel<__half, float>"
         "(int)", "Transformer Engine", "norm_backward", "fp16"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name[:90])
def test_name_is_read(case: Case) -> None:
    check(case)
