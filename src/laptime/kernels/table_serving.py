"""Kernels of the serving engines: vLLM, SGLang, FlashInfer, TensorRT-LLM, quantised products.

The engines copy each other's kernels. A namespace in the name decides the library. A bare name goes
to an engine only where no other carries it; else a Triton kernel is Triton's (its C++ namesakes
are nobody's, see `laptime.kernels.decoding`) and a C++ kernel's library is unknown.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.names import UNKNOWN
from laptime.kernels.reading import (
    Reading,
    either_way,
    first_floating,
    first_word,
)
from laptime.kernels.rules import Rule

_BMM = re.compile(
    r"(?:bmm|gemm)_(?P<d>\w+?)_(?P<a>[A-Z]\w*?)_(?P<acc>Fp32|Fp16)_t(?P<tile>\d+x\d+x\d+)"
)
_SM = re.compile(r"sm(\d+)[af]?$")


def trtllm_gemm(parts: Parts) -> Reading:
    """`bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_..._sm100f`: output, A and B, sum, tile.

    A (the weights) and B may differ, E2m1 beside E4m3: then there is no one input type."""
    found = _BMM.match(parts.path)
    if found is None:
        return Reading(first_word(parts).dtype)
    types = found["a"].lower()
    seen = {name for word, name in (("e2m1", "fp4"), ("e4m3", "fp8"), ("bfloat16", "bf16"),
                                    ("fp16", "fp16")) if word in types}  # fmt: skip
    arch = _SM.search(parts.path)
    return Reading(
        seen.pop() if len(seen) == 1 else None,
        found["tile"],
        True,
        f"sm{arch[1]}" if arch else None,
    )


def deep_gemm(parts: Parts) -> Reading:
    """`deep_gemm::sm90_fp8_gemm_1d2d_impl<...>`; fp8_fp4 products have two input types."""
    base = parts.path.rsplit("::", 1)[-1]
    arch = re.match(r"sm\d+", base)
    word = re.match(r"sm\d+_(?:m_grouped_)?(fp8_fp4|fp8|bf16|tf32|fp4)", base)
    words = {"fp8": "fp8", "bf16": "bf16", "tf32": "tf32", "fp4": "fp4"}
    if "transpose" in base or "layout" in base or "pack" in base:
        return Reading(operation="transpose")
    if "mqa_logits" in base:
        operation = "setup" if "metadata" in base else "gemm"
        return Reading(words.get(word[1]) if word else None, None, None,
                       arch[0] if arch else None, operation)  # fmt: skip
    if "gemm" not in base and "bmk" not in base and "bhr" not in base:
        return Reading(operation="unknown")
    return Reading(words.get(word[1]) if word else None, None, True, arch[0] if arch else None)


def deepseek(parts: Parts) -> Reading:
    """The three kernels of DeepSeek's published inference code, which many copied."""
    words = {"fp8_gemm_kernel": "gemm", "weight_dequant_kernel": "dequantize"}
    return Reading(operation=words.get(parts.path.rsplit("::", 1)[-1], "quantize"))


def cute_dsl(parts: Parts) -> Reading:
    """`kernel_cutlass_kernel_<module><class>_object_at_...`: kernels written in the CuTe DSL."""
    text = parts.path.lower()
    library = "FlashInfer" if "flashinfer" in text[:60] else None
    operation = "unknown"
    if "attention" in text or "fmha" in text or "mla" in text:
        back = "backward" in text or "bwd" in text
        operation = "attention_backward" if back else "attention"
    elif "norm" in text:
        operation = "norm"
    elif "gemm" in text:
        operation = "gemm"
    return Reading(operation=operation, library=library)


def _engine(patterns: str, operation: str) -> tuple[Rule, ...]:
    """The same kernel in the namespaces of vLLM and SGLang."""
    return tuple(
        Rule(namespace + r"::(?:\w+::)*(?:" + patterns + ")", library, operation, first_floating)
        for namespace, library in (
            (r"vllm", "vLLM"),
            (r"(?:sglang|sgl_hip|sgl_kernel|sgl)", "SGLang"),
        )
    )


_TRT = r"(?:tensorrt_llm|moe::dev|batchedGemm|trtllm)::(?:\w+::)*"

PATH = (
    *_engine(r"(?:\w*fused_?add_?)?\w*(?:rms_?norm|layer_?norm|qk_norm|RMSNorm)\w*", "norm"),
    *_engine(r"\w*(?:rotary|[rR]ope)\w*", "rope"),
    *_engine(
        r"\w*(?:reshape_and_cache|copy_blocks|swap_blocks|concat_and_cache|gather_\w*cache|"
        r"kv_?cache|indexer_k_\w+|cp_gather\w*|store_cache|transfer_kernel\w*)\w*",
        "kv_cache",
    ),
    *_engine(r"\w*(?:dequantize|dequant)\w*", "dequantize"),
    *_engine(r"\w*(?:act_and_mul|activation_kernel|silu|gelu|swiglu)(?!\w*quant)\w*", "activation"),
    *_engine(r"\w*(?:quant)\w*", "quantize"),
    *_engine(
        r"\w*(?:moe_align|moe_sum|topk_?[gG]at\w*|topkGating\w*|topk_?[sS]oftmax|moeTopK|"
        r"moeSoftmax|moe_fused_gate|grouped_topk|count_and_sort|dsv4HashTopk|"
        r"topk_?[sS]igmoid|shuffle_rows|permute|sgl_moe|"
        r"expandInput|finalizeMoe|router_gemm_output)\w*",
        "moe_routing",
    ),
    *_engine(
        r"\w*(?:apply_repetition|sampl|speculative|verify_tree|build_tree|top_?p)\w*", "sampling"
    ),
    *_engine(r"\w*(?:marlin_repack|permute_cols)\w*", "transpose"),
    *_engine(r"\w*(?:gemm|Gemm|GEMM|marlin|Marlin|gemv|skinny|mmq|mul_mat|wvSplitK)\w*", "gemm"),
    *_engine(r"\w*(?:topk|top_k)\w*", "topk"),
    *_engine(r"\w*(?:selective_scan|causal_conv1d)\w*", "ssm"),
    Rule(r"vllm::", "vLLM", "unknown"),
    Rule(r"(?:sglang|sgl_hip|sgl_kernel|sgl)::", "SGLang", "unknown"),
    Rule(
        r"flashinfer::norm::|flashinfer::(?:\w+::)*\w*(?:RMSNorm|LayerNorm|rmsnorm)\w*",
        "FlashInfer",
        "norm",
        first_floating,
    ),
    Rule(r"flashinfer::(?:\w+::)*\w*(?:Rotary|Rope|RoPE)\w*", "FlashInfer", "rope", first_floating),
    Rule(
        r"flashinfer::sampling::|flashinfer::(?:\w+::)*\w*(?:Sampling|TopPRenorm|TopKRenorm|"
        r"TopKMask|ChainSpeculative)\w*",
        "FlashInfer",
        "sampling",
        first_floating,
    ),
    Rule(
        r"flashinfer::activation::|flashinfer::(?:\w+::)*act_and_mul\w*",
        "FlashInfer",
        "activation",
        first_floating,
    ),
    Rule(
        r"flashinfer::(?:\w+::)*(?:AppendPagedKV|\w*PagedKVCache\w*|\w*append_paged)\w*",
        "FlashInfer",
        "kv_cache",
        first_floating,
    ),
    Rule(r"flashinfer::(?:\w+::)*\w*(?:[qQ]uant)\w*", "FlashInfer", "quantize", first_floating),
    Rule(r"flashinfer::(?:\w+::)*\w*(?:gemm|Gemm|bmm)\w*", "FlashInfer", "gemm"),
    Rule(r"flashinfer::(?:\w+::)*\w*(?:RadixTopK|topk|TopK)\w*", "FlashInfer", "topk"),
    Rule(r"flashinfer::", "FlashInfer", "unknown"),
    Rule(
        _TRT + r"(?:finalize|routing|activation|permute)::\w*(?:activation)\w*",
        "TensorRT-LLM",
        "activation",
    ),
    Rule(
        _TRT + r"\w*(?:routing|finalize|expandInput|permute|ExpertPrefixSum|BuildExpert|"
        r"buildExpertMaps|deepseek_v3_topk|topk_kernel|moeTopK|customMoeRouting|mergeExpert|"
        r"computeStrides|computeExpert)\w*",
        "TensorRT-LLM",
        "moe_routing",
    ),
    Rule(
        _TRT + r"\w*(?:doActivation|doGatedActivation|activation)\w*",
        "TensorRT-LLM",
        "activation",
        first_floating,
    ),
    Rule(
        _TRT + r"\w*(?:quantize|[qQ]uant|block_scale_interleave|scale_1x128|convertDeepSeek)\w*",
        "TensorRT-LLM",
        "quantize",
    ),
    Rule(_TRT + r"\w*(?:[nN]orm)\w*", "TensorRT-LLM", "norm", first_floating),
    Rule(_TRT + r"\w*(?:[rR]ope|[rR]otary)\w*", "TensorRT-LLM", "rope", first_floating),
    Rule(
        _TRT + r"\w*(?:gemm|Gemm|fpA_intB|weight_only)\w*", "TensorRT-LLM", "gemm", first_floating
    ),
    Rule(_TRT + r"\w*(?:gemv)\w*", "TensorRT-LLM", "gemv", first_floating),
    Rule(_TRT + r"\w*(?:[tT]op_?[kK]|[sS]ampl|[bB]eam)\w*", "TensorRT-LLM", "sampling"),
    Rule(r"(?:tensorrt_llm|moe::dev)::", "TensorRT-LLM", "unknown"),
    Rule(r"deep_gemm::", "DeepGEMM", "gemm", deep_gemm),
    Rule(
        r"(?:marlin\w*|gptq_marlin)::(?:\w+::)*(?:\w*repack|permute_cols)\w*",
        "Marlin",
        "transpose",
    ),
    Rule(
        r"(?:marlin\w*|gptq_marlin)::(?:\w+::)*\w*(?:Marlin|marlin|gemm)\w*",
        "Marlin",
        "gemm",
        first_floating,
    ),
    Rule(r"(?:marlin\w*|gptq_marlin)::", "Marlin", "unknown"),
    Rule(r"machete::(?:\w+::)*\w*prepack\w*", "vLLM", "transpose"),
    Rule(r"machete::", "vLLM", "gemm", first_floating),
    Rule(r"(?:gptq|awq|exllama\w*)::(?:\w+::)*\w*(?:gemm|matmul|q4)\w*", "GPTQ/AWQ", "gemm"),
    Rule(r"(?:gptq|awq)::(?:\w+::)*\w*(?:dequant|reconstruct)\w*", "GPTQ/AWQ", "dequantize"),
)

BASE = (
    Rule(r"kernel_cutlass_\w*", "CUTLASS", "unknown", cute_dsl),
    Rule(
        r"sm(?:90|100|120)_(?:m_grouped_)?(?:fp8|bf16|tf32|fp4)_\w*(?:gemm|mqa_logits|bmk|bhr)\w*|"
        r"fp8_gemm_kernel_swapAB\b",
        "DeepGEMM",
        "gemm",
        deep_gemm,
    ),
    Rule(r"(?:fp8_gemm|weight_dequant|act_quant)_kernel\b", "Triton", UNKNOWN, deepseek),
    Rule(
        r"(?:transpose_and_pack_fp32\w*|pack_fp32_into_ue8m0)\b",
        "DeepGEMM",
        "transpose",
    ),
    Rule(
        r"(?:bmm|gemm)_(?:Mx)?(?:Bfloat16|E4m3|E2m1|Fp16|MxE4m3|MxE2m1|Fp32)_\w+",
        "TensorRT-LLM",
        "gemm",
        trtllm_gemm,
    ),
    Rule(r"routingIndices\w+|routingMain\w*|routingCustom\w*", "TensorRT-LLM", "moe_routing"),
    Rule(r"fused_a_gemm_kernel|router_gemm_kernel\w*|dsv3_\w*gemm\w*", UNKNOWN, "gemm"),
    # Mixture of experts.
    Rule(
        r"fused_moe_kernel\w*|_?fused_moe_(?:kernel|lora)\w*|invoke_fused_moe\w*",
        "Triton",
        "gemm",
        first_word,
    ),
    Rule(
        r"(?:topkGatingSoftmax|topkGating|moeSoftmax|moeTopK|topk_softmax|topkGatingSigmoid)\w*|"
        r"moe_align_block_size\w*|shuffleRows\w*|moe_sum_kernel|"
        r"compute_(?:problem_sizes|expert_offsets|arg_sorts)\w*|expandInputRows\w*|"
        r"finalizeMoeRouting\w*|moe_sum_reduce\w*|moe_fused_gate\w*|count_and_sort_expert_tokens\w*",
        UNKNOWN,
        "moe_routing",
    ),
    Rule(
        r"_?ep_(?:scatter|gather)\w*|_fwd_kernel_ep_(?:scatter|gather)\w*|_?count_expert_\w+|"
        r"_moe_sum_reduce_\w+",
        "Triton",
        "moe_routing",
    ),
    Rule(
        r"(?:deepgemm_)?compute_(?:seg_indptr|src2dst|masked_m)\w*|"
        r"(?:pre|post)_reorder_\w*kernel",
        "SGLang",
        "moe_routing",
    ),
    Rule(
        r"_sort_chunks_by_\w*|_row_id_map_pass_\w*|_make_chunk_sort_map\w*|"
        r"_(?:un)?permute_kernel\w*",
        "Triton",
        "moe_routing",
    ),
    # Normalisation, activation, rotary embedding, cache.
    Rule(
        r"fused_add_rms_norm\w*|rms_norm_\w*quant\w*|(?:FusedAdd|Gemma)?RMSNorm(?:Quant)?Kernel\w*|"
        r"rms_?norm_kernel\w*|layer_?norm_kernel\b",
        UNKNOWN,
        "norm",
        first_floating,
    ),
    Rule(
        r"(?:batched_)?rotary_embedding_kernel\w*|apply_rotary_\w*|mrope_kernel\w*",
        UNKNOWN,
        "rope",
        first_floating,
    ),
    Rule(r"BatchQKApplyRotary\w*", "FlashInfer", "rope", first_floating),
    Rule(
        r"act_and_mul_kernel\w*|silu_and_mul\w*|gelu_and_mul\w*",
        UNKNOWN,
        "activation",
        first_floating,
    ),
    Rule(
        r"reshape_and_cache\w*|copy_blocks_kernel\w*|concat_and_cache_\w+|gather_cache\w*|"
        r"_reshape_and_cache_kernel\w*",
        UNKNOWN,
        "kv_cache",
        first_floating,
    ),
    Rule(
        r"store_kv_?cache\w*|set_mla_kv_buffer\w*|set_kv_buffer\w*|create_flashinfer_kv_indices\w*|"
        r"_copy_page_indices_kernel|get_num_kv_splits\w*|write_req_to_token_pool\w*|"
        r"alloc_(?:extend|decode)_kernel|create_flashmla_kv\w*|copy_all_layer_kv_cache\w*|"
        r"_set_k_and_s_triton_kernel|_get_k_and_s_\w+|transfer_kernel_impl",
        "SGLang",
        "kv_cache",
    ),
    Rule(
        r"resolve_future_token_ids\w*|clamp_position\w*|compute_position_kernel",
        "SGLang",
        "elementwise",
    ),
    # Quantisation.
    Rule(
        r"(?:_silu_and_mul_post_quant|sgl_per_token)\w*",
        "SGLang",
        "quantize",
        first_floating,
    ),
    Rule(
        r"(?:_per_token_(?:group_)?quant|_per_tensor_quant|_quantize_\w*fp8|_quant_fp8|_act_quant)\w*",
        "Triton",
        "quantize",
    ),
    Rule(
        r"(?:per_token_(?:group_)?quant|dynamic_per_token_scaled|scaled_fp8_quant|scaled_int8_quant|"
        r"segmented_max_reduction|dynamic_scaled_int8|static_scaled_int8|cvt_fp16_to_fp[48]|"
        r"per_tensor_quant|quantize_\w*fp8|quant_fp8|silu_mul_quant|act_quant|block_quant)\w*",
        UNKNOWN,
        "quantize",
        first_floating,
    ),
    Rule(
        r"_?w8a8_(?:triton_)?block_\w*(?:matmul|fp8)\w*|_w8a8_block\w*|scaled_mm_kernel\w*|"
        r"_scaled_mm\w*|_?block_scaled_matmul\w*",
        "Triton",
        "gemm",
    ),
    Rule(
        r"(?:gemm_forward_4bit_cuda|gemm_half_q_half|gemm_half_q_half_gptq|awq_gemm_kernel|"
        r"q4_matmul|VecQuant\dMatMul)\w*",
        "GPTQ/AWQ",
        "gemm",
    ),
    Rule(r"Marlin(?:_24|MoE)?\b|fp8_marlin\w*", "Marlin", "gemm", first_floating),
    Rule(
        r"(?:dequantize_weights|awq_dequantize_kernel|reconstruct_\w*kernel|reconstruct_gptq)\w*",
        "GPTQ/AWQ",
        "dequantize",
    ),
    Rule(
        r"(?:gptq|awq)_marlin\w*_repack\w*",
        "Marlin",
        "transpose",
    ),
    Rule(r"permute_cols_kernel\w*", UNKNOWN, "transpose"),
    Rule(r"(?:gemv_forward_cuda|gemv_kernel_g\d+|gemvr?_\w*4bit\w*)", "GPTQ/AWQ", "gemv"),
    # LoRA, sampling.
    Rule(
        r"_lora_(?:shrink|expand)_kernel\w*|_s?b?gmv_(?:shrink|expand)\w*",
        "vLLM",
        "gemm",
    ),
    Rule(r"s?b?gmv_(?:shrink|expand)\w*", UNKNOWN, "gemm"),
    Rule(
        r"(?:TopKTopP|TopP|TopK|MinP)?SamplingFromProb\w*|(?:TopP|TopK)Renorm\w*|"
        r"(?:radix)?TopK(?:Renorm|Mask)\w*",
        "FlashInfer",
        "sampling",
        first_floating,
    ),
    Rule(
        r"rejection_\w*sampl\w*kernel|sample_recovered_tokens_kernel|_gumbel_sample\w*|"
        r"_temperature_kernel|eagle_prepare_\w+",
        "vLLM",
        "sampling",
    ),
    Rule(r"apply_repetition_penalties\w*", UNKNOWN, "sampling"),
    Rule(r"build_tree_\w+|VerifyTreeGreedy\w*|verify_tree\w*", "SGLang", "sampling"),
    # Skinny products of vLLM on ROCm.
    Rule(r"wvSplitK\w*|LLGemm\w*|LLMM1\w*", "vLLM", "gemm", first_floating),
    # llama.cpp.
    Rule(r"mul_mat_(?:vec_)?(?:q|f|id)\b\w*|mul_mat_q\w*", "llama.cpp", "gemm"),
    Rule(r"flash_attn_(?:ext|tile_ext|vec_ext|combine)\w*", "llama.cpp", "attention"),
    Rule(r"quantize_q8_1\w*|quantize_mmq_\w+", "llama.cpp", "quantize"),
    Rule(r"dequantize_block_?\w*", "llama.cpp", "dequantize"),
    Rule(r"rope_(?:neox|norm|multi)\b", "llama.cpp", "rope"),
    Rule(r"rms_norm_f32\w*|norm_f32\w*", "llama.cpp", "norm"),
    Rule(r"soft_max_(?:back_)?f32\w*", "llama.cpp", "softmax", either_way("softmax")),
    Rule(r"k_bin_bcast\w*", "llama.cpp", "elementwise"),
)
