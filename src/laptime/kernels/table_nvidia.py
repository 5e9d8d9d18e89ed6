"""NVIDIA's libraries: cuBLAS, cuDNN, CUTLASS, CUB, Thrust, cuFFT, cuSPARSE, cuSOLVER, cuRAND.

CUTLASS kernels that cuBLAS ships (`cutlass_80_tensorop_...`) are labelled CUTLASS: the name
shows that much, not who launched it. Only a vendor word in the name (`_cublas`, `_cudnn`,
`cutlass__5x_cudnn`, `cublasLt::`) makes it a vendor's. xmma kernels without such a word belong
to cuBLAS when they are matrix products and to cuDNN when they are convolutions. cuDNN's
`scudnn` names rarely tell the direction: those are `conv`.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.names import UNKNOWN
from laptime.kernels.read_blas import (
    classic,
    cutlass_device,
    cutlass_kernel,
    cutlass_name,
    nvjet,
    xmma,
)
from laptime.kernels.reading import (
    Reading,
    either_way,
    first_floating,
    first_type,
    first_word,
    simt_floating,
)
from laptime.kernels.rules import Rule

_ARGUMENT_CHARS = 1500


def cudnn_fusion(parts: Parts) -> Reading:
    """`cudnn_generated_...`: engines compiled at run time, described word by word."""
    text = parts.path.lower()
    dtype = first_word(parts).dtype
    operation = "unknown"
    if "sdpa" in text or "flash_" in text:
        operation = "attention_backward" if "bprop" in text else "attention"
    elif "dgrad" in text:
        operation = "conv_backward_data"
    elif "wgrad" in text:
        operation = "conv_backward_weight"
    elif "convfwd" in text or "fprop" in text or "convolution" in text:
        operation = "conv"
    elif "matmul" in text:
        operation = "gemm"
    elif "layernorm" in text or "rmsnorm" in text or "batchnorm" in text or "norm_" in text:
        operation = "norm_backward" if "bwd" in text or "bprop" in text else "norm"
    core = True if "mma" in text else None
    sm = text.find("_sm")
    digits = ""
    for char in text[sm + 3 : sm + 6] if sm >= 0 else "":
        if not char.isdigit():
            break
        digits += char
    return Reading(dtype, None, core, f"sm{digits}" if digits else None, operation)


def with_cublas(parts: Parts) -> Reading:
    """For names so plain that only cuBLAS types among the arguments show whose they are."""
    if "cublas" not in parts.name[:_ARGUMENT_CHARS]:
        return Reading(operation=UNKNOWN, library=UNKNOWN)
    return first_floating(parts)


_MARKERS = (
    (re.compile(r"\bcublas(?:Lt)?[A-Z]\w"), "cuBLAS"),
    (re.compile(r"\bcudnn[A-Z]\w"), "cuDNN"),
    (re.compile(r"\bcusparse[A-Z]\w"), "cuSPARSE"),
    (re.compile(r"\bcusolver[A-Z]\w"), "cuSOLVER"),
    (re.compile(r"\bcufft[A-Z]\w"), "cuFFT"),
)


def marked(parts: Parts) -> str:
    """The library whose own types are among the arguments of a kernel that no rule knows."""
    text = parts.name[:_ARGUMENT_CHARS]
    if "cu" not in text:
        return UNKNOWN
    return next((library for marker, library in _MARKERS if marker.search(text)), UNKNOWN)


_THRUST = (
    ("uninitialized_fill", "fill"),
    ("__fill", "fill"),
    ("__tabulate", "fill"),
    ("Fill", "fill"),
    ("uninitialized_copy", "copy"),
    ("merge_sort", "sort"),
    ("RadixSort", "sort"),
    ("__unique", "sort"),
    ("__copy_if", "index"),
    ("__partition", "index"),
    ("Scan", "scan"),
    ("scan", "scan"),
    ("Reduce", "reduce"),
    ("__reduce", "reduce"),
    ("__transform", "elementwise"),
    ("unary_transform", "elementwise"),
    ("binary_transform", "elementwise"),
    ("__gather", "index"),
    ("__scatter", "scatter"),
)


def thrust(parts: Parts) -> Reading:
    """Thrust kernels are one agent: the algorithm is in the first template arguments."""
    text = parts.args[:300]
    return Reading(operation=next((op for word, op in _THRUST if word in text), "unknown"))


_CUB = (
    (re.compile(r"Device(?:Segmented)?(?:RadixSort|MergeSort|Sort)|DeviceUniqueByKey"), "sort"),
    (re.compile(r"DeviceScan"), "scan"),
    (re.compile(r"DeviceCompactInit"), "setup"),
    (re.compile(r"Device(?:Select|Partition|ThreeWayPartition)"), "index"),
    (re.compile(r"Device(?:Segmented|FixedSizeSegmented)?Reduce"), "reduce"),
    (re.compile(r"DeviceRunLengthEncode|DeviceRle|DeviceHistogram"), "reduce"),
    (re.compile(r"DeviceTopK"), "topk"),
    (re.compile(r"(?:Device)?BatchMemcpy"), "copy"),
    (re.compile(r"DeviceFor|for_each|transform|static_kernel|dynamic_kernel"), "elementwise"),
)


def cub(parts: Parts) -> Reading:
    """CUB kernels are named after the primitive; keys are the first type of a sort."""
    base = parts.path.rsplit("::", 1)[-1]
    operation = next((op for pattern, op in _CUB if pattern.match(base)), "unknown")
    return Reading(
        dtype=first_type(parts).dtype if operation == "sort" else None, operation=operation
    )


PATH = (
    Rule(r"(?:cutlass__5x_cudnn|cudnn\w*::(?:\w+::)*cutlass)::", "cuDNN", "conv", cutlass_name),
    Rule(r"cutlass\w*::(?:\w+::)*Kernel2?\b", "CUTLASS", "unknown", cutlass_kernel),
    Rule(r"cutlass\w*::(?:\w+::)*device_kernel\b", "CUTLASS", "unknown", cutlass_device),
    Rule(r"cutlass::reduction::", "CUTLASS", "reduce", first_floating),
    Rule(r"cublasLt::(?:\w+::)*splitKreduce", "cuBLAS", "reduce"),
    Rule(r"(?:internal::)?gemvx::\w+", "cuBLAS", "gemv", first_floating),
    Rule(r"(?:cublasLt::)?epilogue::impl::globalKernel", "cuBLAS", "elementwise", first_floating),
    # cuDNN, namespaced.
    Rule(r"cask_cudnn\w*::compute\w*Offsets", "cuDNN", "setup"),
    Rule(r"cask_cudnn\w*::(?:\w+::)*(?:xform|repack|transform)\w*", "cuDNN", "transpose"),
    Rule(
        r"cudnn::winograd_nonfused::winogradWgrad", "cuDNN", "conv_backward_weight", first_floating
    ),
    Rule(r"cudnn::winograd_nonfused::", "cuDNN", "conv", first_floating),
    Rule(r"cudnn::winograd::", "cuDNN", "conv", first_floating),
    # The engines of version 7 and before multiply on ordinary units.
    Rule(r"cudnn::(?:\w+::)*dgrad_engine", "cuDNN", "conv_backward_data", simt_floating),
    Rule(r"cudnn::(?:\w+::)*wgrad_alg0_engine", "cuDNN", "conv_backward_weight", simt_floating),
    Rule(r"cudnn::(?:\w+::)*(?:dgrad|dgrad2d)\w*", "cuDNN", "conv_backward_data", first_floating),
    Rule(
        r"cudnn::(?:\w+::)*(?:wgrad|wgrad2d|reduce_wgrad)\w*",
        "cuDNN",
        "conv_backward_weight",
        first_floating,
    ),
    Rule(
        r"cudnn::(?:\w+::)*(?:conv2d|im2col|implicit_convolve|explicit_convolve|convolve_common)\w*",
        "cuDNN",
        "conv",
        first_floating,
    ),
    Rule(
        r"cudnn::(?:\w+::)*(?:bn_fw|batchnorm_fw|bn_infer|batch_norm_fw|kern_precompute_mean|"
        r"norm_fw|instance_norm_fw|layer_norm_fw)\w*",
        "cuDNN",
        "norm",
        first_floating,
    ),
    Rule(
        r"cudnn::(?:\w+::)*(?:bn_bw|batchnorm_bw|batch_norm_bw|norm_bw|instance_norm_bw)\w*",
        "cuDNN",
        "norm_backward",
        first_floating,
    ),
    Rule(
        r"cudnn::(?:\w+::)*(?:nchwToNhwc|nhwcToNchw|nchwToFold|foldedNhwc\w*|nhwcAddPadding|"
        r"tensorTransform|transpose_readWrite|nchw\w+2\w+|\w*transpose)\w*",
        "cuDNN",
        "transpose",
        first_floating,
    ),
    Rule(
        r"cudnn::(?:\w+::)*(?:pooling|max_?pool|avg_?pool)\w*",
        "cuDNN",
        "pooling",
        either_way("pooling"),
    ),
    Rule(r"cudnn::(?:\w+::)*softmax\w*", "cuDNN", "softmax", either_way("softmax")),
    Rule(r"cudnn::(?:\w+::)*(?:activation_[fb]w)\w*", "cuDNN", "activation", first_floating),
    Rule(
        r"cudnn::(?:\w+::)*(?:scalePackedTensor|op_generic_tensor|op_tensor|add_tensor|scale_)\w*",
        "cuDNN",
        "elementwise",
        first_floating,
    ),
    Rule(r"cudnn::(?:\w+::)*setTensor\w*", "cuDNN", "fill", first_floating),
    Rule(r"cudnn::(?:\w+::)*reduce(?!_wgrad)\w*", "cuDNN", "reduce", first_floating),
    Rule(
        r"cudnn::fusion::(?:\w*dot_do_o|\w*convert_dq|\w*_bwd|\w*bprop)\w*",
        "cuDNN",
        "attention_backward",
        first_floating,
    ),
    Rule(r"cudnn::(?:\w+::)*(?:ctc)\w*", "cuDNN", "loss", first_floating),
    Rule(r"cudnn::(?:\w+::)*(?:rnn|lstm|gru|persist\w*rnn)\w*", "cuDNN", "rnn", first_floating),
    # CUB and Thrust, under whichever namespace they were wrapped.
    Rule(r"(?:\w+::)*cub::\w+", "CUB", "unknown", cub),
    Rule(r"(?:\w+::)*thrust::(?:\w+::)*\w+", "Thrust", "unknown", thrust),
)

BASE = (
    Rule(r"nvjet_", "cuBLAS", "gemm", nvjet),
    Rule(r"sm\d+_xmma_", "unknown", "unknown", xmma),
    Rule(
        r"(?:maxwell|pascal|volta|turing|ampere|hopper)_(?:\w+_)?(?:gc|[shdczi])(?:\d{3,6})?"
        r"(?:tf32)?gemm",
        "cuBLAS",
        "gemm",
        classic,
    ),
    Rule(
        r"(?:cudnn_)?(?:infer_|train_)?(?:maxwell|pascal|volta|turing|ampere|hopper)_"
        r"(?:\w+_)?(?:[shdci])(?:\d{3,6})?(?:tf32)?cudnn",
        "cuDNN",
        "conv",
        classic,
    ),
    Rule(r"cutlass(?:3x)?_", "CUTLASS", "unknown", cutlass_name),
    Rule(
        r"cublas\w*[gG]emv|gemv(?:2T|2N|NSP|x)?\w*[kK]ernel|gemv(?:2T|2N|NSP)\w*",
        "cuBLAS",
        "gemv",
        simt_floating,
    ),
    Rule(
        r"dot_kernel|reduce_1Block_kernel|asum_kernel|nrm2_kernel|iamax_kernel",
        "cuBLAS",
        "reduce",
        with_cublas,
    ),
    Rule(r"splitKreduce_kernel|cublasSplitK\w*", "cuBLAS", "reduce"),
    Rule(r"split_?[kK]_?reduc\w*", UNKNOWN, "reduce"),
    Rule(
        r"gemmSN_(?:NN|TN|NT|TT)_kernel|gemmk1_kernel|gemm_kernel2x2_core|gemm_kernel\dx\d\w*",
        "cuBLAS",
        "gemm",
        simt_floating,
    ),
    Rule(
        r"(?:[sdcz])gemm_largek_lds64|(?:[sdhcz])gemm_\d+x\d+x\d+_[NT]{2}\w*|"
        r"[sdcz]gemm_(?:nn|nt|tn|tt)\b",
        "cuBLAS",
        "gemm",
    ),
    Rule(r"cublasLt\w*|cublas\w*", "cuBLAS", "unknown"),
    Rule(r"(?:axpy|scal|copy)_kernel_val\w*", "cuBLAS", "elementwise", with_cublas),
    Rule(r"trsm_\w+|trsv_\w+|batch_trsm\w*", "cuBLAS", "solver"),
    # cuDNN without a namespace (version 7 and before).
    Rule(r"cudnn_generated_", "cuDNN", "unknown", cudnn_fusion),
    Rule(
        r"(?:im|ex)plicit_convolve_\w*gemm|precomputed_convolve_\w*gemm",
        "cuDNN",
        "conv",
        simt_floating,
    ),
    Rule(
        r"convolve_common_engine\w*|im2col4d_kernel|conv2d_(?:grouped_direct|c1_k1)\w*|"
        r"generateWinogradTilesKernel|winograd3x3Kernel|cudnn_winograd\w*",
        "cuDNN",
        "conv",
        first_floating,
    ),
    Rule(r"dgrad_engine", "cuDNN", "conv_backward_data", simt_floating),
    Rule(r"wgrad_alg0_engine", "cuDNN", "conv_backward_weight", simt_floating),
    Rule(
        r"dgrad(?:2d)?_(?:alg\d\w*|engine|grouped_direct\w*|c1_k1\w*)",
        "cuDNN",
        "conv_backward_data",
        first_floating,
    ),
    Rule(
        r"wgrad(?:2d)?_(?:alg\d\w*|engine|grouped_direct\w*|c1_k1\w*)",
        "cuDNN",
        "conv_backward_weight",
        first_floating,
    ),
    Rule(r"fft2d_(?:r2c|c2r)_\d+x\d+", "cuDNN", "fft"),
    Rule(
        r"nchwToNhwcKernel|nhwcToNchwKernel|nchwAddPaddingKernel|nhwcAddPaddingKernel|"
        r"transpose_readWrite_alignment_kernel|nchwToFoldedNhwcKernel",
        "cuDNN",
        "transpose",
        first_floating,
    ),
    Rule(r"bn_fw_\w+|batchnorm_fwtr\w*|batchnorm_fwinfer\w*", "cuDNN", "norm", first_floating),
    Rule(r"bn_bw_\w+|batchnorm_bwtr\w*", "cuDNN", "norm_backward", first_floating),
    Rule(r"pooling_(?:fw|bw)_\w+", "cuDNN", "pooling", either_way("pooling")),
    Rule(r"softmax_(?:fw|bw)_kernel\w*", "cuDNN", "softmax", either_way("softmax")),
    Rule(r"activation_(?:fw|bw)_\w+", "cuDNN", "activation", first_floating),
    Rule(
        r"op_generic_tensor_kernel|op_tensor\w*|scalePackedTensor_kernel|OpTensorKernel\w*|"
        r"add_tensor_kernel_v\d",
        "cuDNN",
        "elementwise",
        first_floating,
    ),
    Rule(
        r"LSTM_elementWise_\w*|GRU_elementWise_\w*|elemWiseRNNcell|elementWiseRNN\w*|"
        r"RNN_(?:block|warp)\w*Persist\w*|persistRNN\w*|RNN_\w*persist\w*",
        "cuDNN",
        "rnn",
        first_floating,
    ),
    # The other libraries.
    # cuBLAS took these from MAGMA, whose own products are named magmablas_ or <type>gemm_template.
    Rule(
        r"magma_(?:lds128_)?[sdczh]gemm(?:Ex)?_kernel\w*",
        "cuBLAS",
        "gemm",
        first_floating,
    ),
    Rule(r"magma(?:blas)?_[sdczh]gemm\w*", "MAGMA", "gemm"),
    Rule(
        r"magma\w*|[sdcz](?:getrf|potrf|getf2|trsm|trtri|laswp|geqr)\w*_(?:kernel|batched)\w*",
        "MAGMA",
        "solver",
    ),
    Rule(
        r"(?:regular|vector|composite_2way|multi_bluestein|bluestein)_fft\w*|"
        r"(?:multi_dim|dpRadix|spRadix|dpVector|spVector|sp?RealComplex)\w*|"
        r"postprocess(?:C2C)?_kernel|preprocessC2C_kernel",
        "cuFFT",
        "fft",
    ),
    Rule(
        r"\w*cusparse\w*|csrmm?v?_\w+|coo(?:sr|mm|spmv)\w*|spmm_\w+kernel|csr2\w+_kernel",
        "cuSPARSE",
        "sparse",
    ),
    Rule(
        r"getrf_\w+|potrf_\w+|geqrf_\w+|syevj?_\w+|gesvdj?_\w+|sytrd\w*|larf\w*|lu_\w+_kernel|"
        r"cusolver\w*",
        "cuSOLVER",
        "solver",
    ),
    Rule(
        r"(?:curand_)?gen(?:erate)?_(?:sequenced|sobol\d*|philox\w*|unordered\w*)|generate_seed_\w+|"
        r"curand\w*",
        "cuRAND",
        "random",
    ),
    # Rows of copies and sets that some readers keep among kernels.
    Rule(r"Memcpy\b|\[CUDA memcpy|memcpy32_post|CUDAmemcpy\w*", "driver", "copy"),
    Rule(r"Memset\b|\[CUDA memset", "driver", "fill"),
)
