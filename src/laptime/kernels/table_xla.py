"""XLA's fusions, as JAX and TensorFlow traces show them.

XLA names a kernel after the root of its fusion: `loop_add_fusion`, `input_reduce_fusion_3`,
`gemm_fusion_dot_12`, `fusion_7`, `wrapped_transpose`. Only names of that form are asked.
"""

from __future__ import annotations

from laptime.kernels.reading import first_word
from laptime.kernels.rules import Rule

BASE = (
    Rule(
        r"(?:loop|wrapped)_(?:transpose|copy_transpose)\w*|(?:input_|loop_)?transpose_fusion\w*|"
        r"input_(?:\w+_)?transpose_fusion\w*",
        "JAX/XLA",
        "transpose",
    ),
    Rule(
        r"input_(?:\w+_)?reduce\w*_fusion\w*|wrapped_reduce\w*|input_reduce_fusion\w*|"
        r"(?:loop_)?(?:\w+_)?reduce_fusion\w*|row_reduce\w*",
        "JAX/XLA",
        "reduce",
    ),
    Rule(r"input_(?:\w+_)?scatter_fusion\w*|wrapped_scatter\w*", "JAX/XLA", "scatter"),
    Rule(r"(?:input|loop)_(?:\w+_)?concatenate_fusion\w*|wrapped_concatenate\w*", "JAX/XLA", "cat"),
    Rule(
        r"(?:loop_)?(?:\w+_)?(?:gather|dynamic_slice)_fusion\w*|wrapped_gather\w*",
        "JAX/XLA",
        "index",
    ),
    Rule(r"(?:triton_)?gemm_fusion\w*|(?:__)?triton_gemm\w*", "JAX/XLA", "gemm", first_word),
    Rule(
        r"(?:__triton_)?(?:triton_)?softmax_?\w*fusion\w*|triton_softmax\w*", "JAX/XLA", "softmax"
    ),
    Rule(
        r"loop_(?:\w+_)?fusion\w*|wrapped_\w+|(?:loop_)?\w*(?:select|convert|multiply|add|broadcast|"
        r"exponential|compare|subtract|divide|tanh|negate)_fusion\w*",
        "JAX/XLA",
        "elementwise",
    ),
    Rule(r"(?:\w+_)?fusion(?:_\d+)*(?:__\d+)?$", "JAX/XLA", "fused"),
)


def asked(base: str) -> bool:
    """Whether a function name has the form of an XLA fusion."""
    return "fusion" in base or base.startswith(
        ("wrapped_", "__triton_", "triton_softmax", "triton_gemm")
    )
