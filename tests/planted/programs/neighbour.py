"""Another user's program on the same host: pure computation on every core."""

import os
import signal
import time


def burn(seconds=170):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(i * i for i in range(10_000))


if __name__ == "__main__":
    children = []
    for _ in range(len(os.sched_getaffinity(0))):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            burn()
            os._exit(0)
        children.append(child)

    def end(*_):
        for child in children:
            os.kill(child, signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    for child in children:
        os.waitpid(child, 0)
