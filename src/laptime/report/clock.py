"""Times of every timeline on one clock, and as the evidence itself writes them.

Every output that gives a start gives it after the same origin: the earliest start of any lap or
device window of the whole run, whichever rank is shown. ``ts`` is the time as the file has it, in
microseconds: what a search in its text finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from laptime.explanation import View
from laptime.model.errors import CannotTell
from laptime.model.run import Run, Timeline

EXACT = 1 << 53
"""Integers below this are exact in a double, the only number of JavaScript."""

BASE = "baseTimeNanoseconds"
"""Header entry of newer traces: what is to be added to their time stamps to give epoch time."""


class Clock:
    """Brings times of every timeline to one origin, ``origin_ns``."""

    def __init__(self, views: Sequence[View]) -> None:
        starts = [v.timeline.origin_ns + start for v in views for start in _starts(v)] or [
            v.timeline.origin_ns for v in views
        ]
        self.origin_ns = min(starts, default=0)

    def start_ns(self, view: View, start_ns: int) -> int:
        """A timeline's time relative to the origin.

        Raises ``CannotTell`` where it lies 2**53 ns (104 days) or more away.
        """
        relative = view.timeline.origin_ns + int(start_ns) - self.origin_ns
        if abs(relative) >= EXACT:
            raise CannotTell(
                f"{view.timeline.source}: its times lie more than 104 days from the first lap of "
                "the run; explain files of different clocks one by one"
            )
        return relative


def _starts(view: View) -> Iterator[int]:
    yield from (int(lap.start_ns) for lap in view.ledger.laps.laps)
    yield from (int(w.start_ns) for d in view.ledger.devices for w in d.windows)


class FileTime:
    """Times of one timeline as its file writes them."""

    def __init__(self, timeline: Timeline) -> None:
        base = timeline.facts.get(BASE)
        if not isinstance(base, int) or isinstance(base, bool):
            base = 0
        self._shift_ns = timeline.origin_ns - base
        # A file of whole microseconds has no decimals to search for.
        self._whole = not bool(((timeline.rows.start_ns + self._shift_ns % 1000) % 1000).any())

    def ts(self, start_ns: int) -> str:
        """A timeline's time as the ``ts`` of the file, in microseconds: three decimals, or none
        where every time of the file is a whole number of them."""
        ns = self._shift_ns + int(start_ns)
        if self._whole and ns % 1000 == 0:
            return str(ns // 1000)
        sign, size = "-" if ns < 0 else "", abs(ns)
        return f"{sign}{size // 1000}.{size % 1000:03d}"


def first_event_ns(run: Run, timeline: Timeline) -> int | None:
    """Start of the first event of the timeline's file, in the timeline's clock: the zero of
    Perfetto and chrome://tracing. None where the file has no event."""
    starts = [
        t.origin_ns + int(t.rows.start_ns.min())
        for t in run.timelines
        if t.source == timeline.source and len(t.rows.start_ns)
    ]
    return min(starts) - timeline.origin_ns if starts else None
