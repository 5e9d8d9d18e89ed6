"""The positive verdict: the device is busy, and the figure that shows it."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.launches import device_unseen
from laptime.causes.limits import COMM_SHARE, HEALTHY_BUSY, UNATTRIBUTED_SHARE
from laptime.causes.needs import abstention
from laptime.causes.thread_comm import thread_comm
from laptime.causes.view import DeviceView, device_views
from laptime.ledger import intervals

MOVING = ("exposed_copy", "exposed_comm", "exposed_comm_transfer", "exposed_comm_wait")
"""Accounts of a busy device that computes nothing."""


class Healthy:
    """Healthy.

    What it is
        The device (on CPU-only runs the owning thread's operators) works nearly all the time, and
        no cause was found. Faster laps then need less or faster work, not less waiting.

    How it shows
        Busy at least 90 % of each counted lap, less than 5 % of it with copies or communication
        alone, at most 2 % unattributed, no other finding.

    Why it costs
        It does not.

    How the gain is predicted
        There is none, and no bound.

    What is not flagged
        A busy device with a cause above its limit; busy is not the same as efficient, and nothing
        is said here about how well the kernels use the device. One open window that spans less than
        90 % of its host lap: the rest of the lap is not accounted for.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: busy 56 % of its laps.
        - ``kineto/tracelens/h100/gaunernst_bert-small``: mostly idle.
    """

    id = "healthy"
    title = "Healthy"
    layer = "verdict"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the least busy device."""
        rank = case.timeline.rank
        views = device_views(case)
        if not views:
            return Clear(self.id, "no device or thread whose time could be counted", rank)
        if device_unseen(case):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        view = min(views, key=_busy)
        busy, unattributed = _busy(view), view.share(view.time_in("unattributed"))
        who = "The owning thread is inside operators" if view.ledger.cpu else "Device busy"
        alone = view.share(intervals.both(view.time_in(*MOVING), thread_comm(view)))
        if (
            busy < HEALTHY_BUSY.value
            or view.open_in
            or alone >= COMM_SHARE.value
            or unattributed > UNATTRIBUTED_SHARE.value
        ):
            return Clear(
                self.id,
                f"{who[0].lower()}{who[1:]} {wording.percent(busy)} of the lap, "
                f"{wording.percent(alone)} with copies or communication alone, "
                f"{wording.percent(unattributed)} unattributed"
                + (f"; that lap {view.open_in}" if view.open_in else ""),
                rank,
            )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{who} {wording.percent(busy)} of {view.lap}; "
                f"{wording.percent(unattributed)} unattributed, no cause above its limit."
            ),
            share=busy,
            bound_ns=None,
            formula=(
                f"{'operators' if view.ledger.cpu else 'busy'} / counted time = "
                f"{_busy_ns(view):,} / {view.whole_ns:,} ns; no bound, since nothing is lost"
            ),
            device=view.device,
            rank=rank,
            why=(
                f"counted over {wording.counted(view.laps, 'lap')}",
                "unattributed / counted time = "
                f"{intervals.total(view.time_in('unattributed')):,} / {view.whole_ns:,} ns",
            ),
            next_step=("look at the kernels themselves: the ledger has no idle time to give",),
        )


def _busy(view: DeviceView) -> float:
    return _busy_ns(view) / view.whole_ns if view.whole_ns else 0.0


def _busy_ns(view: DeviceView) -> int:
    return intervals.total(view.time_in("operators" if view.ledger.cpu else "busy"))


CAUSE = Healthy()
