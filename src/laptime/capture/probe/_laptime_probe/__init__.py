"""What rides inside the user's program: finds laps, records a few, and stays out of the way.

It needs the standard library and the user's own torch, nothing else, from Python 3.9 and torch 1.13
on. Until the program imports torch it only waits. Whatever fails in here is written down as a
reason, and the program runs on.
"""

from __future__ import annotations

import os
import sys

from . import folder, imports, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .probe import Probe

probe: Probe | None = None
"""The one ``Probe`` of this process, once torch has been imported; None before."""


def enter() -> None:
    """Set the import hooks and say that this process has the probe. Never raises."""
    try:
        found = settings.read(os.environ)
        if found is None:
            return
        here = folder.Folder(found.dir)
        here.process["argv"] = list(getattr(sys, "orig_argv", None) or [sys.executable])
        here.write()
        os.register_at_fork(after_in_child=_after_fork)

        import atexit

        atexit.register(_at_end)
        imports.when_imported(_HOOKS)
        global _entered
        _entered = (found, here)
    except BaseException:
        # Not even the folder can be written: the launcher finds nothing, and says so.
        return


def mark() -> None:
    """A lap boundary that the program marks by hand: ``laptime.lap()``."""
    if probe is not None:
        probe.guard(probe.laps.boundary, "mark")


_entered: tuple[settings.Settings, folder.Folder] | None = None


def _start() -> Probe | None:
    """The probe of this process, made when the first module of torch is seen; None if it cannot."""
    global probe
    if probe is None and _entered is not None:
        from .probe import Probe

        probe = Probe(*_entered)
    return probe


def _after_fork() -> None:
    """In a forked child nothing of the parent's is ours: no window, no files, no laps."""
    global _entered
    try:
        if _entered is None:
            return
        found = _entered[0]
        _entered = (found, folder.Folder(found.dir, made_by_fork=True))
        if probe is not None:
            probe.forked(_entered[1])
    except BaseException:
        _entered = None


def _at_end() -> None:
    try:
        if probe is not None:
            probe.end()
        elif _entered is not None:
            _entered[1].process["state"] = "waiting"
            _entered[1].finish()
    except BaseException:
        return


def _hook(name: str) -> Callable[[Any], None]:
    """The hook that runs after a module of torch's has been imported."""

    def after(module: Any) -> None:
        try:
            made = _start()
            if made is not None:
                made.imported(name, module)
        except BaseException as error:
            if _entered is not None:
                _entered[1].give_up("%s: %s: %s" % (name, type(error).__name__, error))

    return after


_HOOKS = {
    name: _hook(name)
    for name in (
        "torch",
        "torch.autograd.profiler",
        "torch.autograd.profiler_legacy",
        "torch.profiler.profiler",
        "torch.optim.optimizer",
        "torch.utils.data.dataloader",
        "torch.utils.data._utils.worker",
        "torch.nn.modules.module",
        "torch._dynamo.eval_frame",
    )
}
