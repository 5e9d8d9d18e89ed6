"""From a kernel's name to what it says: `decode` and `is_comm`.

A wrong label costs more than a missing one, so a name that no rule knows stays unknown; only
whether it communicates is still guessed from the words of its function name.
"""

from __future__ import annotations

from functools import lru_cache

from laptime.kernels import table_attention, table_comm, table_nvidia, table_xla
from laptime.kernels.demangle import Parts, split
from laptime.kernels.names import UNKNOWN, KernelName
from laptime.kernels.operations import COMM_OPERATIONS
from laptime.kernels.reading import NOTHING, Reading
from laptime.kernels.rules import Rule
from laptime.kernels.table import BY_BASE, BY_FUSION, BY_PATH

# A trace of a large job has a few thousand distinct names.
_CACHE_NAMES = 65536


@lru_cache(maxsize=_CACHE_NAMES)
def decode(name: str) -> KernelName:
    """What a kernel's name says; names are read once. Never raises."""
    parts = split(name)
    rule = find_rule(parts)
    if rule is None:
        # A collective's name may hold the words of a fusion: it is asked first.
        operation = table_comm.loose(parts) or UNKNOWN
        if operation == UNKNOWN:
            rule = _fusion(parts)
    if rule is None:
        comm = operation in COMM_OPERATIONS
        library = UNKNOWN if comm else table_nvidia.marked(parts)
        return KernelName(name, library, operation, comm=comm)
    seen = _read(rule, parts)
    operation = seen.operation or rule.operation
    return KernelName(
        name=name,
        library=seen.library or rule.library,
        operation=operation,
        dtype=seen.dtype,
        tile=seen.tile,
        tensor_core=seen.tensor_core,
        arch=seen.arch,
        comm=operation in COMM_OPERATIONS,
    )


def is_comm(name: str) -> bool:
    """Whether the kernel communicates with other devices, by its name."""
    return decode(name).comm


def find_rule(parts: Parts) -> Rule | None:
    """The rule that holds for a name, None if there is none."""
    path = parts.path
    if "::" not in path:
        return BY_BASE.find(path)
    return BY_PATH.find(path) or BY_BASE.find(path[path.rindex("::") + 2 :])


def _fusion(parts: Parts) -> Rule | None:
    return BY_FUSION.find(parts.path) if table_xla.asked(parts.path) else None


def _read(rule: Rule, parts: Parts) -> Reading:
    if rule.library == "CUTLASS" and table_attention.wrapped(parts):
        return table_attention.wrapped_device(parts)
    seen = rule.read(parts) or NOTHING
    if rule.library == "Triton" and _from_cpp(parts):
        return seen._replace(library=UNKNOWN)
    return seen


def _from_cpp(parts: Parts) -> bool:
    """Triton kernels have no templates, parameters, namespaces or mangling: a C++ kernel."""
    return (
        parts.args.startswith(("<", "("))
        or parts.name.startswith(("_Z", "void "))
        or "::" in parts.path
    )
