"""The probe of one process: its parts, and what each module of torch gets when it is imported."""

import os
import sys
from typing import Any, Callable, List, Tuple

from . import ending, facts, gate, loaders, modules, optimizers
from .collector import Collector
from .folder import Folder
from .laps import Laps
from .recorder import Recorder
from .settings import Settings


class Probe:
    """Everything of one process. Made when torch is first seen."""

    def __init__(self, settings: Settings, folder: Folder) -> None:
        self.settings = settings
        self._wire(folder)

    def _wire(self, folder: Folder) -> None:
        self.folder = folder
        self.gate = gate.Gate(self)
        self.recorder = Recorder(self)
        self.collector = Collector(folder)
        self.laps = Laps(self)
        self.ending = ending.Ending(self)
        self.broken = False
        self.optimizer_made = False
        self._wrapped: List[Tuple[Any, str, Any, Any]] = []

    def forked(self, folder: Folder) -> None:
        """Start anew in a forked child: the parent's window and files are not ours."""
        self.collector.stop()
        self.recorder.disown()
        self.folder.close()
        self._wire(folder)
        folder.process["torch"] = facts.torch_version()

    def guard(self, call: Callable[..., None], *args: Any) -> None:
        """Run a part of the probe; a failure ends the probe, never the program."""
        if self.broken:
            return
        try:
            call(*args)
        except KeyboardInterrupt:
            raise
        except Exception as error:
            self.fail("%s: %s" % (type(error).__name__, error))

    def fail(self, reason: str) -> None:
        """Something in here does not work: say so, and touch nothing more."""
        self.broken = True
        try:
            self.recorder.abandon()
            self.folder.give_up("fault of the probe: " + reason)
        except Exception:
            return

    def wrap(self, owner: Any, name: str, ours: Any) -> None:
        """Set an attribute of a class of torch's until the last lap has been counted."""
        self._wrapped.append((owner, name, ours, vars(owner).get(name)))
        setattr(owner, name, ours)

    def let_go(self) -> None:
        """The last lap has been counted: steps and batches cost what they did without us."""
        for owner, name, ours, before in reversed(self._wrapped):
            if vars(owner).get(name) is not ours:
                continue  # the program has wrapped it again
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        del self._wrapped[:]

    def imported(self, name: str, module: Any) -> None:
        """A module of torch's has just been executed."""
        if name == "torch":
            role = {"role": "launcher"} if facts.launches() else {}
            self.folder.write(torch=facts.torch_version(), **role)
        elif name in ("torch.autograd.profiler", "torch.autograd.profiler_legacy"):
            gate.wrap_functions(self, module)
        elif name == "torch.profiler.profiler":
            gate.wrap_export(self, module._KinetoProfile)
        elif name == "torch.optim.optimizer":
            optimizers.wrap(self, module.Optimizer)
        elif name == "torch.utils.data.dataloader":
            loaders.wrap(self, module)
        elif name == "torch.utils.data._utils.worker":
            loaders.wrap_worker(self, module)
        elif name == "torch.nn.modules.module":
            modules.look(self, module.Module)
        elif name == "torch._dynamo.eval_frame":
            modules.leave(self)

    def is_worker(self) -> None:
        """This process serves a loader: it counts, and records nothing."""
        self.broken = True
        self.folder.write(role="loader_worker", state="counting", **facts.rank())

    def end(self) -> None:
        """The program ends: keep the window if one is open, and say how it ended."""
        if os.getpid() == self.folder.pid:
            self.ending.at_end()

    @property
    def torch(self) -> Any:
        """The user's torch."""
        return sys.modules["torch"]
