"""Attention kernels: FlashAttention 1 to 3, xFormers, FlashInfer, paged attention, TensorRT-LLM.

FlashAttention 3 is a CUTLASS 3 `device_kernel` around `flash::FlashAttnFwdSm90`: the namespace
inside decides. `attention_backward` covers the preparation (dot of dO and O) and conversion of
the gradients. FlashAttention, TRT-LLM fmha and xFormers on half-width types use matrix
instructions; xFormers on fp32 may not, so only half-width names set `tensor_core`.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.reading import Reading, any_word, first_floating, first_word, only_word
from laptime.kernels.rules import Rule

_TILE = re.compile(r"kernel_traits<(\d+), (\d+), (\d+)")


def flash(parts: Parts) -> Reading:
    """`flash_fwd_kernel<Flash_fwd_kernel_traits<head dim, kBlockM, kBlockN, ...>>`; the tile is
    kBlockM x kBlockN x head dimension."""
    found = _TILE.search(parts.args)
    tile = f"{found[2]}x{found[3]}x{found[1]}" if found else None
    dtype = any_word(parts).dtype
    name = parts.path
    operation = "attention_backward" if "bwd" in name or "dgrad" in name else "attention"
    helper = re.search(r"convert|combine|dot_do_o", name)
    core = True if "kernel_traits" in parts.args and not helper else None
    return Reading(dtype, tile, core, None, operation)


_INNER_SM = re.compile(r"arch::Sm(\d+)|Sm(\d+)")


def wrapped_device(parts: Parts) -> Reading:
    """`cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<...>>>`."""
    text = parts.args
    operation = "attention_backward" if re.search(r"Bwd|Backward", text[:160]) else "attention"
    if re.search(r"Combine|Preprocess|Postprocess|PrepareScheduler|prepare_varlen", text[:160]):
        core = None
    else:
        core = True
    dtype = first_floating(parts).dtype
    arch = _INNER_SM.search(text)
    if re.search(r"prepare_varlen|PrepareScheduler", text[:160]):
        operation = "setup"
    library = "FlashAttention" if re.search(r"\bflash::|FlashAtt", text) else None
    name = f"sm{arch[1] or arch[2]}" if arch else None
    return Reading(dtype, None, core, name, operation, library)


_FMHA = re.compile(
    r"fmha_(?:cutlass)?(?P<way>[FB])_(?P<type>f32|f16|bf16)\w*?_(?P<tile>\d+x\d+)\w*?(?:_(?P<arch>sm\d+))?$"
)


def fmha_cutlass(parts: Parts) -> Reading:
    """`fmha_cutlassF_bf16_aligned_64x64_rf_sm80`: F forward, B backward, queries x keys."""
    found = _FMHA.match(parts.path)
    back = parts.path.startswith("fmha_cutlassB")
    operation = "attention_backward" if back else "attention"
    if found is None:
        return Reading(operation=operation, dtype=first_word(parts).dtype)
    dtype = {"f32": "fp32", "f16": "fp16", "bf16": "bf16"}[found["type"]]
    core = True if dtype != "fp32" and found["arch"] not in ("sm50",) else None
    return Reading(dtype, found["tile"], core, found["arch"], operation)


_TRTLLM = re.compile(r"(Sm\d+[af]?)?Kernel_Q(?:kv)?(E4m3|Bfloat16|Fp16)")


def fmha_trtllm(parts: Parts) -> Reading:
    """`fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausal...`: type of Q, K, V."""
    found = _TRTLLM.search(parts.path)
    if found is None:
        return Reading(operation="attention", dtype=first_word(parts).dtype)
    dtype = {"E4m3": "fp8", "Bfloat16": "bf16", "Fp16": "fp16"}[found[2]]
    arch = found[1].lower().rstrip("af") if found[1] else None
    return Reading(dtype, None, True, arch, "attention")


def direction(parts: Parts) -> Reading:
    """Forward or backward by the words bwd, backward, dq, dkdv in the name."""
    back = re.search(r"bwd|backward|Bwd|Backward|_dkv?(?:dv)?(?:\b|_)|_dq(?:\b|_)", parts.path)
    seen = first_floating(parts).dtype or only_word(parts).dtype
    return Reading(dtype=seen, operation="attention_backward" if back else "attention")


_FLASH_NS = r"(?:pytorch_flash|flash|FLASH_NAMESPACE|fmha|vllm_flash|flash_v2|hstu)::"

PATH = (
    Rule(
        _FLASH_NS + r"(?:\w+::)*(?:flash_fwd|flash_bwd|compute_attn|fmha_\w*d?[qp]?rop)\w*",
        "FlashAttention",
        "attention",
        flash,
    ),
    Rule(_FLASH_NS + r"prepare_varlen_num_blocks\w*", "FlashAttention", "setup"),
    Rule(
        _FLASH_NS + r"\w*(?:splitkv|mla|attn|sparse)\w*", "FlashAttention", "attention", direction
    ),
    Rule(r"(?:\w+::)*(?:get_mla_metadata\w*|smxx::get_\w*metadata\w*)", "FlashAttention", "setup"),
    Rule(
        r"(?:sm90|sm100|smxx)::(?:\w+::)*(?:flash_\w+|\w*mla\w*|\w*sparse_attn\w*)",
        "FlashAttention",
        "attention",
        direction,
    ),
    Rule(
        r"flashinfer::(?:\w+::)*\w*(?:BatchPrefill|BatchDecode|SinglePrefill|SingleDecode|"
        r"PrefillWith|DecodeWith|PersistentVariableLengthMergeStates|MergeState|"
        r"VariableLengthMerge|Attention|BatchMLA|MLA|POD|Cascade)\w*",
        "FlashInfer",
        "attention",
        first_floating,
    ),
    Rule(
        r"vllm::(?:\w+::)*(?:paged_attention|merge_attn_states|cutlass_mla)\w*",
        "vLLM",
        "attention",
        first_floating,
    ),
    Rule(
        r"(?:xformers|gemm_kernels|PyTorchMemEffAttention)::(?:\w+::)*\w*(?:attention|fmha)\w*",
        "xFormers",
        "attention",
        direction,
    ),
    Rule(
        r"(?:tensorrt_llm|xqa|mha)::(?:\w+::)*\w*(?:attention|mha|xqa|mmha)\w*",
        "TensorRT-LLM",
        "attention",
        direction,
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:fmha_bwd|fmha_v3_bwd|mha_bwd|\w*fmha_\w*bwd|bwd_)\w*",
        "AITER",
        "attention_backward",
        direction,
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:fmha|mla_|pa_|paged_attention|mha_|\w*attention|flash_|f8_fmha)\w*",
        "AITER",
        "attention",
        direction,
    ),
)

BASE = (
    Rule(r"flash_(?:fwd|bwd)\w*", "FlashAttention", "attention", flash),
    Rule(r"fmha_cutlass[FB]\w*", "xFormers", "attention", fmha_cutlass),
    Rule(r"fmhaSm\d+\w*|fmha_v2_\w+|fmhaReduction\w*", "TensorRT-LLM", "attention", fmha_trtllm),
    Rule(
        r"kernel_mha|masked_multihead_attention_kernel|mmha_\w+",
        "TensorRT-LLM",
        "attention",
        direction,
    ),
    Rule(r"fmha_(?:fprop|dgrad)\w*", "FlashAttention", "attention", flash),
    Rule(r"attention_kernel(?:_backward)?_batched(?:_impl)?", "xFormers", "attention", direction),
    Rule(
        r"FlashAttn(?:Fwd|Bwd)\w*|FlashAttention(?:Forward|Backward)\w*",
        "FlashAttention",
        "attention",
        direction,
    ),
    Rule(r"kernel_cutlass_\w*[Ff]lash_?[Aa]tt\w*", "FlashAttention", "attention", direction),
    Rule(
        r"Batch(?:Prefill|Decode)With\w+|Single(?:Prefill|Decode)With\w+|"
        r"PersistentVariableLengthMerge\w*|MergeStates?Kernel",
        "FlashInfer",
        "attention",
        first_floating,
    ),
    # ROCm paged attention of vLLM.
    Rule(r"paged_attention_\w+", "vLLM", "attention", first_floating),
    Rule(r"single_query_cached_kv_attention_kernel", "vLLM", "attention", first_floating),
    # AOTriton (PyTorch on ROCm) and the Triton backend of FlashAttention share these names.
    Rule(r"attn_fwd\w*$", "Triton", "attention"),
    Rule(r"bwd_(?:kernel_(?:dk_dv|dq|fuse)|preprocess)\w*$", "Triton", "attention_backward"),
    Rule(r"fmha_(?:fwd|bwd)_(?:hd|d)\d+\w*", "AITER", "attention", direction),
    Rule(
        r"mla_(?:a8w8|a16w16|a16w8|pfl|dec|stage|fwd|bwd|reduce)\w*|pa_(?:bf16|fp16|a16w\w*|fp8)\w*|"
        r"mla_reduce_v1|kn_mla_\w+",
        "AITER",
        "attention",
        direction,
    ),
    # Triton attention that vLLM, SGLang, AITER, xFormers and the tutorials share.
    Rule(
        r"kernel_unified_attention_[23]d|reduce_segments|kernel_paged_attention_2d",
        "Triton",
        "attention",
    ),
    Rule(
        r"_fwd_grouped_kernel_stage1|_fwd_kernel_stage[12]|_decode_grouped_att_m_fwd_kernel|"
        r"_decode_att_m_fwd_kernel|_fwd_kernel_flash_decode\w*",
        "Triton",
        "attention",
    ),
    Rule(
        r"_attn_fwd\w*|_flash_attn_fwd\w*|_fwd_attention\w*|flash_attn_fwd\w*",
        "Triton",
        "attention",
    ),
    Rule(
        r"_attn_bwd\w*|_flash_attn_bwd\w*|_bwd_preprocess_do_o_dot|_bwd_kernel_(?:one_col|dkdv|dq)\w*|"
        r"flash_attn_bwd\w*",
        "Triton",
        "attention_backward",
    ),
    Rule(r"(?:parallel|naive)_nsa_(?:fwd|bwd)\w*", "Triton", "attention", direction),
)

_WRAPPED = re.compile(
    r"flash::|FlashAttn|FlashAttention|fmha::|Sm\d+Fmha|Fmha(?:Fwd|Bwd)|hstu::|MLA|Mla"
)


def wrapped(parts: Parts) -> bool:
    """Whether a CUTLASS device kernel is an attention kernel."""
    return _WRAPPED.search(parts.args) is not None
