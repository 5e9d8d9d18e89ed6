"""Device work of a timeline: each activity with the call that enqueued it and its class."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from laptime.model.rows import I64, Ints, Mask


class WorkClass(IntEnum):
    """What an activity does, as far as the ledger tells it apart."""

    COMPUTE = 0
    COMM = 1
    COPY = 2


@dataclass(frozen=True)
class Work:
    """Activities of one device, ascending by (start, -duration, row).

    Numbers of rows and lanes take 32 bits where that is enough: a long trace has many activities.
    ``row`` the activity's row; ``klass`` a ``WorkClass``; ``lane`` its stream's lane;
    ``call_row`` the launch call's row, -1 where none is recorded; ``enqueued_ns`` the end of the
    launch call or the activity's start if that is earlier (start where the call is unknown);
    ``called_ns`` the start of the launch call (start of the activity where unknown);
    ``thread`` the lane of the launching thread, -1 where unknown.
    """

    device: str
    row: Ints
    start_ns: I64
    end_ns: I64
    klass: Ints
    lane: Ints
    call_row: Ints
    called_ns: I64
    enqueued_ns: I64
    thread: Ints

    @property
    def launched(self) -> Mask:
        """Which activities have a recorded launch call."""
        mask: Mask = self.call_row >= 0
        return mask
