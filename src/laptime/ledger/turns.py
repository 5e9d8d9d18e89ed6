"""Whose turn it is to enqueue: for each instant the thread that enqueues next."""

from __future__ import annotations

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.unseen import Unseen
from laptime.ledger.work import Work
from laptime.model.rows import I64


class Turns:
    """For each thread, the time in which it is the one that enqueues next.

    The one that enqueues next launched the next activity to start, or makes the next call whose
    activity has no row. Of those that start together, the one that was called first.
    """

    def __init__(self, work: Work, unseen: Unseen) -> None:
        self._work = work
        order = np.argsort(unseen.end_ns, kind="stable")
        self._when, self._called = unseen.end_ns[order], unseen.start_ns[order]
        self._who = unseen.lane[order]

    def within(self, low_ns: int, high_ns: int) -> list[tuple[int, Span]]:
        """Each thread (-1: not known) with its time, of which ``[low_ns, high_ns)`` is told."""
        work = self._work
        ends = [_first_from(when, high_ns) for when in (work.start_ns, self._when)]
        until = min((end for end in ends if end is not None), default=None)
        mine, its = (
            slice(
                int(np.searchsorted(when, low_ns, side="right")),
                len(when) if until is None else int(np.searchsorted(when, until, side="right")),
            )
            for when in (work.start_ns, self._when)
        )
        when = np.concatenate((work.start_ns[mine], self._when[its]))
        called = np.concatenate((work.called_ns[mine], self._called[its]))
        who = np.concatenate((work.thread[mine], self._who[its]))
        order = np.lexsort((who, called, when))
        when, who = when[order], who[order]
        since = np.append(low_ns, when[:-1])[: len(when)]
        return [
            (lane, intervals.union(since[who == lane], when[who == lane]))
            for lane in np.unique(who).tolist()
        ]


def _first_from(when: I64, instant: int) -> int | None:
    """The first of the ascending times that is not before the instant; None where none is."""
    at = int(np.searchsorted(when, instant))
    return int(when[at]) if at < len(when) else None
