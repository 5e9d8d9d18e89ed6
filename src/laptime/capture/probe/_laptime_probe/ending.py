"""The end of the program, however it comes: a window that is open is kept or given up.

Handlers of the program's are never changed. Where SIGTERM would end the process at once, a handler
stands in for the length of the window; it keeps the window and lets the signal do what it did.
"""

import os
import signal
import sys
import time
from _thread import get_ident, start_new_thread
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .probe import Probe

LIMIT_S = 5
"""How long the program's end may be delayed by the writing of the trace."""
NO_LAPS = (
    "no laps were found: no optimizer stepped, no loader gave batches, and no module was called "
    "twice; laptime.lap() in the program marks them"
)


class Ending:
    """Watches for the end of the process while a window is open."""

    def __init__(self, probe: "Probe") -> None:
        self._probe = probe
        self._handling = False
        self._pipe: Optional[Any] = None
        self._registered = False

    def watch(self) -> None:
        """The window opens."""
        self._in_multiprocessing()
        import threading

        if threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return
        read, write = os.pipe()
        os.set_blocking(write, False)
        before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        if before != -1:
            # The program hears of signals this way itself.
            signal.set_wakeup_fd(before)
            os.close(read)
            os.close(write)
            return
        self._pipe = (read, write)
        start_new_thread(_die_in_time, (read,))
        signal.signal(signal.SIGTERM, self._terminated)
        self._handling = True

    def unwatch(self) -> None:
        """The window has ended."""
        if self._handling:
            self._handling = False
            if signal.getsignal(signal.SIGTERM) == self._terminated:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if self._pipe is not None:
            _, write = self._pipe
            self._pipe = None
            now = signal.set_wakeup_fd(-1)
            if now not in (-1, write):
                signal.set_wakeup_fd(now)
            os.write(write, b"\0")
            os.close(write)

    def at_end(self) -> None:
        """The interpreter ends: by itself, by ``sys.exit`` or by an exception."""
        probe = self._probe
        probe.guard(probe.laps.catch_up)
        try:
            if probe.recorder.active and not probe.broken:
                self._keep_at_end()
        except BaseException as error:
            # A second Ctrl-C among them: the user does not want to wait.
            probe.folder.process["state"] = "recording"
            probe.folder.give_up("the window was lost at the end: %s" % type(error).__name__)
        self._sum_up()

    def _keep_at_end(self) -> None:
        probe = self._probe
        if probe.recorder.thread != get_ident():
            probe.recorder.disown()
            probe.folder.give_up("the program ended inside the window, which another thread opened")
            return
        ended_by = getattr(sys, "last_type", None)
        if ended_by is None:
            probe.laps.cut("the program ended inside the window")
        elif issubclass(ended_by, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            self._cut_by(signal.SIGINT, "Ctrl-C")
        else:
            import faulthandler

            _flush()
            with open(os.devnull, "w") as nowhere:
                # Ends the process with 1, as the exception would, without Python's help.
                faulthandler.dump_traceback_later(LIMIT_S, exit=True, file=nowhere)
                probe.laps.cut("the program ended inside the window by %s" % ended_by.__name__)
                faulthandler.cancel_dump_traceback_later()

    def _cut_by(self, signum: int, what: str) -> None:
        """Cut the window; the launcher sends the signal again if that takes too long."""
        _flush()
        deadline = time.monotonic_ns() + LIMIT_S * 10**9
        self._probe.folder.process["dying"] = {"signal": int(signum), "by_mono_ns": deadline}
        self._probe.laps.cut("the program was ended inside the window by " + what)
        self._probe.folder.process.pop("dying", None)

    def _terminated(self, signum: int, frame: Any) -> None:
        """In the place of SIGTERM's default action, while a window is open."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self._handling = False
        try:
            if os.getpid() == self._probe.folder.pid:
                self._cut_by(signal.SIGTERM, "SIGTERM")
                self._probe.folder.finish()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def _sum_up(self) -> None:
        probe = self._probe
        process, laps, asked = probe.folder.process, probe.laps, probe.settings
        if process["state"] == "warming":
            probe.folder.give_up(
                "the program ended after %d laps by %s; the window opens after %d: ask for fewer "
                "before it (--warmup, --plain)"
                % (laps.number, laps.source, asked.warmup + asked.plain + 1)
            )
        elif process["state"] == "waiting" and not probe.broken:
            process["reason"] = NO_LAPS
        probe.folder.finish()

    def _in_multiprocessing(self) -> None:
        """A child of multiprocessing ends without the interpreter's own last calls."""
        util = sys.modules.get("multiprocessing.util")
        if util is None or self._registered:
            return
        import multiprocessing.process

        if multiprocessing.process.parent_process() is not None:
            self._registered = True
            util.Finalize(None, self._probe.end, exitpriority=-1000)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            continue


def _die_in_time(read: int) -> None:
    """A thread that makes sure of SIGTERM where the main thread does not come back to Python.

    Python's handlers run only there; the number of the signal comes here at once.
    """
    try:
        got = os.read(read, 1)
        while got and got[0] not in (0, signal.SIGTERM):
            got = os.read(read, 1)
        if got and got[0] == signal.SIGTERM:
            time.sleep(LIMIT_S)
            import ctypes

            # The handler of C, since Python lets only the main thread change its own.
            ctypes.CDLL(None).signal(int(signal.SIGTERM), None)
            os.kill(os.getpid(), signal.SIGTERM)
    except BaseException:
        return
    finally:
        os.close(read)
