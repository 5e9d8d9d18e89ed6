"""Training libraries: Transformer Engine, FBGEMM, Mamba, bitsandbytes, DeepSpeed."""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.names import UNKNOWN
from laptime.kernels.reading import Reading, either_way, first_floating
from laptime.kernels.rules import Rule
from laptime.kernels.table_torch import foreach


def way_of_norm(parts: Parts) -> Reading:
    """`rmsnorm_bwd_finalize_general_kernel` and the like."""
    back = re.search(r"bwd|backward|_dgamma|dbeta", parts.path)
    return Reading(dtype=first_floating(parts).dtype, operation="norm_backward" if back else "norm")


def way_of_embedding(parts: Parts) -> Reading:
    """`split_embedding_backward_codegen_rowwise_adagrad_...`."""
    back = re.search(r"backward|_grad_", parts.path)
    return Reading(
        dtype=first_floating(parts).dtype,
        operation="embedding_backward" if back else "embedding",
    )


def way_of_attention(parts: Parts) -> Reading:
    """Forward or backward fused attention."""
    back = re.search(r"bwd|backward|_dq|_dkv|dgrad", parts.path)
    return Reading(operation="attention_backward" if back else "attention")


_TE = r"transformer_engine::(?:\w+::)*"
_FB = r"(?:fbgemm_gpu|fbgemm)::(?:\w+::)*"

PATH = (
    Rule(
        _TE + r"\w*(?:rmsnorm|layernorm|ln_fwd|ln_bwd|norm_)\w*",
        "Transformer Engine",
        "norm",
        way_of_norm,
    ),
    Rule(
        r"transformer_engine::(?:\w+::)*normalization::", "Transformer Engine", "norm", way_of_norm
    ),
    Rule(_TE + r"\w*multi_tensor_apply_kernel", "Transformer Engine", "unknown", foreach),
    Rule(
        _TE + r"(?:multi_tensor_(?:adam|sgd)::\w+|\w*[aA]dam\w*)", "Transformer Engine", "optimizer"
    ),
    Rule(_TE + r"\w*softmax\w*", "Transformer Engine", "softmax", either_way("softmax")),
    Rule(_TE + r"\w*(?:rope)\w*", "Transformer Engine", "rope", first_floating),
    Rule(_TE + r"\w*(?:swizzle|pad)\w*", "Transformer Engine", "transpose"),
    Rule(_TE + r"\w*(?:permut|topk_|moe_)\w*", "Transformer Engine", "moe_routing"),
    Rule(_TE + r"(?:\w*dequantize\w*)", "Transformer Engine", "dequantize"),
    Rule(
        _TE + r"(?:\w*(?:quantiz|mxfp8|nvfp4|cast_|amax|scale_inv|block_scaled|"
        r"fp8_2x_partial)\w*)",
        "Transformer Engine",
        "quantize",
    ),
    Rule(_TE + r"\w*(?:cast_transpose|transpose)\w*", "Transformer Engine", "transpose"),
    Rule(
        _TE + r"\w*(?:gated_act|dact|act_kernel|swiglu|geglu)\w*",
        "Transformer Engine",
        "activation",
    ),
    Rule(
        _TE + r"(?:\w*fused_attn\w*|flash_attention\w*)",
        "Transformer Engine",
        "attention",
        way_of_attention,
    ),
    Rule(
        _TE + r"\w*(?:unary_kernel|gated_kernel|vectorized|elementwise)\w*",
        "Transformer Engine",
        "elementwise",
    ),
    Rule(r"transformer_engine::", "Transformer Engine", "unknown"),
    Rule(_FB + r"\w*(?:permute_\d?D?_?|permute_pooled|permute_)\w*", "FBGEMM", "index"),
    Rule(_FB + r"\w*(?:bucketize)\w*", "FBGEMM", "index"),
    Rule(
        _FB + r"\w*(?:split_embedding|dense_embedding|batch_index_select|embedding_)\w*",
        "FBGEMM",
        "embedding",
        way_of_embedding,
    ),
    Rule(_FB + r"\w*(?:cumsum|offsets_range|prefix)\w*", "FBGEMM", "scan"),
    Rule(_FB + r"\w*(?:dequant|To_?Float|to_float)\w*", "FBGEMM", "dequantize"),
    Rule(_FB + r"\w*(?:quant|float_to|FloatTo)\w*", "FBGEMM", "quantize"),
    Rule(_FB + r"\w*(?:index_select|jagged_index|gather|group_index)\w*", "FBGEMM", "index"),
    Rule(_FB + r"\w*(?:jagged)\w*", "FBGEMM", "elementwise"),
    Rule(_FB + r"\w*(?:gemm)\w*", "FBGEMM", "gemm"),
    Rule(_FB, "FBGEMM", "unknown"),
    Rule(r"nbit::", "FBGEMM", "embedding"),
    Rule(r"bitsandbytes::", "bitsandbytes", "unknown"),
    Rule(r"(?:deepspeed|ds)::", "DeepSpeed", "unknown"),
)

BASE = (
    # FBGEMM table-batched embeddings.
    Rule(
        r"(?:split|ssd|dense|vbe|split_\w+)_embedding\w*(?:_codegen|_backward|_forward|_nobag)\w*|"
        r"batch_index_select_dim0_codegen\w*|int_nbit_split_embedding\w*",
        "FBGEMM",
        "embedding",
        way_of_embedding,
    ),
    Rule(r"bounds_check_indices_kernel\w*", "FBGEMM", "setup"),
    Rule(
        r"linearize_index\w*|permute_pooled_embs\w*|permute_2D_\w+|permute_1D_\w+|"
        r"_block_bucketize\w*|linearize_cache\w*",
        "FBGEMM",
        "index",
    ),
    Rule(r"l[rf]u_cache_\w+|lxu_cache_\w+", "FBGEMM", "index"),
    # Mamba and causal convolution.
    Rule(
        r"selective_scan_(?:fwd|bwd)_kernel\w*|selective_state_update\w*|_selective_scan_update_kernel\w*|"
        r"causal_conv1d\w*|_causal_conv1d\w*|_chunk_(?:scan|state|cumsum)\w*|_bmm_chunk_\w+|"
        r"_state_passing_\w+|_mamba_chunk\w*",
        "Mamba",
        "ssm",
        first_floating,
    ),
    # bitsandbytes.
    Rule(r"k(?:Quantize(?:Blockwise)?\w*)", "bitsandbytes", "quantize", first_floating),
    Rule(r"k(?:Dequantize\w*|dequant_mm\w*)", "bitsandbytes", "dequantize", first_floating),
    Rule(
        r"k(?:Optimizer(?:Static)?\w*|PreconditionOptimizer\w*)",
        "bitsandbytes",
        "optimizer",
        first_floating,
    ),
    Rule(r"kgemm_4bit_inference_naive\w*", "bitsandbytes", "gemv", first_floating),
    Rule(r"kgemm\w*|kspmm\w*", "bitsandbytes", "gemm", first_floating),
    Rule(
        r"kInt8VectorQuant\w*|kgetColRowStats\w*|kDoubleRowColQuant\w*", "bitsandbytes", "quantize"
    ),
    Rule(r"kTransformRowToFormat\w*", "bitsandbytes", "transpose"),
    # Transformer Engine without its namespace: kernels compiled at run time.
    Rule(
        r"cast_transpose_(?:fused_)?\w*kernel\w*",
        "Transformer Engine",
        "quantize",
    ),
    Rule(
        r"block_scaled_(?:1d|2d)_cast\w*|quantize_mxfp8\w*|cast_mxfp8\w*",
        "Transformer Engine",
        "quantize",
    ),
    Rule(
        r"(?:ln|rmsnorm|layernorm)_(?:fwd|bwd)_(?:tuned|general|finalize\w*)_kernel\w*",
        "Transformer Engine",
        "norm",
        way_of_norm,
    ),
    Rule(
        r"(?:multi_)?padding_kernel\w*|swizzle_(?:row|col)_scaling_kernel\w*",
        "Transformer Engine",
        "transpose",
    ),
    Rule(r"FusedAdam\w*|fused_(?:adam|lamb)\w*", UNKNOWN, "optimizer"),
)
