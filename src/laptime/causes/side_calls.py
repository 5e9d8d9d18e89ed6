"""The answer of a cause that is a kind of call of the program's, known by its names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Cause, Clear, Finding, Need, Outcome
from laptime.causes.limits import Limit
from laptime.causes.needs import abstention
from laptime.causes.side_cost import HostCost, judged, watched, worst
from laptime.model.rows import Ints, Kind

SUPPLY = "record with `laptime run`, which marks such calls, or profile with with_stack=True"


@dataclass(frozen=True)
class Calls:
    """How a cause tells its calls and speaks of them. ``subject`` with its verb in the plural."""

    subject: str
    frames: re.Pattern[str]
    marks: re.Pattern[str]
    least: Limit
    remedies: Sequence[str]


def rows_of(case: Case, calls: Calls) -> Ints:
    """Rows of such calls: frames of Python stacks, and marks of the program's or the probe's."""
    rows = case.timeline.rows
    return np.union1d(
        rows.like(calls.frames, Kind.PYTHON), rows.like(calls.marks, Kind.ANNOTATION, Kind.CPU_OP)
    )


def side_calls(
    cause: Cause,
    case: Case,
    calls: Calls,
    also: Callable[[HostCost], Sequence[str]] = lambda cost: (),
) -> Outcome:
    """A finding where such calls cost at least the least share, else the figure."""
    rank = case.timeline.rank
    found = rows_of(case, calls)
    if len(found) == 0:
        return unseen(cause, case, calls.subject)
    if not judged(case):
        return cannot_tell(cause, case)
    cost = worst(case, found)
    assert cost is not None
    if cost.share < calls.least.value:
        told = wording.below(cost.share, calls.least.value, "of the lap")
        return Clear(cause.id, f"{calls.subject} take {told}{cost.hidden}", rank)
    return finding(cause, cost, calls, also(cost))


def cannot_tell(cause: Cause, case: Case) -> Abstention:
    """Whether the device waits for the host cannot be known."""
    lacking = [n for n in (Need.GPU_ROWS, Need.LAUNCH_CALLS) if n not in case.has]
    return abstention(cause.id, lacking or [Need.LAUNCH_CALLS], case.timeline.rank)


def unseen(cause: Cause, case: Case, subject: str) -> Clear | Abstention:
    """No such row: there is none where calls are watched, else nobody knows."""
    if watched(case):
        return Clear(cause.id, f"no {subject} in the recording", case.timeline.rank)
    return Abstention(cause.id, (Need.CAPTURE.value, Need.STACKS.value), SUPPLY, case.timeline.rank)


def finding(cause: Cause, cost: HostCost, calls: Calls, also: Sequence[str]) -> Finding:
    """What the calls cost, how many they are, and the line of the program they come from."""
    view = cost.view
    lines = cost.where()
    most = f", most from {lines[0][0]}" if lines else ""
    idle = "" if view.ledger.cpu else "leave the device idle for "
    verb = idle or "take "
    return Finding(
        id=cause.id,
        title=cause.title,
        sentence=(
            f"{calls.subject[:1].upper()}{calls.subject[1:]} {verb}{cost.taken}: "
            f"{wording.counted(cost.per_lap, 'call')}{view.per_lap}, the longest "
            f"{wording.time(cost.longest_ns)}{most}{cost.hidden}."
        ),
        share=cost.share,
        bound_ns=cost.ns,
        formula=(
            f"time of the owning thread in these calls = {wording.time(cost.ns)}{view.per_lap}"
            if view.ledger.cpu
            else "time in which the device is idle with nothing enqueued while the feeding thread "
            f"is in these calls = {wording.time(cost.ns)}{view.per_lap}"
        ),
        device=view.device,
        rank=view.case.timeline.rank,
        events=view.events(cost.rows),
        events_in_all=len(cost.rows),
        why=(
            cost.totals,
            *cost.by_name(),
            *(f"from {n}: {wording.counted(k, 'call')}{view.per_lap}" for n, k in lines[:3]),
            *also,
        ),
        next_step=tuple(calls.remedies),
    )
