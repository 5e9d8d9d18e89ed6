"""PyTorch's own kernels (ATen) and the multi-tensor kernels of Apex.

The operation of a generic ATen kernel is that of the functor in its template arguments; a
functor without an entry of its own is pointwise arithmetic. `activation` is kept for functions
used for nothing else (gelu, silu, threshold = relu, ...): tanh, sigmoid and clamp are
`elementwise`. A casting copy has the type of its destination in the name, so its input type is
not read.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.reading import Reading, either_way, first_floating, first_type
from laptime.kernels.rules import Rule

_FUNCTORS = re.compile(
    r"\b(?:(?P<copy>direct_copy_kernel|float\w*_copy_kernel|float32_copy|copy_device_to_device|bfloat16_copy|"
    r"CopyFunctor|copy_kernel_cuda|conj_kernel)"
    r"|(?P<fill>FillFunctor|arange_cuda|range_cuda|linspace|logspace|eye_kernel)"
    r"|(?P<dropout>masked_scale_kernel|dropout)"
    r"|(?P<loss>mse_kernel|mse_backward|smooth_l1|huber|binary_cross_entropy|kl_div|nll_loss|"
    r"ctc_loss)"
    r"|(?P<activation>[gG]elu|silu_|threshold_kernel|leaky_relu|hardswish|hardsigmoid|hardtanh|"
    r"hardshrink|softshrink|softplus|log_sigmoid|launch_log_sigmoid|mish_|elu_kernel|elu_backward|prelu|glu_)"
    r"|(?P<random>bernoulli|exponential_kernel|uniform_and|normal_and|random_kernel|cauchy|geometric|"
    r"log_normal)"
    r"|(?P<norm>batch_norm_update_stats|batch_norm_calc_invstd|batch_norm_elementwise_kernel|"
    r"batch_norm_elementwise|GroupNormKernelImpl\w*|group_norm_kernel))"
)
_LAMBDA_TYPES = re.compile(r"\blambda\((?:bool, )?([\w: ]+?)[,)]")
# Their parameter lists hold types that are not those of elements.
_PARAMETERS = re.compile(r"(?<!lambda)\([^()<>{}]*\)")
_CAST = ("LoadWithCast", "gpu_kernel_impl<", "copy_device_to_device")
# The functor comes first; its lambda's types may follow a long list of parameters.
_FUNCTOR_CHARS = 260
_TYPE_CHARS = 400


def functor(parts: Parts) -> Reading:
    """Operation and input type of an elementwise kernel, from the functor it applies."""
    args = parts.args
    found = _FUNCTORS.search(args, 0, _FUNCTOR_CHARS)
    operation = (found.lastgroup or "elementwise") if found else "elementwise"
    if operation == "norm" and found and "ackward" in args[found.start() : found.end() + 12]:
        operation = "norm_backward"
    if operation == "copy":
        if any(word in args for word in _CAST):
            return Reading(operation=operation)
        return Reading(dtype=_functor_type(parts), operation=operation)
    if operation == "dropout":  # the mask's type comes first
        return Reading(dtype=first_floating(parts).dtype, operation=operation)
    return Reading(dtype=_functor_type(parts), operation=operation)


def _functor_type(parts: Parts) -> str | None:
    """The first element type, seen past index arguments and the condition of `where`."""
    if parts.path.endswith(("_with_index", "multi_outputs")):
        return None
    args = _PARAMETERS.sub("", parts.args[:_TYPE_CHARS].partition("rray<char")[0])
    if "where_kernel" not in args:
        seen = first_type(Parts("", "", args))
        if seen.dtype or "OpaqueType" in args:
            return seen.dtype
    found = _LAMBDA_TYPES.search(args)
    return first_type(Parts("", "", f"<{found[1]}>")).dtype if found else None


def indexed(parts: Parts) -> Reading:
    """`index_elementwise_kernel`: reading or writing through an index, by the functor."""
    text = parts.args
    if "index_put" in text or "index_fill" in text or "index_copy" in text:
        return Reading(operation="scatter")
    if "put_kernel" in text:
        return Reading(operation="scatter")
    if "flip" in text:
        return Reading(operation="copy")
    return Reading(operation="index")


def scatter_gather(parts: Parts) -> Reading:
    """`_scatter_gather_elementwise_kernel<..., _cuda_scatter_gather_internal_kernel<true, ...`:
    the flag says whether it writes through the index; `scatter_fill` always does."""
    if "_scatter_fill_" in parts.args:
        return Reading(operation="scatter")
    found = re.search(r"internal_kernel<(true|false|1|0)", parts.args)
    if found is None:
        return Reading(operation="unknown")
    return Reading(operation="scatter" if found[1] in ("true", "1") else "index")


_FOREACH = (
    (
        re.compile(r"(?<!Un)Adam|SGD|Sgd|Adagrad|Lamb|LAMB|NovoGrad|RMSprop|Lion|FusedOptimizer"),
        "optimizer",
    ),
    (re.compile(r"NormFunctor|L2Norm|LpMax|MaxNorm"), "reduce"),
    (re.compile(r"Zero\w*Functor|FillFunctor"), "fill"),
    (re.compile(r"CopyFunctor"), "copy"),
    (re.compile(r"Scale|Axpby|BinaryOp|UnaryOp|Pointwise|Lerp|TernaryOp|Add|Mul"), "elementwise"),
)


# Namespaces of functors: a library may run its own through another's kernel.
_FUNCTOR_OWNERS = (("transformer_engine::", "Transformer Engine"), ("at::native::", "ATen"))


def foreach(parts: Parts) -> Reading:
    """`multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, ...>`."""
    text = parts.args[:400]
    # The list of tensors is named first and says nothing of the work.
    start = text.find(">,")
    text = text[start + 1 :] if start >= 0 else text
    stop = text.find("(")
    text = text if stop < 0 else text[:stop]
    operation = next((op for pattern, op in _FOREACH if pattern.search(text)), "unknown")
    dtype = first_type(Parts("", "", f"<{text}>")).dtype if operation != "copy" else None
    library = next((owner for space, owner in _FUNCTOR_OWNERS if space in text), None)
    return Reading(dtype=dtype, operation=operation, library=library)


def norm_direction(parts: Parts) -> Reading:
    """Forward or backward of a normalisation, by its function name."""
    back = re.search(r"backward|[Gg]rad|Grad|Backward|Gamma ?Beta|_bwd|Bwd", parts.path)
    return Reading(dtype=first_floating(parts).dtype, operation="norm_backward" if back else "norm")


_AT = r"at::(?!cuda::(?:detail::)?cub::)(?:\w+::)*"

PATH = (
    Rule(r"at::native::(?:\w+::)*multi_tensor_apply_kernel", "ATen", "unknown", foreach),
    Rule(_AT + r"(?:\w*elementwise_kernel_with_index)", "ATen", "fill"),
    Rule(_AT + r"index_elementwise_kernel", "ATen", "unknown", indexed),
    Rule(_AT + r"_scatter_gather_elementwise_kernel", "ATen", "unknown", scatter_gather),
    Rule(_AT + r"distribution_\w+", "ATen", "random"),
    Rule(_AT + r"(?:fused_dropout|\w*[dD]ropout)\w*", "ATen", "dropout", first_type),
    Rule(
        _AT + r"(?:vectorized|unrolled|legacy|modern|jitted_)?_?(?:vectorized_|unrolled_)?"
        r"elementwise_kernel\w*",
        "ATen",
        "elementwise",
        functor,
    ),
    Rule(_AT + r"vectorized_templated_elementwise_kernel", "ATen", "elementwise", functor),
    Rule(_AT + r"(?:\w*multi_outputs?_\w*|\w*_for_multi_outputs)", "ATen", "elementwise", functor),
    Rule(_AT + r"loops?_\w*kernel", "ATen", "elementwise", functor),
    Rule(_AT + r"reduce_kernel", "ATen", "reduce", first_type),
    Rule(_AT + r"(?:lpnorm_\w+|multi_tensor_\w*norm\w*)", "ATen", "reduce", first_type),
    Rule(_AT + r"segment_reduce\w*|" + _AT + r"segmented_reduce\w*", "ATen", "reduce"),
    Rule(
        _AT + r"\w*(?:[cC]unn_[sS]oft[mM]ax|[sS]oft_?[mM]ax)\w*",
        "ATen",
        "softmax",
        either_way("softmax"),
    ),
    Rule(
        _AT + r"\w*(?:batch_norm|layer_norm|LayerNorm|group_norm|GroupNorm|rms_norm|RowwiseMoments|"
        r"GammaBetaBackward|ComputeGradient|ComputeInternalGradients|ComputeFusedParams|"
        r"ComputeBackwardFusedParams|BatchNorm|weight_norm|ComputeRstd|GradGammaBeta|cuComputeGradInput)\w*",
        "ATen",
        "norm",
        norm_direction,
    ),
    Rule(
        _AT + r"\w*(?:max_?pool|avg_?pool|adaptive_?average_?pool|adaptive_?avg|adaptive_?max|"
        r"atomic_adaptive|adaptive_average|fractional_max_pool|adaptiveaveragepool|"
        r"adaptivemax|adaptiveaverage|atomicadaptive|AdaptiveAvg|max_unpool)\w*",
        "ATen",
        "pooling",
        either_way("pooling"),
    ),
    Rule(
        _AT + r"\w*(?:upsample|grid_sampler|affine_grid|reflection_pad|replication_pad)\w*",
        "ATen",
        "upsample",
        first_floating,
    ),
    Rule(
        _AT + r"\w*(?:embedding_backward|compute_grad_weight|sum_and_scatter|krn_partial\w*|"
        r"EmbeddingBag_accGradParameters|compute_num_of_partial_segments|"
        r"write_num_of_segments|bag_backward)\w*",
        "ATen",
        "embedding_backward",
    ),
    Rule(_AT + r"\w*(?:EmbeddingBag_updateOutput|embedding_bag)\w*", "ATen", "embedding"),
    Rule(_AT + r"renorm_kernel", "ATen", "embedding"),
    Rule(_AT + r"(?:vectorized_gather_kernel|gather_\w+|take_kernel)", "ATen", "index"),
    Rule(_AT + r"index(?:Select)(?:Large|Small)Index", "ATen", "index", first_type),
    Rule(
        _AT + r"(?:index(?:Func|Add|Copy|Fill)(?:Large|Small)Index|indexing_backward_kernel\w*|"
        r"index_put\w*|scatter_\w+|put_kernel\w*)",
        "ATen",
        "scatter",
    ),
    Rule(
        _AT + r"(?:write_indices|flag_kernel|compute_block_\w+|nonzero\w*|"
        r"masked_select\w*)",
        "ATen",
        "index",
    ),
    Rule(_AT + r"masked_scatter\w*|" + _AT + r"maskPrefixSum\w*", "ATen", "scatter"),
    Rule(_AT + r"\w*CatArrayBatchedCopy\w*", "ATen", "cat", first_type),
    Rule(_AT + r"(?:chunk_cat\w*|HalfCatArray\w*)", "ATen", "cat"),
    Rule(_AT + r"split_with_sizes_copy\w*", "ATen", "copy"),
    Rule(
        _AT + r"(?:[ms]btopk::\w+|\w*(?:gatherTopK|TopK|radixFindKth\w*|computeBlock\w+|"
        r"computeDigit\w+|findKth\w*|gatherKth\w*|gatherMedian))\b",
        "ATen",
        "topk",
    ),
    Rule(
        _AT + r"\w*(?:bitonicSort|radixSortKV|warpMergeSort|blockSort|sort_postprocess|"
        r"fill_reverse_indices|fill_index_and_segment|fillSliceWithIndex|"
        r"searchsorted|unique|compute_mode|segmented_sort|sort_)\w*",
        "ATen",
        "sort",
    ),
    Rule(
        _AT + r"\w*(?:tensor_kernel_scan|scan_\w*dim|cumsum|cumprod|scan_)\w*",
        "ATen",
        "scan",
        first_type,
    ),
    Rule(
        _AT + r"\w*(?:nll_loss|cross_entropy|ctc_loss|MultiMargin\w*|multilabel_margin|"
        r"ClassNLLCriterion|SpatialClassNLL)\w*",
        "ATen",
        "loss",
        first_floating,
    ),
    Rule(
        _AT
        + r"\w*(?:random\w*|bernoulli\w*|randperm\w*|philox\w*|sampleMultinomial\w*|renormRows\w*|"
        r"multinomial\w*)",
        "ATen",
        "random",
    ),
    Rule(
        _AT + r"\w*(?:conv_depthwise2d_backward|conv_depthwise3d_cuda_backward_input|"
        r"conv_depthwise\w*_grad_input|slow_\w+_backward|vol2col_back|col2im|col2vol)\w*",
        "ATen",
        "conv_backward_data",
        first_floating,
    ),
    Rule(
        _AT + r"\w*(?:conv_depthwise\w*_grad_weight|conv_depthwise\w*backward_weight)\w*",
        "ATen",
        "conv_backward_weight",
        first_floating,
    ),
    Rule(
        _AT + r"\w*(?:conv_depthwise|DepthwiseConv|im2col|vol2col)\w*",
        "ATen",
        "conv",
        first_floating,
    ),
    Rule(_AT + r"\w*(?:lstm|gru|RNN|rnn)\w*", "ATen", "rnn", first_floating),
    Rule(
        _AT + r"(?:\w+::)*(?:transform_bias_rescale_qkv|add_padding|remove_padding|"
        r"transform_0213|transpose)\w*",
        "ATen",
        "transpose",
        first_floating,
    ),
    Rule(
        _AT + r"(?:triu_tril\w*|tril\w*|triu\w*|amp_\w+|addr_kernel|vectorized_\w*kernel)",
        "ATen",
        "elementwise",
        first_type,
    ),
    Rule(_AT + r"(?:copy\w*|roll_cuda\w*|flip\w*|repeat\w*)_kernel\w*", "ATen", "copy"),
    Rule(_AT + r"(?:fused_adam\w*|fused_sgd\w*)", "ATen", "optimizer"),
    Rule(_AT + r"\w*(?:tinygemm)\w*", "ATen", "gemm"),
    Rule(_AT + r"(?:bincount|histogram|kernelHistogram)\w*", "ATen", "reduce"),
    Rule(r"at::cuda::(?:\w+::)*spin_kernel", "ATen", "spin"),
    Rule(_AT + r"cuda_spin\w*|at::cuda::\w*sleep\w*", "ATen", "spin"),
    Rule(r"at::native::|at::cuda::(?!detail::|cub::)", "ATen", "unknown"),
)

# The same families with their namespace lost, as anonymous namespaces and old versions leave it.
BASE = (
    Rule(r"multi_tensor_apply_kernel", "Apex", "unknown", foreach),
    Rule(
        r"(?:vectorized|unrolled)_elementwise_kernel\w*",
        "ATen",
        "elementwise",
        functor,
    ),
    Rule(r"elementwise_kernel_with_index", "ATen", "fill"),
    Rule(r"kernelPointwiseApply\d", "ATen", "elementwise"),
    Rule(
        r"(?:softmax_warp_(?:forward|backward)|cunn_\w*[sS]oft[mM]ax\w*|softmax_\w*_smem|"
        r"dense_softmax\w*)",
        "ATen",
        "softmax",
        either_way("softmax"),
    ),
    Rule(r"cunn_\w*(?:NLL)\w*|nll_loss\w*", "ATen", "loss", first_floating),
    Rule(r"split_with_sizes_copy_out\w*", "ATen", "copy"),
    Rule(r"CatArrayBatchedCopy\w*", "ATen", "cat", first_type),
    Rule(r"index(?:Select)(?:Large|Small)Index", "ATen", "index", first_type),
    Rule(
        r"indexing_backward_kernel\w*|index(?:Add|Copy|Fill|Func)(?:Large|Small)Index",
        "ATen",
        "scatter",
    ),
    Rule(
        r"(?:embedding_backward_feature|compute_grad_weight|sum_and_scatter|krn_partial\w+)\w*",
        "ATen",
        "embedding_backward",
    ),
    Rule(r"distribution_\w+_kernel", "ATen", "random"),
    Rule(r"fused_dropout_kernel\w*", "ATen", "dropout", first_type),
    Rule(r"gatherTopK|radixFindKthValues", "ATen", "topk"),
    Rule(r"bitonicSortKVInPlace|radixSortKVInPlace", "ATen", "sort"),
    Rule(
        r"(?:max_pool|avg_pool)_(?:forward|backward)\w*|MaxPool(?:Forward|Backward)|"
        r"AvePool(?:Forward|Backward)",
        "ATen",
        "pooling",
        either_way("pooling"),
    ),
    Rule(r"tensor_kernel_scan_\w+", "ATen", "scan", first_type),
    # Apex, and what was copied from it.
    Rule(r"cuApplyLayerNorm\w*|cuApplyRMSNorm\w*|ln_fwd_\w*kernel", "Apex", "norm", first_floating),
    Rule(
        r"cuCompute(?:Part)?GradGammaBeta\w*|cuComputeGradInput\w*|ln_bwd_\w*kernel",
        "Apex",
        "norm_backward",
        first_floating,
    ),
    Rule(
        r"scaled_(?:upper_triang_)?(?:aligned_causal_)?masked_softmax_warp_\w+|"
        r"scaled_softmax_warp_\w+|generic_scaled_masked_softmax\w*",
        "Apex",
        "softmax",
        either_way("softmax"),
    ),
    Rule(r"welford_\w*kernel\w*|batchnorm_forward\w*", "Apex", "norm"),
    Rule(r"batchnorm_backward\w*|reduce_bn\w*", "Apex", "norm_backward"),
    Rule(r"lamb_cuda_kernel_part\d\w*", "DeepSpeed", "optimizer"),
    Rule(
        r"fused_rope_(?:forward|backward|thd_\w+|block_\w+|\w*kernel)\w*|fused_rope_kernel",
        "Apex",
        "rope",
        first_floating,
    ),
    Rule(
        r"(?:maybe_adam|adam|lamb|novograd|sgd)_(?:undo_)?(?:cuda_)?kernel\w*", "Apex", "optimizer"
    ),
    Rule(r"cunn_SoftMaxXEntropy(?:Forward|Backward)|cunn_SoftMaxXEntropy\w*", "Apex", "loss"),
)
