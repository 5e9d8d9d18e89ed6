"""laptime: where every nanosecond of a training step or engine iteration went, and why.

The public API. Everything else may move between versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from laptime.evidence.registry import open_run as open
    from laptime.explaining import explanation_of as explain
    from laptime.explanation import Explanation
    from laptime.model.errors import CannotTell, LaptimeError, UnreadableInput, UsageError
    from laptime.model.run import Run
    from laptime.model.table import Table

__version__ = "0.1.0"

__all__ = [
    "CannotTell",
    "Explanation",
    "LaptimeError",
    "Run",
    "Table",
    "UnreadableInput",
    "UsageError",
    "explain",
    "open",
]

_HOME = {
    "open": ("laptime.evidence.registry", "open_run"),
    "explain": ("laptime.explaining", "explanation_of"),
    "Explanation": ("laptime.explanation", "Explanation"),
    "Run": ("laptime.model.run", "Run"),
    "Table": ("laptime.model.table", "Table"),
    "LaptimeError": ("laptime.model.errors", "LaptimeError"),
    "UsageError": ("laptime.model.errors", "UsageError"),
    "CannotTell": ("laptime.model.errors", "CannotTell"),
    "UnreadableInput": ("laptime.model.errors", "UnreadableInput"),
}


def __getattr__(name: str) -> Any:
    """Load an exported name when it is first asked for, so that the command line starts fast."""
    if name not in _HOME:
        raise AttributeError(f"module 'laptime' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)
