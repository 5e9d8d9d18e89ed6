"""Laps by optimizer steps: the classes' ``step``, wrapped outside of torch's own mark around it."""

import functools
import sys
import weakref
from _thread import get_ident
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import modules

if TYPE_CHECKING:
    from .probe import Probe

SILENT = 16
"""Steps of other optimizers after which the one that made the laps is taken to be out of use."""


class Steps:
    """Which optimizer makes the laps: the first that steps, while it goes on stepping."""

    def __init__(self) -> None:
        self._leader: Optional[Any] = None
        self._others = 0
        self.leader = 0
        """The id of that one, while it lives and only it steps."""

    def leads(self, optimizer: Any) -> bool:
        """Whether a step of this one ends a lap."""
        leader = self._leader() if self._leader is not None else None
        if leader is optimizer:
            self._others = 0
            self.leader = id(optimizer)
            return True
        self._others += 1
        self.leader = 0
        if leader is None or self._others >= SILENT:
            self._leader, self._others = weakref.ref(optimizer, self._ended), 0
            return True
        return False

    def _ended(self, _: Any) -> None:
        self.leader = 0


def wrap(probe: "Probe", base: Any) -> None:
    """Wrap the ``step`` of each optimizer class when the first of its instances is made."""
    init = base.__init__
    steps = Steps()

    @functools.wraps(init)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        probe.guard(_made, probe, steps, type(self))

    base.__init__ = made


def _made(probe: "Probe", steps: Steps, kind: Any) -> None:
    probe.optimizer_made = True
    modules.leave(probe)
    if probe.laps.stage == "done":
        return
    step = kind.step
    if getattr(step, "laptime_probe", False):
        return
    outer = _wrapped(probe, steps, step)
    inner = getattr(step, "__wrapped__", None)
    if getattr(step, "hooked", False) and inner is not None:
        # To compile a step, torch takes its mark off: it puts back what ``__wrapped__`` names.
        outer.__wrapped__ = _wrapped(probe, steps, inner)
    probe.wrap(kind, "step", outer)


def _wrapped(probe: "Probe", steps: Steps, step: Any) -> Any:
    compiling = _compiling()

    @functools.wraps(step)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        if compiling():
            # A compiled step is the compiler's: nothing of ours goes into the graph.
            return step(self, *args, **kwargs)
        result = step(self, *args, **kwargs)
        laps = probe.laps
        if (
            laps.quick > 0
            and laps.source == "optimizer"
            and steps.leader == id(self)
            and get_ident() == laps.thread
        ):
            # As ``Laps.boundary`` would, in a few instructions: laps may be of 1 ms.
            laps.quick -= 1
            laps.noted.append(monotonic_ns())
        else:
            probe.guard(_stepped, probe, steps, self)
        return result

    wrapped.laptime_probe = True  # type: ignore[attr-defined]
    return wrapped


def _stepped(probe: "Probe", steps: Steps, optimizer: Any) -> None:
    if steps.leads(optimizer):
        probe.laps.boundary("optimizer")


def _compiling() -> Callable[[], bool]:
    """torch's own test, which its compiler folds away; always false before torch 2.1."""
    compiler = getattr(sys.modules["torch"], "compiler", None)
    found = getattr(compiler, "is_compiling", None)
    return found if found is not None else _never


def _never() -> bool:
    return False
