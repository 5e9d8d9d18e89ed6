"""What a host row says of its thread, read off its name: one table for each kind of row.

Names are those that PyTorch, CUDA and HIP record; a name outside the tables says no more than
that the thread is inside an operator, a Python function or an API call.
"""

from __future__ import annotations

import re
from enum import IntEnum

from laptime.ledger.loaders import RECOGNISED_ONLY, Loaders
from laptime.model.rows import Kind


class State(IntEnum):
    """State of a host thread at an instant, in the order of the accounts' tests."""

    NONE = 0
    INPUT_WAIT = 1
    BLOCKED = 2
    ALLOCATOR = 3
    GC = 4
    COMPILE = 5
    SIDE_WORK = 6
    LAUNCH = 7
    OPS = 8
    PYTHON = 9


GC = re.compile(r"^Python GC|^gc$|: gc_collect$|^<built-in (function|method) collect>|^gc\.collect")
COMPILE = re.compile(
    r"torch/_dynamo/convert_frame\.py|torch/_inductor/(compile_fx|graph|scheduler|codecache)\.py"
    r"|torch/_functorch/aot_autograd\.py\(\d+\): (create_aot|aot_dispatch)"
    r"|\(dynamo_timed\)|^(OutputGraph|compile_fx|GraphLowering)\b"
    r"|triton/runtime/autotuner\.py\(\d+\): (_bench|benchmark|prune_configs)$"
    r"|triton/compiler/compiler\.py\(\d+\): compile$"
    r"|do_bench"
)
SIDE_WORK = re.compile(
    r"torch/serialization\.py\(\d+\): save$|torch/distributed/checkpoint/.*: (async_)?save$"
    r"|torch/utils/tensorboard/|(^|/)tensorboardX?/|(^|/)wandb/|(^|/)mlflow/"
    r"|(^|/)logging/__init__\.py|^<built-in function print>$"
    r"|^(save_checkpoint|checkpoint_save|log_metrics)\b|\[Callback\]"
    r"|^laptime\.call: (?!time\.sleep|torch\.cuda|gc\.)"
)
CALL_PREFIX = r"^(cuda|cu|hip|hsa|ze|ur)"
BLOCKING = re.compile(
    r"^(cuda|hip)(Device|Stream|Event|Thread)Synchronize|^cu(Ctx|Stream|Event)Synchronize"
    r"|^(cuda|hip)Memcpy(2D|3D|ToSymbol|FromSymbol|DtoH|HtoD|DtoD)?(_v\d+|_ptds)?$|^hipMemcpyWithStream"
    r"|^cuMemcpy(DtoH|HtoD|DtoD)?(_v2)?$|^(cuda|hip)Memset(_v\d+)?$"
    r"|^ze(CommandQueue|Event|Fence)(Host)?Synchronize|^ur(Queue|Event)(Finish|Wait)"
)
ALLOCATION = re.compile(
    r"^(cuda|hip)(Malloc|Free|HostAlloc|HostFree|HostRegister|HostUnregister|MallocHost|FreeHost"
    r"|ExtMallocWithFlags|HostMalloc)(_v\d+|Managed|Pitch|3D)?$"
    r"|^cuMem(Alloc|Free|Create|Map|Unmap|Release|AddressReserve|AddressFree|SetAccess|HostAlloc)"
)
MODULES = re.compile(
    r"^(cuda|cu|hip)(Module|Library)Load|^(cuda|cu|hip)Graph(Instantiate|ExecUpdate)|^cuLink|^nvrtc|^hiprtc"
)
LAUNCHES = re.compile(
    r"LaunchKernel|LaunchCooperativeKernel|GraphLaunch|ModuleLaunch|Memcpy\w*Async|Memset\w*Async"
    r"|^hipExtLaunch|^INVALID$|^zeCommandListAppend|^urEnqueue|AppendLaunchKernel"
)
KERNEL_LAUNCH = re.compile(
    r"LaunchKernel|LaunchCooperativeKernel|ModuleLaunch|^hipExtLaunch|AppendLaunchKernel|KernelLaunch"
)
GRAPH_LAUNCH = re.compile(r"GraphLaunch")
COPY_LAUNCH = re.compile(r"Memcpy\w*Async|^hipMemcpyWithStream|^(cuda|hip)Memcpy$")
SET_LAUNCH = re.compile(r"Memset\w*Async")
BEGIN_CAPTURE = re.compile(r"StreamBeginCapture")
END_CAPTURE = re.compile(r"StreamEndCapture")
MODULE_LOADING = re.compile(r"Lazy Function Loading|Module Loading|Driver Compiler", re.IGNORECASE)
"""Overhead rows that CUDA itself causes, with or without a profiler: compilation, not overhead."""


def of_call(name: str) -> State:
    """State of a thread inside an API call of this name."""
    if BLOCKING.search(name):
        return State.BLOCKED
    if ALLOCATION.search(name):
        return State.ALLOCATOR
    if MODULES.search(name):
        return State.COMPILE
    if LAUNCHES.search(name):
        return State.LAUNCH
    return State.OPS


def of_region(name: str, kind: Kind, loaders: Loaders = RECOGNISED_ONLY) -> State:
    """State of a thread inside an operator, annotation or Python row of this name.

    A plain annotation says nothing: users wrap whole steps in them.
    """
    if loaders.is_loader(name, kind):
        return State.INPUT_WAIT
    if GC.search(name):
        return State.GC
    if COMPILE.search(name):
        return State.COMPILE
    if SIDE_WORK.search(name):
        return State.SIDE_WORK
    if kind is Kind.ANNOTATION:
        return State.NONE
    return State.PYTHON if kind is Kind.PYTHON else State.OPS
