"""The program's own profiler comes first: ours never runs, or is armed, beside it.

A second profiler started while one runs, or warms up, cancels the first, and stopping that then
crashes the process; torch has no query that shows it. So the functions that prepare, start and stop
a profile, which both of torch's front ends and the NVTX and ITT emitters call, are wrapped before
the program's code runs.
"""

import functools
import os
from _thread import allocate_lock, get_ident
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Set

if TYPE_CHECKING:
    from .probe import Probe

WAIT_S = 10.0
"""How long a thread that arms its profiler waits for the thread of the laps to end our window."""

_OPS = {
    "_prepare_profiler": "prepare",
    "_enable_profiler": "start",
    "_enable_profiler_legacy": "start",
    "_disable_profiler": "stop",
    "_disable_profiler_legacy": "stop",
}


class Gate:
    """Who has the profiler."""

    REASON = "the program's own profiler was armed"
    TAKEN = "the program's own profile was taken"

    def __init__(self, probe: "Probe") -> None:
        self._probe = probe
        self._lock = allocate_lock()
        self._armed: Set[int] = set()
        self._depth = 0
        self._ended: Any = None
        self.wanted = False
        """Another thread waits for our window to end."""
        self.exported: Optional[str] = None
        """The trace that the program's own profiler wrote last."""

    def armed_now(self) -> bool:
        """Whether a profiler of the program's is armed or runs."""
        return bool(self._armed)

    def claim(self) -> bool:
        """Take the profiler for us; False while one of the program's is armed."""
        recorder = self._probe.recorder
        with self._lock:
            if self._armed:
                return False
            recorder.active, recorder.thread = "prepared", get_ident()
        return True

    def released(self) -> None:
        """Our window has ended: whoever waits may go on."""
        with self._lock:
            self.wanted = False
            ended, self._ended = self._ended, None
        if ended is not None:
            ended.release()

    def user(self, op: str) -> None:
        """The program prepares, starts or stops a profile. Before the first two, ours ends."""
        probe = self._probe
        if probe.recorder.ours() or probe.folder.pid != os.getpid():
            return
        me = get_ident()
        if op == "stop":
            self._armed.discard(me)
        else:
            with self._lock:
                self._armed.add(me)
            probe.laps.unsettle()
            self._end_ours(me)
        if not probe.broken:
            probe.folder.event("user_profiler", op=op)

    def user_exported(self, path: Any) -> None:
        """The program wrote a trace of its own."""
        probe = self._probe
        if probe.broken:
            return
        self.exported = os.path.abspath(os.fspath(path))
        probe.folder.event("user_profiler", op="export", path=self.exported)
        if probe.folder.process["state"] != "recorded":
            probe.folder.write(user_trace=self.exported, reason=self.TAKEN)

    def _end_ours(self, me: int) -> None:
        recorder = self._probe.recorder
        if not recorder.active:
            return
        if recorder.thread == me:
            self._probe.laps.cut(self.REASON)
            return
        ended = allocate_lock()
        ended.acquire()
        with self._lock:
            if not recorder.active:
                return
            self._ended, self.wanted = ended, True
        _soon_in_main_thread(self._cut_if_wanted)
        if not ended.acquire(timeout=WAIT_S):
            # It can only be ended by its own thread, which does not come by. Left running and
            # never stopped, it does no harm to the one that starts now.
            recorder.disown()
            self._probe.broken = True
            self._probe.folder.give_up("%s in another thread" % self.REASON)

    def _cut_if_wanted(self) -> None:
        laps = self._probe.laps
        if self.wanted and not laps.busy and self._probe.recorder.thread == get_ident():
            self._probe.guard(laps.cut, self.REASON)


_keep_alive: List[Any] = []


def _soon_in_main_thread(call: Callable[[], None]) -> None:
    """Have the main thread call it between two of its instructions, if it comes to any."""
    import ctypes

    kind = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)

    def pending(_: Any) -> int:
        try:
            call()
        except BaseException:
            return 0
        return 0

    function = kind(pending)
    _keep_alive.append(function)
    ctypes.pythonapi.Py_AddPendingCall(function, None)


def wrap_functions(probe: "Probe", module: Any) -> None:
    """Wrap what a module of torch's calls to prepare, start and stop a profile."""
    for name, op in _OPS.items():
        if hasattr(module, name):
            setattr(module, name, _told(probe, getattr(module, name), op))
    if hasattr(module, "profile"):
        wrap_export(probe, module.profile)


def _told(probe: "Probe", function: Any, op: str) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if op != "stop":
            _quietly(probe.gate.user, op)
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            _quietly(probe.gate.user, op)

    return call


def wrap_export(probe: "Probe", front_end: Any) -> None:
    """Note where a front end writes its trace. One calls the other: the outer path counts."""
    export = front_end.__dict__.get("export_chrome_trace")
    if export is None:
        return

    @functools.wraps(export)
    def export_chrome_trace(self: Any, path: Any, *args: Any, **kwargs: Any) -> Any:
        gate = probe.gate
        if probe.recorder.ours():
            return export(self, path, *args, **kwargs)
        gate._depth += 1
        try:
            result = export(self, path, *args, **kwargs)
        finally:
            gate._depth -= 1
        if gate._depth == 0:
            _quietly(gate.user_exported, path)
        return result

    front_end.export_chrome_trace = export_chrome_trace


def _quietly(call: Callable[[Any], None], value: Any) -> None:
    try:
        call(value)
    except Exception:
        # The program's profiler must start and stop whatever becomes of ours.
        return
