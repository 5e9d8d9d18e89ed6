"""Triton: what TorchInductor makes, and hand-written kernels known by name.

Inductor's prefix says how the kernel loops: `poi` pointwise, `red` and `per` reductions, `tem` a
template, `for` a foreach. The fused ATen operators follow, so a reduction over a normalisation or
a softmax is labelled as such; everything else is `elementwise` or `reduce`. The old form
`triton__0d1d2d` (PyTorch 2.0) says nothing: `fused`.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.reading import Reading, either_way, first_word
from laptime.kernels.rules import Rule

_NORM = re.compile(r"(?:native_)?(?:layer|group|batch|rms)_norm|rmsnorm|rms_norm|layernorm")
_NORM_BACK = re.compile(r"(?:layer|group|batch|rms)_norm_backward")


def reduction(parts: Parts) -> Reading:
    """`triton_red_fused__softmax_...`, `triton_per_fused_native_layer_norm_3`."""
    name = parts.path
    if re.search(r"_(?:cumsum|cumprod|sort)(?:_|$)", name):
        return Reading(operation="sort" if "_sort" in name else "scan")
    if _NORM_BACK.search(name):
        return Reading(operation="norm_backward")
    if _NORM.search(name):
        return Reading(operation="norm")
    if "_softmax_backward" in name:
        return Reading(operation="softmax_backward")
    if "_softmax" in name:
        return Reading(operation="softmax")
    return Reading(operation="reduce")


def template(parts: Parts) -> Reading:
    """`triton_tem_fused_mm_4`, `triton_tem_fused_flex_attention_0`: the template's operator."""
    name = parts.path
    if "flex_attention_backward" in name:
        return Reading(operation="attention_backward")
    if "flex_attention" in name or "flex_decoding" in name:
        return Reading(operation="attention")
    if "convolution" in name:
        return Reading(operation="conv")
    if re.search(
        r"(?:^|_)(?:scaled_|grouped_|add|bad?d|b|int_)?(?:bmm|mm|matmul|baddbmm)(?:_|$)", name
    ):
        return Reading(operation="gemm")
    return Reading(operation="unknown")


_OGS = r"(?:bf16|fp16|fp32|fp8e4nv|fp8e5|fp8e4b8|fp8e5b16|mxfp4|mxfp8|u?int8)"


def ogs(parts: Parts) -> Reading:
    """`_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1`: types of output, input, weights; tile."""
    found = re.search(rf"_{_OGS}x({_OGS})x{_OGS}_(\d+x\d+x\d+)", parts.path)
    if found is None:
        return Reading(first_word(parts).dtype)
    words = {"bf16": "bf16", "fp16": "fp16", "fp8e4nv": "fp8", "fp8e5": "fp8", "fp32": "fp32"}
    return Reading(words.get(found[1]), found[2], True)


PATH: tuple[Rule, ...] = ()

BASE = (
    Rule(r"triton_(?:poi|pointwise|for)_", "Inductor", "elementwise"),
    Rule(r"triton_(?:red|per|spl|mix)_", "Inductor", "reduce", reduction),
    Rule(r"triton_tem_", "Inductor", "unknown", template),
    Rule(r"triton_(?:mm|bmm|addmm|baddbmm|mm_plus_mm|scaled_mm)\b", "Inductor", "gemm"),
    Rule(r"triton_(?:mm|bmm|addmm|baddbmm)_(?:\d+|plus_mm)", "Inductor", "gemm"),
    Rule(r"triton_convolution\w*", "Inductor", "conv"),
    Rule(r"triton_flex_attention_backward\w*", "Inductor", "attention_backward"),
    Rule(r"triton_flex_(?:attention|decoding)\w*", "Inductor", "attention"),
    Rule(r"triton__\d", "Inductor", "fused"),
    Rule(r"triton_(?:fused|unk)_\w*|triton_\b", "Inductor", "fused"),
    # OpenAI's triton_kernels (gpt-oss).
    Rule(r"_(?:p_)?matmul_ogs\w*", "Triton", "gemm", ogs),
    Rule(r"_finalize_(?:matmul_)?scatter\w*|_finalize_matmul\w*", "Triton", "moe_routing"),
    Rule(
        r"_combined_routing\w*|_routing_\w+|_expt_data_\w+|_sum_bitmatrix\w*|_ragged_\w*metadata\w*",
        "Triton",
        "moe_routing",
    ),
    Rule(r"_topk(?:_forward|_backward)?\b", "Triton", "topk"),
    Rule(r"_swiglu\w*|_swiglu_fn\b", "Triton", "activation"),
    Rule(r"_reduce_grouped\w*", "Triton", "reduce"),
    Rule(r"_(?:downcast|upcast)_(?:to|from)_mxfp\w*", "Triton", "quantize"),
    # Tutorials, Liger, Unsloth, GemLite and others.
    Rule(
        r"matmul_kernel\w*|_matmul_kernel\w*|_gemm_kernel\w*|_grouped_gemm\w*|"
        r"grouped_matmul_kernel\w*|matmul_kernel_\w+",
        "Triton",
        "gemm",
        first_word,
    ),
    Rule(
        r"_?(?:rms_?norm|layer_?norm|layernorm|group_norm)_?\w*(?:bwd|backward)\w*|"
        r"_layer_norm_bwd\w*|_rms_norm_bwd\w*",
        "Triton",
        "norm_backward",
    ),
    Rule(
        r"_(?:rms_?norm|layer_?norm|layernorm|l2norm|group_norm)\w*(?:fwd|forward|kernel)\w*",
        "Triton",
        "norm",
    ),
    Rule(
        r"l2norm_(?:fwd|bwd)_kernel\w*|layer_norm_(?:fwd|gated_fwd)_kernel\w*|"
        r"rms_norm_(?:fwd|tiled)_kernel\w*",
        "Triton",
        "norm",
        either_way("norm"),
    ),
    Rule(
        r"(?:liger_)?cross_entropy_kernel|_?cross_entropy_(?:forward|backward|fwd|bwd)\w*|"
        r"liger_cross_entropy\w*|_chunked_cross_entropy\w*",
        "Triton",
        "loss",
    ),
    Rule(
        r"_?(?:triton_)?rope(?:_embedding|_fwd|_bwd)?_?\w*kernel\w*|_rope_\w+|_triton_rope\w*|_mrope\w*|"
        r"rotary_kernel\w*|_rotary_kernel\w*|_triton_mrope\w*",
        "Triton",
        "rope",
    ),
    Rule(
        r"_?(?:swiglu|geglu|swiglu_forward|silu_and_mul|silu_mul|gelu_and_mul)\w*(?:kernel|fwd|bwd)\w*|"
        r"_(?:swiglu|geglu)_(?:forward|backward)\w*|_fg_kernel|_DWf_DW_dfg_kernel|_(?:exact|approx)_\w*kernel",
        "Triton",
        "activation",
    ),
    Rule(
        r"_?softmax_(?:fwd_|bwd_|forward_|backward_)?kernel\w*",
        "Triton",
        "softmax",
        either_way("softmax"),
    ),
    # Linear attention (fla) and Mamba's Triton parts.
    Rule(
        r"(?:chunk|fused_recurrent|fused_chunk|parallel)_(?:gla|gated_delta_rule|delta_rule|kda|"
        r"retention|rwkv\d*|simple_gla|gsa|hgrn|linear_attn|lightning)\w*|"
        r"chunk_(?:fwd|bwd|scaled_dot|local_cumsum|gated|o|h|A)_?\w*kernel\w*|"
        r"(?:prepare_wy|recompute_w_u|solve_tril|merge_\d+x\d+)\w*kernel\w*|fused_sigmoid_gating_delta\w*|"
        r"fused_gdn_gating\w*",
        "Triton",
        "ssm",
    ),
)
