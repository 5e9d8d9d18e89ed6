"""Run a command under limits and say what it took, as JSON on stdout.

A process of its own, and a small one: the peak memory that Linux reports for a child starts at the
peak of the process that forked it, which for a test runner is more than what is measured here.
Arguments: limit of address space in bytes, limit of wall seconds, file for stdin, for stdout and
for stderr, then the command.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time


def main() -> None:
    space, seconds, stdin, stdout, stderr, *command = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (int(space), int(space)))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start = time.monotonic()
    pid = os.posix_spawn(
        command[0],
        command,
        os.environ,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, stderr, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ],
        setpgroup=0,
    )
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(pid, signal.SIGKILL))
    signal.alarm(int(seconds))
    _, status, used = os.wait4(pid, 0)
    signal.alarm(0)
    print(
        json.dumps(
            {
                "code": os.waitstatus_to_exitcode(status),
                "peak_bytes": used.ru_maxrss * 1024,
                "wall_s": time.monotonic() - start,
            }
        )
    )


if __name__ == "__main__":
    main()
