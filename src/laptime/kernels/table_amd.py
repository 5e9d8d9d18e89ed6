"""AMD's libraries: Tensile (rocBLAS, hipBLASLt), MIOpen, CK, AITER, rocPRIM, rocFFT, the runtime.

All `Cijk_` kernels are labelled Tensile: rocBLAS and hipBLASLt share the generator and the
naming. MIOpen writes `half` for any two-byte type in its transposes, so those have no dtype.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.read_blas import ck_tile, composable, igemm, tensile
from laptime.kernels.reading import (
    Reading,
    any_word,
    either_way,
    first_floating,
    first_type,
    first_word,
    only_word,
)
from laptime.kernels.rules import Rule


def direction(parts: Parts) -> Reading:
    """fwd, bwd (gradient of the input) or wrw (of the weights), as MIOpen calls them."""
    text = parts.path
    dtype = first_word(parts).dtype
    if re.search(r"wrw|WrW|BwdWrw|bwd_weight|wgrad", text):
        return Reading(dtype=dtype, operation="conv_backward_weight")
    if re.search(r"bwd|Bwd|dgrad", text):
        return Reading(dtype=dtype, operation="conv_backward_data")
    return Reading(dtype=dtype, operation="conv")


def quantised(parts: Parts) -> Reading:
    """`fmoe_bf16_blockscaleFp8_...`: the output's type, then how the inputs were quantised;
    `a16` keeps the activations whole, which leaves no one input type."""
    text = parts.path.lower()
    if "_a16" in text:
        return Reading()
    for word, dtype in (("fp8", "fp8"), ("int8", "int8"), ("fp4", "fp4"), ("int4", "int4")):
        if word in text:
            return Reading(dtype=dtype)
    return only_word(parts)


_PRIM = (
    ("sort", "sort"),
    ("merge_oddeven", "sort"),
    ("onesweep", "sort"),
    ("histogram", "reduce"),
    ("reduce_by_key", "reduce"),
    ("run_length", "reduce"),
    ("scan", "scan"),
    ("partition", "index"),
    ("select", "index"),
    ("unique", "sort"),
    ("reduce", "reduce"),
    ("transform", "elementwise"),
    ("lookback", "scan"),
    ("batch_memcpy", "copy"),
)


def prim(parts: Parts) -> Reading:
    """rocPRIM kernels: the algorithm is in the function, or in the configuration it is given."""
    text = parts.path.rsplit("::", 1)[-1]
    if "trampoline" in text:
        text = parts.args[:200]
    for word, operation in _PRIM:
        if word in text:
            return Reading(operation=operation)
    return Reading(operation="unknown")


PATH = (
    Rule(r"ck_tile::(?:\w+::)*kentry\w*", "CK", "unknown", ck_tile),
    Rule(r"ck_tile::", "CK", "unknown", ck_tile),
    Rule(r"ck::(?:\w+::)*\w+", "CK", "unknown", composable),
    Rule(
        r"aiter::(?:\w+::)*(?:fmoe|fused_moe|moe_gemm|ck_moe|\w*moe_stage|moe_ck2stages)\w*",
        "AITER",
        "gemm",
        quantised,
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:\w*moe_sorting|topk_?softmax|grouped_topk|moe_align|biased_grouped|"
        r"\w*topk_gating|moe_sum|topk_sigmoid|moe_fused_gate|MoeSorting)\w*",
        "AITER",
        "moe_routing",
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:\w*rms_?norm|\w*layer_?norm|rmsnorm2d|norm)\w*",
        "AITER",
        "norm",
        first_floating,
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:\w*act_and_mul|\w*silu|\w*gelu|activation)\w*",
        "AITER",
        "activation",
        first_floating,
    ),
    Rule(
        r"aiter::(?:\w+::)*(?:\w*reshape_and_cache|\w*kv_cache|copy_blocks|swap_blocks)\w*",
        "AITER",
        "kv_cache",
    ),
    Rule(r"aiter::(?:\w+::)*(?:\w*rotary|\w*rope|kn_entry_\w*\d?c_?\w*)\w*", "AITER", "rope"),
    Rule(
        r"aiter::(?:\w+::)*\w*(?:gemm|flatmm|wvSplitK|skinny|i8gemm)\w*", "AITER", "gemm", any_word
    ),
    Rule(r"aiter::(?:\w+::)*(?:\w*quant)\w*", "AITER", "quantize"),
    Rule(r"aiter::(?:\w+::)*(?:\w*sampl|mix_sample|argmax)\w*", "AITER", "sampling"),
    Rule(
        r"aiter::(?:\w+::)*\w*(?:elementwise|binary_|unary_|operator_|sigmoid|tanh)\w*",
        "AITER",
        "elementwise",
    ),
    Rule(r"aiter::(?:\w+::)*\w*(?:transpose)\w*", "AITER", "transpose"),
    Rule(r"aiter::(?:\w+::)*\w*(?:top_?k)\w*", "AITER", "topk"),
    Rule(r"aiter::", "AITER", "unknown"),
    Rule(r"(?:rocprim|hipcub)::(?:\w+::)*\w+", "rocPRIM", "unknown", prim),
    Rule(r"miopen::", "MIOpen", "unknown"),
    Rule(r"rocblas::", "rocBLAS", "unknown"),
)

BASE = (
    # AITER's Triton kernels.
    Rule(r"_(?:batched_)?gemm_a(?:fp|mxfp)?\d+_?w(?:fp|mxfp)?\d+\w*", "AITER", "gemm"),
    Rule(r"_fused_rms_\w*quant\w*", "AITER", "norm"),
    Rule(r"_dynamic_(?:mxfp4|per_t\w+)_quant\w*", "AITER", "quantize"),
    Rule(r"(?:Custom_)?Cijk_A[a-z]+_B[a-z]+_\w+", "Tensile", "gemm", tensile),
    Rule(r"Cijk_\w*PostGSU\w*", "Tensile", "reduce"),
    Rule(r"Cijk_", "Tensile", "unknown"),
    Rule(r"igemm_(?:fwd|bwd|wrw)_", "MIOpen", "conv", igemm),
    Rule(
        r"(?:miopen|MIOpen|Miopen)?(?:Sp3|Gcn|gcn)Asm\w*|miopenGcnAsm\w*|MIOpenConv\w*|"
        r"(?:mlo|MLO)_?[cC]onv\w*|gridwise_(?:group_)?convolution\w*|naive_conv_\w+|Conv_Winograd\w*|"
        r"Im2d?2?[cC]ol\w*|Col2Im\w*|miopen\w*[cC]onv\w*|xdlops_conv\w*|"
        r"conv(?:1x1|3x3)\w*_\w*(?:fwd|bwd|wrw)\w*",
        "MIOpen",
        "conv",
        direction,
    ),
    Rule(
        r"MIOpenBatchNormFwd\w*|MIOpenBatchNormActiv\w*Fwd\w*|MIOpen\w*(?:Layer|Group|T5Layer)\w*Norm\w*Fwd\w*",
        "MIOpen",
        "norm",
    ),
    Rule(r"MIOpenBatchNorm(?:Activ\w*)?Bwd\w*|MIOpen\w*Norm\w*Bwd\w*", "MIOpen", "norm_backward"),
    Rule(r"mlo[pP]ooling\w*|MIOpenPooling\w*", "MIOpen", "pooling", either_way("pooling")),
    Rule(
        r"MIOpenSoftmax\w*|[sS]oftmaxForward\b|SoftmaxBackward\b",
        "MIOpen",
        "softmax",
        either_way("softmax"),
    ),
    Rule(r"MIOpenNeuron\w*|MIOpenActive\w*", "MIOpen", "activation"),
    Rule(r"MIOpenDropout\w*", "MIOpen", "dropout"),
    Rule(r"SubTensorOpWithScalar\w*", "MIOpen", "fill"),
    Rule(
        r"SubTensorOpWithCast\w*|SubTensorOpWithSubTensor\w*|SubTensorOpWithTransform\w*",
        "MIOpen",
        "copy",
    ),
    Rule(r"Op\d?dTensor\w*|OpTensor(?:Fwd|Leading)\w*", "MIOpen", "elementwise"),
    Rule(
        r"batched_transpose_\d+x\d+\w*|transpose_(?:CNHW2NCHW|NCHW2CNHW|NCHW2Vec|packed_MN2NM)\w*|"
        r"general_\d+d_reorder\w*",
        "MIOpen",
        "transpose",
    ),
    Rule(r"(?:LSTM|GRU|RNN)(?:Fwd|Bwd|Hid)\w*", "MIOpen", "rnn"),
    Rule(r"fmoe_\w+", "AITER", "gemm", quantised),
    Rule(
        r"bf16gemm_\w+|f8_block_scale\w*gemm\w*|"
        r"flatmm_\w+",
        "AITER",
        "gemm",
        any_word,
    ),
    Rule(r"rocblas_(?:\w*gemv\w*)|gemv[nt]c?_\w*kernel\w*", "rocBLAS", "gemv", first_floating),
    Rule(r"rocblas_\w*(?:gemm)\w*", "rocBLAS", "gemm", first_floating),
    Rule(r"rocblas_\w*(?:dot|nrm2|asum|reduction)\w*", "rocBLAS", "reduce", first_floating),
    Rule(r"rocblas_\w*(?:trsm|trsv|trtri)\w*", "rocBLAS", "solver"),
    Rule(r"rocblas_\w*(?:scal|axpy|copy|geam)\w*", "rocBLAS", "elementwise", first_floating),
    Rule(r"rocblas_\w+", "rocBLAS", "unknown"),
    Rule(r"hipblaslt\w*", "hipBLASLt", "unknown"),
    Rule(
        r"(?:fft|bluestein|transpose|sbcc|sbrc|sbrr|sbcr)_(?:rtc|fwd|back|inv)_\w+", "rocFFT", "fft"
    ),
    Rule(r"__amd_rocclr_(?:copy|blit)\w*", "ROCm runtime", "copy"),
    Rule(r"__amd_rocclr_fill\w*", "ROCm runtime", "fill"),
    Rule(r"Copy(?:HostToDevice|DeviceToHost|DeviceToDevice)\b", "ROCm runtime", "copy"),
    Rule(r"FillBuffer\b", "ROCm runtime", "fill"),
    Rule(r"DeviceRadixSort\w*|onesweep_\w+", "rocPRIM", "sort", first_type),
)
