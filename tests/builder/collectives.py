"""Collectives of a built trace: the host's record, the annotation, the kernel, the arguments.

Four generations of arguments exist: (a) none beyond ids; (b) name, type, sizes, group size, first
rank and stride, group id and ranks on the host's record; (c) the group's name and description too,
and copies of the arguments on the kernel; (d) sequence number, communicator id, ends and addresses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.builder.rows import Row

if TYPE_CHECKING:
    from tests.builder.host import HostThread

KERNELS = {
    "allreduce": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_allgather_base": "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "_reduce_scatter_base": "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL"
    "(ncclDevKernelArgsStorage<4096ul>)",
    "send": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
}
MULTIMEM = (
    "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*, "
    "unsigned long, unsigned int**, unsigned long, unsigned long)"
)
_ANNOTATIONS = {"allreduce": "nccl:all_reduce", "_allgather_base": "nccl:_all_gather_base"}


def arguments(
    generation: str | None, collective: str, elements: int, ranks: int, sequence: int
) -> dict[str, Any]:
    """Collective arguments of a generation; empty for (a) and None."""
    if generation in (None, "a"):
        return {}
    made: dict[str, Any] = {
        "Collective name": collective,
        "dtype": "Float",
        "In msg nelems": elements,
        "Out msg nelems": elements * (ranks if collective == "_allgather_base" else 1),
        "Group size": ranks,
        "Global rank start": 0,
        "Global rank stride": 1,
        "Process Group Ranks": str(list(range(ranks))),
    }
    if generation == "b":
        return made | {"Process Group ID": 0}
    made |= {"In split size": "[]", "Out split size": "[]"}
    made |= {"Process Group Name": "0", "Process Group Description": "default_pg"}
    if generation == "d":
        made |= {"Seq": sequence, "Comms Id": 6_180_339_887, "Rank": 0}
        made |= {"Src Rank": 0, "Dst Rank": ranks - 1}
        made |= {
            "Input Tensors start": [140255988547584],
            "Output Tensors start": [140255988547584],
        }
    return made


def collective(
    thread: HostThread,
    name: str,
    dur_ns: int,
    *,
    stream: int = 20,
    elements: int = 25_000_000,
    ranks: int = 8,
    kernel: str | None = None,
    **how: Any,
) -> Row:
    """Enqueue one collective from ``thread``; further arguments are those of ``launch``."""
    trace = thread.trace
    generation = trace.variant.collective_args
    sequence = sum(r.name == "record_param_comms" for r in trace.rows) + 1
    args = arguments(generation, name, elements, ranks, sequence)
    with thread.within(f"c10d::{name}_"), thread.within("record_param_comms") as record:
        if trace.variant.collective_args is not None:
            record.args |= args
        with thread.region(_ANNOTATIONS.get(name, f"nccl:{name}")):
            row = thread.launch(
                kernel or KERNELS[name], dur_ns, stream=stream, call="cudaLaunchKernelExC", **how
            )
    if generation in ("c", "d"):
        row.args |= args
    return row


def multimem(thread: HostThread, dur_ns: int, *, stream: int = 7, **how: Any) -> Row:
    """An all-reduce over symmetric memory: a compute-looking kernel that communicates."""
    with thread.within("symm_mem::multimem_all_reduce_"):
        return thread.launch(MULTIMEM, dur_ns, stream=stream, **how)
