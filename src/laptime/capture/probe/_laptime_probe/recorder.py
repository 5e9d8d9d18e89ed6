"""Our own profile of a few laps, by the user's torch."""

import os
import sys
import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any, Dict, Optional

from . import facts
from .calls import Calls

if TYPE_CHECKING:
    from .probe import Probe

LAP_MARK = "ProfilerStep#%d"
CLOCK_MARK = "laptime.clock/%d/%d"
CLOCK_MARKS = 4
"""Marks at either end of the window; the reader takes the one that came with the least delay."""


class Recorder:
    """One window of ``torch.profiler``. All of it happens in the thread of the laps."""

    def __init__(self, probe: "Probe") -> None:
        self.probe = probe
        self.active: Optional[str] = None
        """None, ``prepared`` or ``started``."""
        self.thread = 0
        self.busy = False
        """While it calls the profiler itself: the gate lets these calls pass."""
        self._profile: Any = None
        self._mark: Any = None
        self._window: Dict[str, Any] = {}
        self._calls = Calls(probe)

    def prepare(self) -> bool:
        """Arm the profiler, which then warms up for a lap. False where the program has its own."""
        if not self.probe.gate.claim():
            return False
        self.busy = True
        try:
            profiler = sys.modules["torch.profiler.profiler"]
            asked = self.probe.settings
            self._profile = profiler._KinetoProfile(
                activities=self._activities(profiler),
                record_shapes=asked.shapes,
                profile_memory=asked.memory,
                with_stack=asked.stacks,
            )
            with _QuietKineto():
                self._profile.prepare_trace()
        except BaseException:
            self.active = None
            raise
        finally:
            self.busy = False
        return True

    def start(self, first_lap: int) -> None:
        """Record from here on."""
        self.busy = True
        try:
            with _QuietKineto():
                self._profile.start_trace()
            self.active = "started"
        finally:
            self.busy = False
        start = self._clock_marks()
        self._calls.watch(self._record)
        self._window = {"first_lap": first_lap, "laps": None}
        self._window["start_mono_ns"], self._window["start_wall_ns"] = start
        self.probe.ending.watch()
        self.probe.folder.write(
            state="recording",
            reason=None,
            window=self._window,
            threads_intraop=facts.threads(),
            torch=facts.torch_version(),
            activities=sorted(str(a).rpartition(".")[2] for a in self._profile.activities),
            **facts.rank(),
        )

    def begin(self, lap: int) -> None:
        """Mark the start of a lap."""
        self._mark = self._record(LAP_MARK % lap)
        self._mark.__enter__()

    def end(self) -> None:
        """Mark the end of the lap that is open."""
        if self._mark is not None:
            mark, self._mark = self._mark, None
            mark.__exit__(None, None, None)

    def keep(self, laps: int, reason: Optional[str], **state: Any) -> None:
        """End the window after ``laps`` whole laps and write the trace."""
        folder = self.probe.folder
        self._calls.leave()
        end = self._clock_marks()
        self._window["laps"] = laps
        self._window["end_mono_ns"], self._window["end_wall_ns"] = end
        # A lap that is still open has no end, and never gets one.
        self._mark = None
        folder.write(state="exporting", reason=reason, window=self._window, **state)
        part = os.path.join(folder.path, "trace.part.json")
        self.busy = True
        try:
            profile = self._profile
            profile.stop_trace()
            self.active = self._profile = None
            profile.export_chrome_trace(part)
            os.replace(part, os.path.join(folder.path, "trace.json"))
        finally:
            self.busy = False
            self.probe.gate.released()
        folder.write(state="recorded")
        self.probe.ending.unwatch()

    def drop(self) -> None:
        """End the window, and keep nothing of it."""
        self._calls.leave()
        self.busy = True
        try:
            if self.active == "prepared":
                # Only a profile that has been started can be ended.
                self._profile.start_trace()
            self._mark = None
            self._profile.stop_trace()
        finally:
            self.active = self._profile = None
            self.busy = False
            self.probe.gate.released()
        self.probe.ending.unwatch()

    def abandon(self) -> None:
        """Leave the profiler as it is: it can only be stopped by the thread that started it."""
        if self.active and get_ident() == self.thread:
            self.drop()
        else:
            self.disown()

    def disown(self) -> None:
        """Forget a window that is not ours to end (a forked child's)."""
        self._calls.leave()
        self.active = self._profile = self._mark = None

    def ours(self) -> bool:
        """Whether the profiler is being called by this class, in this thread."""
        return self.busy and get_ident() == self.thread

    def _activities(self, profiler: Any) -> Any:
        """What the program uses, without waking a driver that it has not."""
        torch, kinds = self.probe.torch, profiler.ProfilerActivity
        found = [kinds.CPU]
        for name in ("cuda", "xpu"):
            device, kind = getattr(torch, name, None), getattr(kinds, name.upper(), None)
            if device is not None and kind is not None and device.is_initialized():
                found.append(kind)
        return found

    def _record(self, name: str) -> Any:
        return sys.modules["torch.autograd.profiler"].record_function(name)

    def _clock_marks(self) -> Any:
        """Both clocks, and marks that carry them: the first one is late, as its code is cold."""
        found = []
        for _ in range(CLOCK_MARKS):
            mono, wall = time.monotonic_ns(), time.time_ns()
            with self._record(CLOCK_MARK % (mono, wall)):
                found.append((mono, wall))
        return found[-1]


class _QuietKineto:
    """Keeps the profiler's library from writing to the program's stderr about our window.

    It reads the variable once, when the first profile of the process is prepared.
    """

    NAME = "KINETO_LOG_LEVEL"

    def __enter__(self) -> None:
        self.mine = self.NAME not in os.environ
        if self.mine:
            os.environ[self.NAME] = "99"

    def __exit__(self, *_: Any) -> None:
        if self.mine:
            os.environ.pop(self.NAME, None)
