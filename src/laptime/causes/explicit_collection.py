"""Cause: the program itself collects garbage in the laps."""

from __future__ import annotations

import re
from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.limits import SIDE_SHARE
from laptime.causes.side_calls import Calls, side_calls

CALLS = Calls(
    subject="the program's own calls of gc.collect()",
    frames=re.compile(r"^<built-in function (gc_)?collect>$|^<built-in method collect\b"),
    marks=re.compile(r"^laptime\.call: gc\.collect\b|^gc\.collect$"),
    least=SIDE_SHARE,
    remedies=(
        "take the call out of the lap; where memory grows without it, find what keeps it alive",
        "else call it every few hundred laps, at the same lap on all ranks",
    ),
)


class ExplicitCollection:
    """Garbage collection that the program asks for.

    What it is
        ``gc.collect()`` visits every container alive. Often left behind by a hunt for memory.

    How it shows
        Rows of such calls on the thread that feeds the lap: frames of Python stacks, marks of the
        program's own, or the calls that `laptime run` marks with the line that made them.

    Why it costs
        The thread does nothing else meanwhile.

    How the gain is predicted
        Bound: the thread's time in these calls, a mean per lap; with a device only that in which
        it is idle with nothing enqueued.

    What is not flagged
        Collections that the interpreter starts by itself (``gc-pauses``); calls beside device work
        or below 2 % of the lap.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: no such call is recorded.
        - ``kineto/tracelens/b200``: stacks, and no such call in the lap.
    """

    id = "explicit-collection"
    title = "The program itself collects garbage"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("gc-pauses", "python-between-ops")

    def look(self, case: Case) -> Outcome:
        """Judge the device that these calls cost most."""
        return side_calls(self, case, CALLS)


CAUSE = ExplicitCollection()
