"""Readers of the names of matrix-product and convolution kernels.

- Classic cuBLAS/cuDNN: `ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn`. The letter
  before the matrix instruction (884, 1688, 16816: m, n, k) is the accumulator; a bare letter
  before `gemm` or `cudnn` (sgemm, scudnn, hgemm, ...) is ordinary arithmetic of that type.
- xmma: `sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_...`: types of A and B, then
  of the multiplication and the sum, then of C. `f32f32_tf32f32` multiplies in TF32;
  `ffma` is ordinary arithmetic.
- nvjet: `nvjet_tst_128x256_64x4_...`: letters are types of A (and B when they differ from bf16
  and fp16: `qq` = FP8), the sum, and D: t = bf16, h = fp16, s = fp32.
- CUTLASS profiler names: `cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x64_64x6_tn_align8`:
  type of C, instruction, epilogue, type of A, tile with its k and stages. cuBLAS ships these
  with an architecture number; `cutlass_80_tensorop_s1688gemm` (fp32 in and out, instruction
  16x8x8 of sm80) multiplies in TF32. CUTLASS 3: `..gemm_A_B_sum_C_D_128x128x64_..`.
- Tensile: `Cijk_Alik_Bljk_BBS_BH_..._MT256x128x64_MI16x16x1_..._ISA942_...`: types (input,
  output, computation: S fp32, H fp16, B bf16, D fp64, F8/B8 FP8, I8), macro tile, matrix
  instruction (absent on ordinary arithmetic), architecture; `MX` = XF32, AMD's TF32.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.reading import NOTHING, Reading, first_floating

_ARCH = {
    "maxwell": "sm50", "pascal": "sm60", "volta": "sm70", "turing": "sm75", "ampere": "sm80",
    "hopper": "sm90",
}  # fmt: skip
_WORD = {
    "bf16": "bf16",
    "fp16": "fp16",
    "f16": "fp16",
    "tf32": "tf32",
    "int8": "int8",
    "i8": "int8",
}
_LETTER = {
    "s": "fp32", "h": "fp16", "d": "fp64", "c": "complex64", "gc": "complex64",
    "z": "complex128", "i": "int32",
}  # fmt: skip

_CLASSIC = re.compile(
    r"(?:cudnn_)?(?:infer_|train_)?(?P<arch>maxwell|pascal|volta|turing|ampere|hopper)"
    r"(?:_(?P<before>bf16|fp16|int8|tf32))?_(?P<letter>gc|[shdczi])(?P<mma>\d{3,6})?(?P<inner>tf32)?"
    r"(?P<what>gemm|cudnn)(?:_(?P<after>bf16|fp16|int8|tf32))?(?P<rest>\w*)"
)
_PLAIN_TILE = re.compile(r"(?<![\dx])(\d+x\d+)(?![x\d])")
_STAGES = re.compile(r"stages_(\d+)x\d")
_DIRECTION = (
    ("dgrad", "conv_backward_data"),
    ("wgrad", "conv_backward_weight"),
)


def classic(parts: Parts) -> Reading:
    """`volta_sgemm_128x64_nn`, `turing_fp16_s1688cudnn_fp16_...`."""
    found = _CLASSIC.match(parts.path)
    if found is None:
        return NOTHING
    rest = found["rest"]
    operation = "gemm" if found["what"] == "gemm" else "conv"
    if operation == "conv":
        operation = next((op for word, op in _DIRECTION if word in rest), "conv")
    mma = found["mma"]
    word = found["inner"] or found["after"] or found["before"]
    if word is not None:
        dtype: str | None = _WORD[word]
    elif mma is None:
        dtype = _LETTER[found["letter"]]
    elif mma == "884":
        dtype = {"d": "fp64"}.get(found["letter"], "fp16")
    elif found["letter"] == "h":
        dtype = "fp16"
    elif mma == "1688" and found["letter"] == "s":
        dtype = "tf32" if found["arch"] == "ampere" else "fp16"
    else:
        dtype = "int8" if found["letter"] == "i" else None
    tile = _PLAIN_TILE.search(rest)
    stages = _STAGES.search(rest)
    text = tile[1] if tile else None
    if text and stages:
        text = f"{text}x{stages[1]}"
    return Reading(dtype, text, mma is not None, _ARCH[found["arch"]], operation)


_XTYPE = r"(?:bf16|tf32|f16|f32|f64|i8|u8|i32|e4m3|e5m2|e2m1|cf32|cf64)"
_XMMA = re.compile(
    rf"(?P<arch>sm\d+)_xmma_(?P<what>[a-z]+).*?_(?P<a>{_XTYPE}){_XTYPE}_(?P<mul>{_XTYPE}){_XTYPE}_"
)
_XNAME = {
    "bf16": "bf16", "tf32": "tf32", "f16": "fp16", "f32": "fp32", "f64": "fp64", "i8": "int8",
    "u8": "uint8", "e4m3": "fp8", "e5m2": "fp8", "e2m1": "fp4", "cf32": "complex64",
    "cf64": "complex128",
}  # fmt: skip
_TILESIZE = re.compile(r"tilesize(\d+x\d+x\d+)")
_XCORE = re.compile(r"_tensor\d|warpgroupsize|hmma|imma|gmma|wmma")
_XWHAT = {
    "gemm": "gemm", "fprop": "conv", "dgrad": "conv_backward_data",
    "wgrad": "conv_backward_weight", "conv": "conv",
}  # fmt: skip


def xmma(parts: Parts) -> Reading:
    """`sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_..._cudnn`."""
    name = parts.path
    arch = re.match(r"sm\d+", name)
    what = re.search(r"_xmma_(?:sparse_|new_|warp_specialized_)*([a-z]+)", name)
    operation = _XWHAT.get(what[1]) if what else None
    library = None
    if name.endswith("_cublas"):
        library = "cuBLAS"
    elif name.endswith("_cudnn"):
        library = "cuDNN"
    elif operation:
        library = "cuBLAS" if operation == "gemm" else "cuDNN"
    found = _XMMA.match(name)
    dtype = None
    if found:
        dtype = "tf32" if found["mul"] == "tf32" else _XNAME.get(found["a"])
    tile = _TILESIZE.search(name)
    core = False if "_ffma_" in name else (True if _XCORE.search(name) or dtype == "tf32" else None)
    return Reading(
        dtype,
        tile[1] if tile else None,
        core,
        arch[0] if arch else None,
        operation or "unknown",
        library,
    )


_NVJET = re.compile(r"nvjet_(?:(sm\d+)_)?([a-z]+)_(?:tf32_)?(\d+x\d+)(?:_(\d+)x\d+)?")


def nvjet(parts: Parts) -> Reading:
    """`nvjet_sm100_qqtst_128x256_128x6_2x1_2cta_v_bz_TNT`."""
    found = _NVJET.match(parts.path)
    if found is None:
        return NOTHING
    code = found[2]
    core: bool | None = True
    dtype: str | None = None
    if "16UE4M3" in parts.path:
        dtype = "fp4"
    elif code.startswith("qq"):
        dtype = "fp8"
    elif "tf32" in parts.path:
        dtype = "tf32"
    elif len(code) == 3:
        dtype = {"t": "bf16", "h": "fp16"}.get(code[0])
        core = True if dtype else None
    tile = found[3] + (f"x{found[4]}" if found[4] else "")
    return Reading(dtype, tile, core, found[1])


_CUTLASS = re.compile(
    r"cutlass(?P<three>3x)?(?:_sm|_)?(?P<arch>\d+)?a?f?_?(?P<core>\w*?tensorop|simt)_(?P<rest>\w+)"
)
# Longer names are templates spelt out, whose first arguments say all that is read.
_NAME_CHARS = 1000
_CTYPE = r"(?:bf16|tf32|f16|f32|f64|s8|u8|s4|e4m3|e5m2|e2m1|ue\dm\dx\w+?|f4|f8)"
_GEMM3 = re.compile(rf"gemm_(?:block_scaled_)?(?P<a>{_CTYPE})_")
_GEMM2 = re.compile(
    rf"(?P<letter>[shdcziZ]|g?c)?(?P<mma>\d{{3,7}})?(?P<inner>bf16|tf32|f16)?"
    rf"(?P<what>gemm|fprop|dgrad|wgrad|symm|syrk|trmm)\w*?(?:_(?P<a>{_CTYPE}))?_"
    rf"(?P<mn>\d+x\d+)(?:_(?P<k>\d+)x\d+|x(?P<k3>\d+))"
)
_CNAME = {**_XNAME, "s8": "int8", "u8": "uint8", "s4": "int4", "f4": "fp4", "f8": "fp8"}
_CWHAT = {**_XWHAT, "symm": "gemm", "syrk": "gemm", "trmm": "gemm"}


def cutlass_name(parts: Parts) -> Reading:
    """CUTLASS profiler names, bare or as the argument of `cutlass::Kernel`."""
    found = _CUTLASS.search(parts.name[:_NAME_CHARS])
    if found is None:
        return NOTHING
    rest = found["rest"]
    core = found["core"] != "simt"
    arch = f"sm{found['arch']}" if found["arch"] else None
    detail = _GEMM2.search(rest)
    operation = _CWHAT[detail["what"]] if detail else ("gemm" if "gemm" in rest else None)
    dtype: str | None = None
    if "tf32" in rest:
        dtype = "tf32"
    elif (third := _GEMM3.search(rest)) is not None:
        dtype = "fp4" if third["a"].startswith("ue") else _CNAME.get(third["a"])
    elif detail is not None and detail["a"]:
        dtype = _CNAME.get(detail["a"])
    elif detail is not None and detail["mma"] is None:
        dtype = _LETTER.get(detail["letter"] or "")
    elif detail is not None:
        dtype = {"h": "fp16", "d": "fp64"}.get(detail["letter"] or "")
    if dtype in (None, "fp32") and detail is not None and detail["mma"] == "1688":
        dtype = "tf32" if found["arch"] not in (None, "75") and detail["letter"] == "s" else None
    tile = None
    if detail is not None:
        k = detail["k"] or detail["k3"]
        tile = detail["mn"] + (f"x{k}" if k else "")
    return Reading(dtype, tile, core, arch, operation)


_CUTE_TILE = re.compile(r"tuple<(?:cute::)?C<(\d+)>, (?:cute::)?C<(\d+)>, (?:cute::)?C<(\d+)>")
_CLUSTER_MAX = 16  # the same triple names the cluster first, at most 16 blocks
_SM = re.compile(r"Sm(\d{2,3})|sm(\d{2,3})_")


def cutlass_device(parts: Parts) -> Reading:
    """`cutlass::device_kernel<...GemmUniversal<...>>` of CUTLASS 3, by what it wraps."""
    text = parts.args
    seen = first_floating(parts)
    found = _SM.search(text)
    arch = f"sm{found[1] or found[2]}" if found else None
    simt = "Simt" in text and "Gmma" not in text and "Umma" not in text
    core: bool | None = False if simt else (True if re.search("Gmma|Umma|UMMA", text) else None)
    operation = "unknown"
    if re.search(r"GemmUniversal|CollectiveMma|gemm::kernel|cutlass_[23]x_gemm", text, re.I):
        operation = "gemm"
    elif "ConvUniversal" in text:
        operation = "conv"
    if "gemm_fp8" in text[:120]:
        seen = Reading(dtype="fp8")  # the type in the template is that of the output
    triples = [found.groups() for found in _CUTE_TILE.finditer(text)]
    tile = next(("x".join(t) for t in triples if max(map(int, t)) > _CLUSTER_MAX), None)
    return Reading(seen.dtype, tile, core, arch, operation)


_CUTLASS2_TILE = re.compile(r"GemmShape<(\d+), (\d+), (\d+)>")
_CUTLASS2_ARCH = re.compile(r"arch::Sm(\d+)")


def cutlass_kernel(parts: Parts) -> Reading:
    """`cutlass::Kernel<...>`: a profiler name, or the template of CUTLASS 2 spelt out."""
    text = parts.name[:_NAME_CHARS]
    if _CUTLASS.search(text):
        return cutlass_name(parts)
    if not re.search(r"Gemm|gemm|Implicit|Gemv", text):
        return Reading(operation="unknown")
    if "GemvBatched" in text or "kernel::Gemv" in text:
        return Reading(operation="gemv", dtype=first_floating(parts).dtype)
    conv = re.search(r"Conv2d(Fprop|Dgrad|Wgrad)", text)
    operation = "gemm"
    if conv or "ImplicitGemmConvolution" in text:
        operation = _XWHAT.get(conv[1].lower(), "conv") if conv else "conv"
    core: bool | None = None
    if "OpClassTensorOp" in text or "MmaTensorOp" in text:
        core = True
    elif "OpClassSimt" in text or "MmaSimt" in text:
        core = False
    tile = _CUTLASS2_TILE.search(text)
    arch = _CUTLASS2_ARCH.search(text)
    return Reading(
        first_floating(parts).dtype,
        "x".join(tile.groups()) if tile else None,
        core,
        f"sm{arch[1]}" if arch else None,
        operation,
    )


_TENSILE = re.compile(r"(?:Custom_)?Cijk_A[a-z]+_B[a-z]+_(?P<types>[A-Za-z0-9]+)_(?P<rest>\w*)")
_MACRO = re.compile(r"_MT(\d+x\d+x\d+)")
_MATRIX = re.compile(r"_MI\d+x\d+x\d+")
_ISA = re.compile(r"_ISA(\d+[a-z]?)|_(gfx\d+[a-z]?)")
_TINPUT = (
    ("F8", "fp8"), ("B8", "fp8"), ("I8", "int8"), ("4xi8", "int8"), ("F4", "fp4"), ("F6", "fp6"),
    ("B", "bf16"), ("H", "fp16"), ("S", "fp32"), ("D", "fp64"), ("C", "complex64"),
    ("Z", "complex128"),
)  # fmt: skip
_MIXED = re.compile(r"H[FB]8|[FB]8H|I4H|HI4")


def tensile(parts: Parts) -> Reading:
    """`Cijk_Ailk_Bljk_HHS_BH_MT128x128x16_MI32x32x8x1_...`."""
    found = _TENSILE.match(parts.path)
    if found is None:
        return NOTHING
    types = found["types"]
    rest = f"_{found['rest']}"
    dtype = None
    if not _MIXED.match(types):
        dtype = next((name for start, name in _TINPUT if types.startswith(start)), None)
    if dtype == "fp32" and re.search(r"_MX_|_XF32|_X_", rest):
        dtype = "tf32"
    tile = _MACRO.search(rest)
    isa = _ISA.search(rest)
    arch = (isa[2] or f"gfx{isa[1]}") if isa else None
    core = bool(_MATRIX.search(rest)) if tile else None
    return Reading(dtype, tile[1] if tile else None, core, arch)


_IGEMM = re.compile(
    r"igemm_(?P<way>fwd|bwd|wrw)_gtc(?P<x>x\d*)?\w*?_(?:nhwc|nchwc|nchw)_(?P<type>bf16|fp16|fp32|int8|half|f32)"
    r"\w*?_bt(?P<tile>\d+x\d+x\d+)"
)
_WAY = {"fwd": "conv", "bwd": "conv_backward_data", "wrw": "conv_backward_weight"}
_ITYPE = {
    "bf16": "bf16",
    "fp16": "fp16",
    "half": "fp16",
    "fp32": "fp32",
    "f32": "fp32",
    "int8": "int8",
}


def igemm(parts: Parts) -> Reading:
    """`igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_...` of MIOpen (x: matrix cores)."""
    found = _IGEMM.match(parts.path)
    if found is None:
        way = re.match(r"igemm_(fwd|bwd|wrw)", parts.path)
        return Reading(operation=_WAY[way[1]] if way else "conv")
    core = True if found["x"] else None
    return Reading(_ITYPE[found["type"]], found["tile"], core, None, _WAY[found["way"]])


_CK_WAYS = (
    (re.compile(r"conv\w*_bwd_data|conv_bwd_data"), "conv_backward_data"),
    (re.compile(r"bwd_weight"), "conv_backward_weight"),
    (re.compile(r"conv"), "conv"),
    (re.compile(r"gemm\w*softmax|attention|fmha"), "attention"),
    (re.compile(r"gemm"), "gemm"),
    (re.compile(r"(?:batch|layer|group|rms)_?norm\w*(?:bwd|backward)"), "norm_backward"),
    (re.compile(r"(?:batch|layer|group|rms|multiblock_welford)\w*norm|normalization"), "norm"),
    (re.compile(r"softmax\w*(?:bwd|backward)"), "softmax_backward"),
    (re.compile(r"softmax"), "softmax"),
    (re.compile(r"pool\w*(?:bwd|backward)"), "pooling_backward"),
    (re.compile(r"pool"), "pooling"),
    (re.compile(r"permute|transpose"), "transpose"),
    (re.compile(r"reduc"), "reduce"),
    (re.compile(r"elementwise"), "elementwise"),
)


def composable(parts: Parts) -> Reading:
    """`ck::...kernel_grouped_conv_fwd_xdl_cshuffle_v3<...>`. Unsigned short is bf16 there."""
    base = parts.path.rsplit("::", 1)[-1]
    text = base.lower()
    operation = next((op for pattern, op in _CK_WAYS if pattern.search(text)), "unknown")
    template = parts.args[:500]
    found = re.search(
        r"(?<!\w)(unsigned short|ushort|_Float16|__bf16|float|double|half|signed char)(?!\w)",
        template,
    )
    dtype = None
    if found and operation not in ("unknown", "elementwise"):
        dtype = {
            "unsigned short": "bf16", "ushort": "bf16", "__bf16": "bf16", "_Float16": "fp16",
            "half": "fp16", "float": "fp32", "double": "fp64", "signed char": "int8",
        }[found[1]]  # fmt: skip
    core = True if "xdl" in text or "wmma" in text else (False if "_dl" in text else None)
    return Reading(dtype, None, core, None, operation)


_CKT = (
    (re.compile(r"FmhaFwd"), "attention"),
    (re.compile(r"FmhaBwd"), "attention_backward"),
    (re.compile(r"MoeSorting"), "moe_routing"),
    (re.compile(r"FusedMoe|MoeFlatmm|MoeGemm"), "gemm"),
    (re.compile(r"TopkSoftmax"), "moe_routing"),
    (re.compile(r"(?:Rmsnorm|Layernorm|AddRmsnorm)2d\w*Fwd|AddRmsnorm2d"), "norm"),
    (re.compile(r"(?:Rmsnorm|Layernorm)2d\w*Bwd"), "norm_backward"),
    (re.compile(r"[Ss]moothquant|DynamicQuant"), "quantize"),
    (re.compile(r"Gemm|Flatmm"), "gemm"),
    (re.compile(r"ConvolutionForward|ConvFwd"), "conv"),
    (re.compile(r"Transpose|Permute"), "transpose"),
    (re.compile(r"Reduce2d"), "reduce"),
    (re.compile(r"ElementWise"), "elementwise"),
)


def ck_tile(parts: Parts) -> Reading:
    """`ck_tile::kentry<...>` by the functor it runs."""
    template = parts.args[:300]
    operation, at = "unknown", len(template)
    for pattern, op in _CKT:
        found = pattern.search(template)
        if found and found.start() < at:
            operation, at = op, found.start()
    if operation == "moe_routing":
        return Reading(operation=operation)
    return Reading(dtype=first_floating(parts).dtype, operation=operation)
