"""What a process knows of itself: rank, versions, threads."""

import os
import sys
from typing import Any, Dict, Optional

_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
_LOCAL = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
_WORLD = ("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS")


def rank() -> Dict[str, Optional[int]]:
    """Rank, local rank, world size: of the process group where there is one, else as launched."""
    found = {
        "rank": _number(_RANK),
        "local_rank": _number(_LOCAL),
        "world_size": _number(_WORLD),
    }
    group = sys.modules.get("torch.distributed")
    try:
        if group is not None and group.is_available() and group.is_initialized():
            found["rank"], found["world_size"] = group.get_rank(), group.get_world_size()
    except Exception:
        return found
    return found


def threads() -> Optional[int]:
    """Threads inside one operator, as the user's torch has it now."""
    try:
        return int(sys.modules["torch"].get_num_threads())
    except Exception:
        return None


def torch_version() -> Optional[str]:
    """The version of the user's torch; None while it is being imported."""
    version: Any = getattr(sys.modules.get("torch"), "__version__", None)
    return None if version is None else str(version)


def launches() -> bool:
    """Whether this process is a launcher of ranks, and no rank itself."""
    words = getattr(sys, "orig_argv", None) or sys.argv
    names = {os.path.basename(w) for w in words[:4]}
    modules = {"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch"}
    return bool(names & {"torchrun", "accelerate", "deepspeed"} or modules & set(words[:5]))


def _number(names: Any) -> Optional[int]:
    for name in names:
        text = os.environ.get(name, "")
        if text.isdigit():
            return int(text)
    return None
