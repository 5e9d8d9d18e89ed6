"""Stretches that reach into one block of time after another, each looked at once.

A block of time needs the stretches that began in it and those that began before and have not
ended: the second are carried from block to block, so that all blocks together cost one pass, and a
block holds no more than what touches it.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from laptime.model.rows import I64, SLICE_ROWS, Ints


class Reaching:
    """Stretches ``[start, end)`` in ascending order of start; ``order`` gives that order where the
    arrays have another. Blocks must be asked for in ascending order, without overlap.
    """

    def __init__(self, start_ns: I64, end_ns: I64, order: Ints | None = None) -> None:
        self._start, self._end, self._order = start_ns, end_ns, order
        self._at = 0
        self._open: Ints = np.zeros(0, dtype=np.int64)

    def within(self, low_ns: int, high_ns: int) -> Ints:
        """Which stretches end after ``low_ns`` and start before ``high_ns``, none twice."""
        stop = self._until(high_ns)
        found = [self._open[self._end[self._open] > low_ns]]
        for at in range(self._at, stop, SLICE_ROWS):
            until = min(at + SLICE_ROWS, stop)
            if self._order is None:
                found.append(np.flatnonzero(self._end[at:until] > low_ns) + at)
            else:
                fresh = self._order[at:until]
                found.append(fresh[self._end[fresh] > low_ns])
        self._at = stop
        self._open = np.concatenate(found)
        return self._open

    def _until(self, high_ns: int) -> int:
        if self._order is None:
            return int(np.searchsorted(self._start, high_ns))
        # Not searchsorted(sorter=...): it copies the whole order, for every block.
        return bisect_left(self._order, high_ns, key=lambda i: self._start[i])
