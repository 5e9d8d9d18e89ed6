"""Signals between the user, the launcher and the program.

Ctrl-C on a terminal reaches the program by itself, as it is in the terminal's foreground group with
the launcher; only signals sent to the launcher alone are passed on. The launcher never dies of them
before the program has ended, and then ends as the program did.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Sequence

PASSED_ON = frozenset(
    {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2}
)
_AWAITED = PASSED_ON | {signal.SIGCHLD}
_BY_KERNEL = 0x80
"""``SI_KERNEL`` of Linux: the terminal sent it, to the whole group."""


def start(argv: Sequence[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start the program in our group, with our streams and the signal mask that we had.

    From here on our own signals wait for ``wait``. Raises ``OSError``.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)

    def as_we_were() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        return subprocess.Popen(argv, env=env, preexec_fn=as_we_were)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise


def wait(child: subprocess.Popen[bytes], tick: Callable[[], None], every_s: float) -> int:
    """Wait for the program, pass signals on, call ``tick`` now and then; its return code."""
    while True:
        code = child.poll()
        if code is not None:
            return code
        came = signal.sigtimedwait(_AWAITED, every_s)
        if came is not None and came.si_signo in PASSED_ON and came.si_code != _BY_KERNEL:
            child.send_signal(came.si_signo)
        tick()


def release() -> None:
    """Let signals act on us again; those that came while the program ended are dropped."""
    while signal.sigtimedwait(_AWAITED, 0) is not None:
        continue
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _AWAITED)


def die_of(signum: int) -> None:
    """End as the program did. Returns only where the signal cannot end a process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if signum not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(signum, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signum})
    os.kill(os.getpid(), signum)
