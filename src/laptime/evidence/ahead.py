"""Working ahead: an iterator run on a thread of its own, with a bounded hand-over."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator

_JOIN_S = 5.0
"""A thread blocked in reading a silent pipe cannot be woken; it is a daemon and is left then."""


class _Handover:
    """At most ``depth`` items between one maker and one taker."""

    def __init__(self, depth: int) -> None:
        self._items: deque[bytes] = deque()
        self._depth = depth
        self._changed = threading.Condition()
        self._done = False
        self._stopped = False
        self._error: BaseException | None = None

    def put(self, item: bytes) -> bool:
        """Hand an item over, waiting for room; False when the taker has gone."""
        with self._changed:
            while len(self._items) >= self._depth and not self._stopped:
                self._changed.wait()
            if not self._stopped:
                self._items.append(item)
                self._changed.notify()
            return not self._stopped

    def finish(self, error: BaseException | None) -> None:
        """No more items; ``error`` is raised at the taker after the last one."""
        with self._changed:
            self._done, self._error = True, error
            self._changed.notify()

    def stop(self) -> None:
        """The taker has gone."""
        with self._changed:
            self._stopped = True
            self._items.clear()
            self._changed.notify()

    def take(self) -> bytes | None:
        """The next item; None after the last."""
        with self._changed:
            while not self._items and not self._done:
                self._changed.wait()
            if self._items:
                item = self._items.popleft()
                self._changed.notify()
                return item
        if self._error is not None:
            raise self._error
        return None


def ahead(
    make: Callable[[], Generator[bytes, None, None]], depth: int, name: str
) -> Iterator[bytes]:
    """The items of ``make()``, made on a thread, at most ``depth`` of them waiting.

    An exception of the maker is raised here, after the items before it. Closing this generator
    early stops the thread and closes the maker.
    """
    handover = _Handover(depth)

    def work() -> None:
        error: BaseException | None = None
        maker = make()
        try:
            for item in maker:
                if not handover.put(item):
                    break
        except BaseException as caught:
            error = caught
        finally:
            maker.close()
            handover.finish(error)

    thread = threading.Thread(target=work, name=name, daemon=True)
    thread.start()
    try:
        while (item := handover.take()) is not None:
            yield item
    finally:
        handover.stop()
        thread.join(_JOIN_S)
