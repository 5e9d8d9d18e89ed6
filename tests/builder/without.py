"""Deleting every row of one kind from a trace, whatever year wrote it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Item = dict[str, Any]
Trace = TypeVar("Trace", str, list[Any], dict[str, Any])


def _category(*wanted: str) -> Callable[[Item], bool]:
    return lambda item: item.get("cat") in wanted


def _mark(item: Item) -> bool:
    return str(item.get("name", "")).startswith("ProfilerStep")


def _loader(item: Item) -> bool:
    name = str(item.get("name", ""))
    return "DataLoader" in name and "__next__" in name


KINDS: Mapping[str, Callable[[Item], bool]] = {
    "operators": lambda i: i.get("cat") in ("cpu_op", "Operator") and not (_mark(i) or _loader(i)),
    "annotations": lambda i: _category("user_annotation")(i) and not (_mark(i) or _loader(i)),
    "step_marks": lambda i: _mark(i) and i.get("cat") != "gpu_user_annotation",
    "loader": _loader,
    "python": _category("python_function", "PythonFunction"),
    "calls": _category("cuda_runtime", "cuda_driver", "Runtime"),
    "launch_calls": lambda i: (
        _category("cuda_runtime", "cuda_driver", "Runtime")(i)
        and "launch" in str(i.get("name", "")).lower()
    ),
    "sync_calls": lambda i: (
        _category("cuda_runtime", "cuda_driver", "Runtime")(i)
        and "synchronize" in str(i.get("name", "")).lower()
    ),
    "allocation_calls": lambda i: (
        _category("cuda_runtime", "cuda_driver", "Runtime")(i)
        and any(w in str(i.get("name", "")) for w in ("Malloc", "Free", "HostAlloc"))
    ),
    "flows": lambda i: i.get("ph") in ("s", "t", "f"),
    "sync": _category("cuda_sync"),
    "events": _category("cuda_event"),
    "overhead": _category("overhead"),
    "memory": lambda i: i.get("name") == "[memory]",
    "kernels": _category("kernel", "Kernel"),
    "copies": _category("gpu_memcpy", "gpu_memset", "Memcpy", "Memset"),
    "device_annotations": _category("gpu_user_annotation"),
    "metadata": lambda i: i.get("ph") == "M",
    "spans": lambda i: i.get("cat") == "Trace" or i.get("s") == "g",
}
"""What can be deleted, by name."""


class _Exact(float):
    """A number that is written back as it was read."""

    text: str

    def __new__(cls, text: str) -> _Exact:
        made = super().__new__(cls, text)
        made.text = text
        return made

    def __repr__(self) -> str:
        return self.text


def _encode(value: Any) -> str:
    """JSON text; ``json.dumps`` would write the float, not the text it was read from."""
    if isinstance(value, _Exact):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_encode(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_encode(v) for v in value) + "]"
    return json.dumps(value)


def without(trace: Trace, kind: str) -> Trace:
    """The trace without its rows of ``kind`` (a key of ``KINDS``); numbers keep their digits.

    Takes trace text, a trace as an object, or a list of items, and gives the same form back.
    """
    test = KINDS[kind]
    if isinstance(trace, str):
        loaded: dict[str, Any] = json.loads(trace, parse_float=_Exact, strict=False)
        return _encode(without(loaded, kind))
    if isinstance(trace, list):
        return [item for item in trace if not (isinstance(item, dict) and test(item))]
    return {**trace, "traceEvents": without(trace.get("traceEvents", []), kind)}
