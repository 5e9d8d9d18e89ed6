"""Marks around calls that hold a lap without an operator: printing, logging, saving, sleeping.

They are wrapped while the window is open and are the program's own again after it. A mark carries
the line of the program that called. What was imported by name before (``from time import sleep``)
is not seen.
"""

import builtins
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, List, Tuple

if TYPE_CHECKING:
    from .probe import Probe

WATCHED = "laptime.calls"
"""The mark that says that calls were watched."""

CALLED = "laptime.call: %s from %s"

LOADED = "laptime.load: %s from %s"
"""What a loader without workers does: ``rows(64)`` fetches and collates, ``collate`` lies in it."""

_CALLS = (
    ("time", None, "sleep", "time.sleep"),
    ("torch", None, "save", "torch.save"),
    ("torch.distributed.checkpoint", None, "save", "checkpoint save"),
    ("safetensors.torch", None, "save_file", "safetensors.save_file"),
    ("os", None, "fsync", "os.fsync"),
    ("pickle", None, "dump", "pickle.dump"),
    ("gc", None, "collect", "gc.collect"),
    ("torch.cuda", None, "empty_cache", "torch.cuda.empty_cache"),
    ("logging", "Logger", "handle", "logging"),
    ("torch.utils.tensorboard.writer", "SummaryWriter", "add_scalar", "tensorboard"),
    ("torch.utils.tensorboard.writer", "SummaryWriter", "add_scalars", "tensorboard"),
    ("torch.utils.tensorboard.writer", "SummaryWriter", "add_histogram", "tensorboard"),
    ("torch.utils.tensorboard.writer", "SummaryWriter", "add_image", "tensorboard"),
    ("torch.utils.tensorboard.writer", "SummaryWriter", "flush", "tensorboard"),
    ("wandb", None, "log", "wandb.log"),
    ("mlflow", None, "log_metric", "mlflow.log_metric"),
    ("mlflow", None, "log_metrics", "mlflow.log_metrics"),
    ("torchmetrics", "Metric", "forward", "torchmetrics forward"),
    ("torchmetrics", "Metric", "compute", "torchmetrics compute"),
)
"""Module, class or None, attribute, and what the mark says. Only modules that the program has
imported by then are looked at."""

_OWN = os.path.dirname(os.path.abspath(__file__))


class Calls:
    """The wrapped calls of one window."""

    def __init__(self, probe: "Probe") -> None:
        self.probe = probe
        self._wrapped: List[Tuple[Any, str, Any, Any]] = []

    def watch(self, record: Callable[[str], Any]) -> None:
        """Wrap what is there, until ``leave``. ``record`` makes a mark.

        Nothing is wrapped where the program compiles: compiled code may know what it calls by
        identity, and would be compiled again.
        """
        if _compiled():
            return
        with record(WATCHED):
            pass
        self._wrap(builtins, "print", "print", record)
        for module, owner, name, says in _CALLS:
            place = sys.modules.get(module)
            if place is not None and owner is not None:
                place = getattr(place, owner, None)
            if place is not None:
                self._wrap(place, name, says, record)

        self._wrap_fetch(record)

    def _wrap_fetch(self, record: Callable[[str], Any]) -> None:
        """Mark the fetching of a batch of single rows, and the collating inside it."""
        fetch = sys.modules.get("torch.utils.data._utils.fetch")
        place = getattr(fetch, "_MapDatasetFetcher", None)
        own = vars(place).get("fetch") if place is not None else None
        if not callable(own):
            return

        def marked(fetcher: Any, index: Any) -> Any:
            dataset, collate = fetcher.dataset, fetcher.collate_fn
            if not getattr(fetcher, "auto_collation", False) or hasattr(dataset, "__getitems__"):
                return own(fetcher, index)

            def collating(batch: Any) -> Any:
                with record(LOADED % ("collate", _defined(collate))):
                    return collate(batch)

            fetcher.collate_fn = collating
            try:
                where = _defined(getattr(type(dataset), "__getitem__", None))
                with record(LOADED % ("rows(%d)" % len(index), where)):
                    return own(fetcher, index)
            finally:
                fetcher.collate_fn = collate

        place.fetch = marked  # type: ignore[union-attr]
        self._wrapped.append((place, "fetch", own, marked))

    def leave(self) -> None:
        """Give everything back that nobody else has replaced since."""
        wrapped, self._wrapped = self._wrapped, []
        for place, name, own, ours in wrapped:
            if vars(place).get(name) is ours:
                setattr(place, name, own)

    def _wrap(self, place: Any, name: str, says: str, record: Callable[[str], Any]) -> None:
        own = vars(place).get(name)
        if not callable(own):
            return
        ours = _marked(own, says, record)
        try:
            setattr(place, name, ours)
        except Exception:  # what cannot be replaced is not watched
            return
        self._wrapped.append((place, name, own, ours))


def _compiled() -> bool:
    """Whether torch has compiled any of the program's code."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return isinstance(counters, dict) and bool(counters.get("frames"))


def _marked(call: Any, says: str, record: Callable[[str], Any]) -> Any:
    def marked(*args: Any, **kwargs: Any) -> Any:
        told = "%s(%.3g)" % (says, args[0]) if says == "time.sleep" and _number(args) else says
        with record(CALLED % (told, _caller())):
            return call(*args, **kwargs)

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        try:
            setattr(marked, name, getattr(call, name))
        except Exception:  # builtins may lack some
            continue
    marked.__wrapped__ = call  # type: ignore[attr-defined]
    return marked


def _number(args: Any) -> bool:
    return len(args) == 1 and type(args[0]) in (int, float)


def _caller() -> str:
    """The nearest line that is not a library's, else the nearest: "train.py(42): step"."""
    frame = near = sys._getframe(2)
    for _ in range(32):
        path = frame.f_code.co_filename
        if not _library(path):
            return _line(frame)
        if frame.f_back is None:
            break
        frame = frame.f_back
    return _line(near)


def _defined(function: Any) -> str:
    """Where a function is defined."""
    code = getattr(function, "__code__", None)
    if code is None:
        return type(function).__qualname__
    return "%s(%d): %s" % (_short(code.co_filename), code.co_firstlineno, code.co_name)


def _line(frame: Any) -> str:
    code = frame.f_code
    return "%s(%d): %s" % (_short(code.co_filename), frame.f_lineno, code.co_name)


def _short(path: str) -> str:
    """A path below a root of ``sys.path``, as torch's profiler has it."""
    for root in sys.path:
        if root and path.startswith(root + os.sep):
            return path[len(root) + 1 :]
    return path


_ROOTS = tuple({os.path.dirname(os.__file__) + os.sep, _OWN + os.sep})


def _library(path: str) -> bool:
    return (
        path.startswith("<")
        or "site-packages" in path
        or "dist-packages" in path
        or path.startswith(_ROOTS)
    )
