"""Cause: barriers and collectives of Python objects inside the laps."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import SUPPLY, Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.compiling import by_name, outermost_of
from laptime.causes.exposed_collectives import EXPOSED
from laptime.causes.launches import device_unseen
from laptime.causes.limits import OBJECT_SHARE
from laptime.causes.needs import abstention
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps
from laptime.causes.view import DeviceView, device_views, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.device_work import COMM_REGION
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind

OBJECTS = re.compile(
    r"torch/distributed/distributed_c10d\.py\(\d+\): "
    r"((monitored_)?barrier|all_gather_object|gather_object|broadcast_object_list"
    r"|scatter_object_list|send_object_list|recv_object_list)$"
)
BARRIER = re.compile(r"^c10d::(monitored_)?barrier|^(gloo|nccl|rccl|mpi|ucc):\w*barrier")
MARKS = (Kind.CPU_OP, Kind.ANNOTATION)


class ObjectCollectives:
    """Barriers and collectives of objects.

    What it is
        The loop calls ``barrier()``, or sends Python objects (``all_gather_object``,
        ``broadcast_object_list``): pickled, copied to the device, their sizes exchanged first, and
        waited for.

    How it shows
        Frames of these functions; ``c10d::barrier`` and marks of a backend's barrier. The device is
        idle, or only communicates, while the thread that feeds it is in one.

    Why it costs
        Each holds the host until the slowest rank has come, and the queue of the device is empty
        afterwards.

    How the gain is predicted
        Bound: the counted time in which the device is idle or only communicates while such a call
        lasts; on CPU-only runs the owning thread's time in them. Waiting for late ranks is in it,
        which would be waited for elsewhere.

    What is not flagged
        Collectives of tensors. Calls while the device computes. Objects without stacks leave no
        name of their own: where there is communication and no stack, and the device is idle or only
        communicates for more than these calls would be told from, the cause abstains.

    Must not flag
        - ``kineto/tracelens/b200``: collectives of tensors only.
        - ``kineto/tracelens/mi300/resnet``: the same.
    """

    id = "object-collectives"
    title = "Barriers and collectives of objects"
    layer = "communication"
    needs: Sequence[Need] = (Need.HOST_ROWS,)
    silences: Sequence[str] = ("host-sync", "exposed-collectives")

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for such calls."""
        rank = case.timeline.rank
        views = device_views(case)
        if not views or device_unseen(case):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        if Need.GPU_ROWS in case.has and Need.LAUNCH_CALLS not in case.has:
            return abstention(self.id, [Need.LAUNCH_CALLS], rank)
        looked = [(v, *_waits(v)) for v in views]
        view, calls, span = max(looked, key=lambda v: v[0].share(v[2]))
        share = view.share(span)
        if share < OBJECT_SHARE.value:
            return self._not_found(view, calls, share)
        bound = view.mean_ns(span)
        where = main_origin(case, calls)
        what = (
            "hold the owning thread" if view.ledger.cpu else "leave the device without computation"
        )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Barriers and collectives of objects {what} for {view.of_lap(bound)} "
                f"({wording.percent(share)}){in_laps(view, span)}: "
                f"{wording.counted(len(calls) / view.laps, 'call')}{view.per_lap}"
                + (f", most from {where}" if where else "")
                + "; transfer and waiting for late ranks cannot be told apart on one rank."
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "time of the owning thread in these calls = "
                if view.ledger.cpu
                else "idle and exposed communication while these calls last = "
            )
            + f"{wording.time(bound)}{view.per_lap}",
            device=view.device,
            rank=rank,
            events=view.events(calls),
            events_in_all=view.number(calls),
            why=(*by_name(view, calls), *origin_lines(case, calls, view.laps)),
            next_step=(
                "take barriers out of the lap: collectives order the ranks by themselves",
                "send tensors of a fixed size instead of objects, or every N laps",
            ),
        )

    def _not_found(self, view: DeviceView, calls: Ints, share: float) -> Clear | Abstention:
        case = view.case
        communicates = len(case.timeline.rows.like(COMM_REGION, *MARKS)) > 0
        outside = intervals.both(view.time_in("idle"), view.time_in(*EXPOSED))
        hidden = view.ledger.cpu or view.share(outside) >= OBJECT_SHARE.value
        if communicates and hidden and Need.STACKS not in case.has:
            return Abstention(
                self.id,
                ("names of collectives of objects",),
                SUPPLY[Need.STACKS],
                case.timeline.rank,
            )
        if len(calls):
            told = wording.below(share, OBJECT_SHARE.value, "of the lap")
            why = f"barriers and collectives of objects cost {told}"
            return Clear(self.id, why, case.timeline.rank)
        why = "no barrier and no collective of objects" if communicates else "no communication"
        return Clear(self.id, f"{why} in the counted laps", case.timeline.rank)


def _waits(view: DeviceView) -> tuple[Ints, Span]:
    """Outermost such calls of the feeding threads, and the time that goes by for them."""
    rows = view.case.timeline.rows
    calls = np.concatenate((rows.like(OBJECTS, Kind.PYTHON), rows.like(BARRIER, *MARKS)))
    calls = outermost_of(view, lane_rows(view.case, calls, feeding_lanes(view)))
    span = view.rows_span(calls)
    if view.ledger.cpu:
        return calls, span
    alone = intervals.both(view.time_in("idle"), view.time_in(*EXPOSED))
    return calls, intervals.intersect(alone, span)


CAUSE = ObjectCollectives()
