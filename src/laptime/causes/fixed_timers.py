"""Cause: the thread that feeds the lap sleeps for a fixed time."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Need, Outcome
from laptime.causes.limits import SIDE_SHARE
from laptime.causes.side_calls import Calls, side_calls
from laptime.causes.side_cost import HostCost

CALLS = Calls(
    subject="sleeps of fixed length",
    frames=re.compile(r"^<built-in function (sleep|nanosleep)>$|^<built-in method sleep\b"),
    marks=re.compile(r"^laptime\.call: time\.sleep(?!\(0\))|^(time\.)?sleep$"),
    least=SIDE_SHARE,
    remedies=(
        "take the sleep out of the lap, or wait for the thing itself (an event, a queue's get, "
        "poll of a descriptor)",
        "where several come in a row it is a poll: ask at once, first, and with a shorter interval",
    ),
)


class FixedTimers:
    """A sleep or poll in every lap.

    What it is
        The thread that feeds the lap sleeps for a constant: a rate limit, a retry, a back-off, a
        poll that asks and sleeps in turn.

    How it shows
        ``time.sleep`` on that thread: frames of Python stacks, or the calls that `laptime run`
        marks. The sentence gives the middle length, the lines below it how far lengths spread.

    Why it costs
        The lap waits for a number in the program, whether or not there was anything to wait for.

    How the gain is predicted
        Bound: the thread's time asleep, a mean per lap; with a device only that in which it is
        idle with nothing enqueued. What is polled for may take a part of it for itself.

    What is not flagged
        Sleeps beside device work, between laps, or of other threads. Waits on locks, queues and
        descriptors: these end when something happens. ``sleep`` that was imported by name before
        `laptime run` could mark it shows only in Python stacks.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: no such call is recorded.
        - ``kineto/tracelens/b200``: stacks, and no such call in the lap.
    """

    id = "fixed-timers"
    title = "Sleeps for a fixed time"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that sleeping costs most."""
        return side_calls(self, case, CALLS, _spread)


def _spread(cost: HostCost) -> Sequence[str]:
    """How alike the sleeps are: the least, the middle and the longest."""
    each = np.sort(cost.view.case.timeline.rows.dur_ns[cost.rows])
    middle = int(each[(len(each) - 1) // 2])
    return (
        f"one sleep lasts {wording.time(middle)} in the middle, {wording.time(int(each[0]))} at "
        f"least and {wording.time(int(each[-1]))} at most",
    )


CAUSE = FixedTimers()
