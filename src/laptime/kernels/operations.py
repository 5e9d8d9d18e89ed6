"""The words a kernel name is read into: libraries, operations, data types.

A small fixed vocabulary, so that reports can group and causes can compare. `unknown` (see
`laptime.kernels.names.UNKNOWN`) is not in the sets: it says that no rule of the table holds.
"""

from __future__ import annotations

OPERATIONS: dict[str, str] = {
    # Dense mathematics.
    "gemm": "matrix product, batched and grouped included",
    "gemv": "matrix-vector product",
    "conv": "convolution, forward or with a direction that the name does not say",
    "conv_backward_data": "convolution, gradient of the input",
    "conv_backward_weight": "convolution, gradient of the weights",
    "attention": "fused attention, forward; prefill, decode and their split combination",
    "attention_backward": "fused attention, backward, its preparation included",
    "fft": "Fourier transform",
    "solver": "factorisation, triangular solve, other dense or sparse solvers",
    "sparse": "sparse matrix product or format conversion",
    "rnn": "recurrent cell or layer",
    "ssm": "state-space or linear-attention scan, causal 1-D convolution in front of it",
    # Memory-bound tensor work.
    "elementwise": "pointwise arithmetic, compiler-fused pointwise code included",
    "activation": "an activation function by name, gated ones included",
    "copy": "copy or conversion of type",
    "fill": "constants, zeros, ranges",
    "reduce": "sum, mean, extremum, norm of a vector, compiler-fused reduction",
    "softmax": "softmax or log-softmax, forward or backward",
    "norm": "batch, layer, group or RMS normalisation, forward (residual addition included)",
    "norm_backward": "the same, backward",
    "pooling": "pooling, forward or backward",
    "upsample": "interpolation, grid sampling, forward or backward",
    "embedding": "embedding lookup or bag",
    "embedding_backward": "embedding gradient, fused optimiser included",
    "index": "gather, index, select",
    "scatter": "scatter, index_put, index_add",
    "sort": "sort, unique, segmentation of sorted keys",
    "scan": "prefix sum and other cumulative operations",
    "topk": "selection of the largest, of the k-th value",
    "cat": "concatenation, splitting copy",
    "transpose": "change of layout",
    "random": "random numbers, sampling from distributions",
    "dropout": "dropout, forward or backward",
    "loss": "loss function, forward or backward",
    "optimizer": "parameter update",
    "fused": "compiler-fused code whose kind the name does not say",
    # Language models.
    "rope": "rotary position embedding",
    "kv_cache": "writing, moving or indexing a key-value cache",
    "moe_routing": "routing, permutation and recombination of tokens for experts, on one device",
    "sampling": "choice of the next token, speculative verification",
    "quantize": "conversion to a quantised format, scales included",
    "dequantize": "conversion from a quantised format",
    # Communication with other devices.
    "all_reduce": "all-reduce",
    "all_gather": "all-gather",
    "reduce_scatter": "reduce-scatter",
    "all_to_all": "all-to-all, expert dispatch and combine",
    "broadcast": "broadcast",
    "reduce_to_root": "reduction to one rank",
    "send_recv": "point-to-point, one-sided put and get",
    "barrier": "synchronisation of devices",
    "collective": "communication whose kind the name does not say",
    # The rest.
    "setup": "bookkeeping of a library: offsets, pointers, metadata, scheduling",
    "spin": "waiting on purpose",
}

COMM_OPERATIONS = frozenset(
    {
        "all_reduce",
        "all_gather",
        "reduce_scatter",
        "all_to_all",
        "broadcast",
        "reduce_to_root",
        "send_recv",
        "barrier",
        "collective",
    }
)

LIBRARIES: dict[str, str] = {
    "AITER": "AMD's AI tensor engine, assembly and HIP kernels",
    "AOTriton": "ahead-of-time Triton attention of ROCm PyTorch",
    "ATen": "PyTorch's own kernels",
    "Apex": "Apex kernels, and copies of them (multi_tensor_apply outside at::native)",
    "CK": "AMD Composable Kernel and ck_tile",
    "CUB": "CUB device primitives, whatever namespace wraps them",
    "CUTLASS": "CUTLASS 2 and 3 kernels, those shipped inside cuBLAS included",
    "DeepEP": "DeepEP expert-parallel communication",
    "DeepGEMM": "DeepGEMM",
    "DeepSpeed": "DeepSpeed",
    "FBGEMM": "FBGEMM GPU, table-batched embeddings",
    "FlashAttention": "FlashAttention 1, 2, 3 (also inside PyTorch) and FlashMLA",
    "FlashInfer": "FlashInfer",
    "GPTQ/AWQ": "weight-only quantised kernels: GPTQ, AWQ, ExLlama, Marlin, Machete",
    "Inductor": "Triton code made by TorchInductor",
    "JAX/XLA": "XLA fusions",
    "MAGMA": "MAGMA",
    "MIOpen": "MIOpen, its implicit-GEMM and Winograd assembly included",
    "Mamba": "mamba_ssm and causal_conv1d",
    "NCCL": "NCCL, or RCCL where the name is the same",
    "NVSHMEM": "NVSHMEM",
    "RCCL": "RCCL, where the name shows it",
    "ROCm runtime": "copies and fills of the HIP runtime",
    "SGLang": "SGLang and sgl-kernel",
    "Tensile": "Tensile solutions of rocBLAS and hipBLASLt (the name does not tell which)",
    "TensorRT-LLM": "TensorRT-LLM, also as shipped in FlashInfer and vLLM",
    "Thrust": "Thrust",
    "Transformer Engine": "Transformer Engine",
    "Triton": "Triton kernels written by hand",
    "bitsandbytes": "bitsandbytes",
    "cuBLAS": "cuBLAS and cuBLASLt",
    "cuDNN": "cuDNN",
    "cuFFT": "cuFFT",
    "cuRAND": "cuRAND",
    "cuSOLVER": "cuSOLVER",
    "cuSPARSE": "cuSPARSE",
    "driver": "copies and fills of the CUDA driver",
    "hipBLASLt": "hipBLASLt kernels that are not Tensile's",
    "mscclpp": "MSCCL++",
    "rocBLAS": "rocBLAS kernels that are not Tensile's",
    "rocFFT": "rocFFT",
    "rocPRIM": "rocPRIM, rocThrust",
    "symmetric memory": "PyTorch symmetric memory",
    "vLLM": "vLLM, its custom all-reduce (also in SGLang and others) included",
    "xFormers": "memory-efficient attention of xFormers and PyTorch",
}

DTYPES = frozenset(
    ["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4", "int64", "int32", "int16", "int8", "uint8", "int4", "bool", "complex64", "complex128"]
)
