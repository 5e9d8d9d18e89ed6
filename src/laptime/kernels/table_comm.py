"""Kernels that communicate with other devices.

NCCL up to 2.7 names its kernels `ncclAllReduceRingLLKernel_sum_f32`, up to 2.18
`ncclKernel_AllReduce_RING_LL_Sum_float`, later `ncclDevKernel_AllReduce_Sum_bf16_RING_LL`; RCCL
uses the same names and, for most collectives, one `ncclDevKernel_Generic` whose kind is not in the
name. The data type is that of the reduction; NCCL writes int8_t for anything it only moves, so
that one is not read.
"""

from __future__ import annotations

import re

from laptime.kernels.demangle import Parts
from laptime.kernels.names import UNKNOWN
from laptime.kernels.reading import Reading, first_floating
from laptime.kernels.rules import Rule

_NCCL = re.compile(
    r"nccl(?:(?:Symk?)?(?:Dev)?Kernel\w*?_)?(?P<what>AllReduce|AllGather|ReduceScatter|AllToAllPivot|"
    r"AllToAllV?|AlltoAll|Broadcast|Reduce|SendRecv)(?P<rest>\w*)"
)
_WHAT = {
    "AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter",
    "AllToAllPivot": "all_to_all", "AllToAll": "all_to_all", "AllToAllV": "all_to_all",
    "AlltoAll": "all_to_all", "Broadcast": "broadcast", "Reduce": "reduce_to_root",
    "SendRecv": "send_recv",
}  # fmt: skip
_DTYPES = (
    ("bfloat16", "bf16"),
    ("bf16", "bf16"),
    ("half", "fp16"),
    ("f16", "fp16"),
    ("double", "fp64"),
    ("f64", "fp64"),
    ("f8e4m3", "fp8"),
    ("f8e5m2", "fp8"),
    ("float", "fp32"),
    ("f32", "fp32"),
)
_REDUCTION = re.compile(
    r"_(?:[sS]um|[pP]rod|[mM]in|[mM]ax|MinMax|PreMulSum|SumPostDiv)_(?!int8_t|i8|u8)"
)


def nccl(parts: Parts) -> Reading:
    """Collective and data type of an NCCL or RCCL kernel; `_Generic` has neither."""
    found = _NCCL.match(parts.path)
    if found is None:
        return Reading(operation="collective")
    dtype = None
    if _REDUCTION.search(found["rest"]):
        dtype = next((name for word, name in _DTYPES if f"_{word}" in found["rest"]), None)
    return Reading(dtype=dtype, operation=_WHAT[found["what"]])


PATH = (
    Rule(r"(?:\w+::)?deep_ep::(?:\w+::)*\w*mask_buffer\b", "DeepEP", "setup"),
    # DeepEP and its copies: dispatch and combine in three transports.
    Rule(
        r"(?:\w+::)?deep_ep::(?:\w+::)*(?:clean_low_latency_buffer|barrier)\b", "DeepEP", "barrier"
    ),
    Rule(
        r"(?:\w+::)?deep_ep::(?:\w+::)*(?:cached_)?notify_(?:dispatch|combine)\b",
        "DeepEP",
        "all_to_all",
    ),
    Rule(r"(?:\w+::)?deep_ep::(?:\w+::)*(?:dispatch|combine)(?:\b|_)", "DeepEP", "all_to_all"),
    Rule(r"(?:\w+::)?deep_ep::(?:\w+::)*get_dispatch_layout\b", "DeepEP", "moe_routing"),
    Rule(
        r"(?:\w+::)?deep_ep::(?:intranode|internode|internode_ll|hybrid)::", "DeepEP", "collective"
    ),
    Rule(
        r"(?:(?:\w+::)*ep::)?(?:intranode|internode|internode_ll)::(?:cached_)?(?:notify_)?"
        r"(?:dispatch|combine)(?:_ll)?\b",
        "DeepEP",
        "all_to_all",
    ),
    # A barrier in a namespace of communication.
    Rule(r"flashinfer::comm::(?:\w+::)*\w*[bB]arrier\w*", "FlashInfer", "barrier"),
    # TensorRT-LLM and FlashInfer all-reduce with fused normalisation.
    Rule(
        r"(?:tensorrt_llm::|flashinfer::)(?:\w+::)*(?:trtllm_)?(?:mnnvl_|moe_)?allreduce(?:_fusion)?::(?:\w+::)*\w*"
        r"(?:[aA]ll_?[rR]educe|moereduce|moefinalize)\w*",
        "TensorRT-LLM",
        "all_reduce",
        first_floating,
    ),
    Rule(
        r"(?:tensorrt_llm|flashinfer)::(?:\w+::)*\w*(?:[aA]ll_?[rR]educe|lamport)\w*",
        "TensorRT-LLM",
        "all_reduce",
        first_floating,
    ),
    Rule(
        r"(?:tensorrt_llm|flashinfer)::(?:\w+::)*\w*(?:moe_?a2a|[aA]ll_?[tT]o_?[aA]ll|moeA2A)\w*",
        "TensorRT-LLM",
        "all_to_all",
    ),
    Rule(r"mscclpp::(?:\w+::)*\w*allreduce\w*", "mscclpp", "all_reduce"),
    Rule(r"mscclpp::(?:\w+::)*\w*allgather\w*", "mscclpp", "all_gather"),
    Rule(r"mscclpp::", "mscclpp", "collective"),
    Rule(
        r"aiter::(?:\w+::)*(?:\w*all_?reduce\w*|cross_device_reduce\w*)",
        "AITER",
        "all_reduce",
        first_floating,
    ),
    Rule(r"aiter::(?:\w+::)*(?:\w*reduce_?scatter\w*)", "AITER", "reduce_scatter", first_floating),
    Rule(r"aiter::(?:\w+::)*(?:\w*all_?gather\w*)", "AITER", "all_gather", first_floating),
    # Custom all-reduce of the serving engines: the namespace tells whose.
    Rule(r"vllm::(?:\w+::)*cross_device_reduce\w*", "vLLM", "all_reduce", first_floating),
    Rule(
        r"(?:sglang|sgl_kernel|sgl_hip|sgl)::(?:\w+::)*cross_device_reduce\w*",
        "SGLang",
        "all_reduce",
        first_floating,
    ),
    Rule(
        r"c10d::(?:\w+::)*(?:barrier|put_signal|wait_signal|stream_write_value\w*|signal_all)_kernel",
        "symmetric memory",
        "barrier",
    ),
    Rule(r"transformer_engine::(?:\w+::)*userbuffers\w*", "Transformer Engine", "collective"),
)

BASE = (
    Rule(r"msccl(?:Kernel|::)\w*", "RCCL", "collective"),
    Rule(r"rccl\w*", "RCCL", "collective", nccl),
    Rule(r"ncclDevKernel(?:Debug)?_Generic_\d", "RCCL", "collective"),
    Rule(
        r"nccl(?:Symk?)?(?:Dev)?Kernel|"
        r"nccl(?:All(?:Reduce|Gather|ToAll)|ReduceScatter|Broadcast|Reduce|SendRecv)\w*Kernel",
        "NCCL",
        "collective",
        nccl,
    ),
    # One-sided library calls on a stream.
    Rule(r"nvshmem\w*?(?:barrier|sync|quiet|fence)", "NVSHMEM", "barrier"),
    Rule(r"nvshmem\w*?(?:alltoall|all_to_all)", "NVSHMEM", "all_to_all"),
    Rule(r"nvshmem\w*?(?:allreduce|all_reduce)", "NVSHMEM", "all_reduce"),
    Rule(r"nvshmem\w*?reducescatter", "NVSHMEM", "reduce_scatter"),
    Rule(r"nvshmem\w*?(?:fcollect|collect|allgather)", "NVSHMEM", "all_gather"),
    Rule(r"nvshmem\w*?broadcast", "NVSHMEM", "broadcast"),
    Rule(r"nvshmem\w*?reduce", "NVSHMEM", "all_reduce"),
    Rule(r"nvshmem\w*?(?:put|get|signal|wait|_p\b|_g\b)", "NVSHMEM", "send_recv"),
    Rule(r"nvshmem\w*", "NVSHMEM", "collective"),
    # Its kernels behind those calls have no prefix.
    Rule(r"(?:barrier|sync|quiet|fence)\w*_on_stream_kernel\w*", "NVSHMEM", "barrier"),
    Rule(r"alltoall\w*_on_stream_kernel\w*", "NVSHMEM", "all_to_all"),
    Rule(r"reduce_?scatter\w*_on_stream_kernel\w*", "NVSHMEM", "reduce_scatter"),
    Rule(r"(?:rdxn|(?:all)?reduce)\w*_on_stream_kernel\w*", "NVSHMEM", "all_reduce"),
    Rule(r"(?:f?collect|allgather)\w*_on_stream_kernel\w*", "NVSHMEM", "all_gather"),
    Rule(r"broadcast\w*_on_stream_kernel\w*", "NVSHMEM", "broadcast"),
    Rule(r"i?(?:put|get|signal|wait|[pg]_)\w*_on_stream_kernel\w*", "NVSHMEM", "send_recv"),
    Rule(
        r"all_to_all_vdev\w*|allToAllV(?:_2d)?|exchangeSplitAndOffset\w*",
        "symmetric memory",
        "all_to_all",
    ),
    # PyTorch symmetric memory.
    Rule(
        r"(?:multimem_)?(?:one|two)_shot_all_reduce\w*",
        "symmetric memory",
        "all_reduce",
        first_floating,
    ),
    Rule(r"multimem_all_reduce\w*", "symmetric memory", "all_reduce", first_floating),
    Rule(r"multimem_all_gather\w*", "symmetric memory", "all_gather"),
    Rule(
        r"multimem_reduce_scatter\w*|reduce_scatter_lastdim\w*",
        "symmetric memory",
        "reduce_scatter",
        first_floating,
    ),
    Rule(
        r"(?:barrier|put_signal|wait_signal|stream_write_value\w*|signal_all)_kernel",
        UNKNOWN,
        "barrier",
    ),
    Rule(
        r"(?:two|one)ShotAllReduceKernel|intra_node_(?:two|one)_shot\w*",
        "symmetric memory",
        "all_reduce",
    ),
    # Without its namespace nothing tells which engine's copy it is.
    Rule(r"cross_device_reduce\w*", UNKNOWN, "all_reduce", first_floating),
    Rule(r"allreduce_prototype\w*|quickreduce\w*", UNKNOWN, "all_reduce"),
    # Userbuffers: `rw`, `rr` (write, read remotely), `mc` (multicast) are ways of moving; a whole
    # all-reduce unless `_rs` or `_ag`, its two halves, follows.
    Rule(
        r"userbuffers_\w*(?:_rs(?![a-z])|reduce_?scatter)\w*",
        "Transformer Engine",
        "reduce_scatter",
    ),
    Rule(r"userbuffers_\w*(?:_ag(?![a-z])|allgather)\w*", "Transformer Engine", "all_gather"),
    Rule(r"userbuffers_\w*(?:_sum_|rsag|all_?reduce)\w*", "Transformer Engine", "all_reduce"),
    Rule(r"kuserbuffers_\w*(?:send|recv|push|pull)\w*", "Transformer Engine", "send_recv"),
    Rule(r"k?userbuffers_\w*", "Transformer Engine", "collective"),
    Rule(r"Ep(?:Dispatch|Combine)\w*Kernel\w*", UNKNOWN, "all_to_all"),
)

# The kind of communication in a name that no rule knows: the library stays unknown.
LOOSE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"all_?reduce", re.I), "all_reduce"),
    (re.compile(r"all_?gather", re.I), "all_gather"),
    (re.compile(r"reduce_?scatter(?!_add)", re.I), "reduce_scatter"),
    (re.compile(r"(?:^|_)all_?to_?all(?:$|_)|AllToAll|all2all", re.I), "all_to_all"),
    (re.compile(r"nccl|rccl|nvshmem|rocshmem|mscclpp|multimem_", re.I), "collective"),
)

# Parameters of these types are handed to kernels that communicate only.
_HANDED = re.compile(r"\bnccl(?:DevComm|DevKernelArgs|Work(?:Elem)?|Coll)\b")


def loose(parts: Parts) -> str | None:
    """The operation of a communicating kernel of no known library, by its function name or the
    types of its parameters."""
    for pattern, operation in LOOSE:
        if pattern.search(parts.path):
            return operation
    return "collective" if "nccl" in parts.args and _HANDED.search(parts.args) else None
