"""Cause: the host launches work more slowly than the device does it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.blocking import unshown_waits
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import LAUNCH_GAP_NS, LAUNCH_SHARE
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Kind

HOST_WORK = ("host_launch", "host_ops", "host_between_ops")
"""Accounts of a host that is at work on the next launch."""


class LaunchBound:
    """Launch-bound host.

    What it is
        Nothing is enqueued, because the host is still in Python, an operator or the launch call of
        the next kernel: kernels are shorter than what it takes to launch them.

    How it shows
        Accounts ``host_launch``, ``host_ops`` and ``host_between_ops``, spread over many short
        gaps; short kernels; many launches a lap.

    Why it costs
        The device does in microseconds what the host takes tens of microseconds to ask for.

    How the gain is predicted
        Bound: the counted time in these accounts inside gaps of at most 1 ms, the most that free
        launches could save.

    What is not flagged
        Short kernels without idle time: the queue is full. Gaps above 1 ms: those are stalls of the
        host, not launch cost, and what fills them is not known without stacks. Gaps at operators
        that synchronise (``aten::item``), where the trace records no blocking call at all.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: thousands of short kernels, but the device is never
          out of work.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: the loader explains the idle time.
    """

    id = "launch-bound"
    title = "Launch-bound host"
    layer = "host"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ("many-tiny-kernels",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits most for launches."""
        rank = case.timeline.rank
        looked = [(view, *_split(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, short, long = max(looked, key=lambda v: v[0].share(v[1]))
        share = view.share(short)
        if share < LAUNCH_SHARE.value:
            why = (
                "the device waits "
                f"{wording.below(share, LAUNCH_SHARE.value, 'of the lap for launches')}"
            )
            if view.share(long) >= LAUNCH_SHARE.value:
                why += (
                    f"; another {wording.percent(view.share(long))} lie in gaps above "
                    f"{wording.time(LAUNCH_GAP_NS.value)}, which are stalls, not launch cost"
                )
            return Clear(self.id, why, rank)
        return self._finding(view, short, long)

    def _finding(self, view: DeviceView, short: Span, long: Span) -> Finding:
        work, rows = view.work, view.case.timeline.rows
        assert work is not None
        kernels = work.row[view.touching(work.start_ns, work.end_ns)]
        kernels = kernels[rows.kind[kernels] == Kind.KERNEL]
        gaps = _gaps(view, short)
        number = len(gaps[0])
        # Only the part of each gap that counts here, so that the two factors give the total.
        each_ns = intervals.total(short) / number if number else 0.0
        waiting = view.mean_ns(short)
        spent = {
            account: view.mean_ns(intervals.intersect(short, view.time_in(account)))
            for account in HOST_WORK
        }
        parts = ", ".join(f"{account} {wording.time(ns)}" for account, ns in spent.items() if ns)
        kernels_ns = int(rows.dur_ns[kernels].sum())
        kernel_ns = kernels_ns / len(kernels) if len(kernels) else 0.0
        sentence = (
            f"The device waits {view.of_lap(waiting)} "
            f"({wording.percent(view.share(short))}) for the host to launch: "
            f"{wording.counted(number / view.laps, 'gap')} of mean {wording.time(each_ns)} and "
            f"{wording.counted(len(kernels) / view.laps, 'kernel')} "
            f"of mean {wording.time(kernel_ns)}{view.per_lap}."
        )
        why = [
            f"idle with nothing enqueued, by what the feeding thread does: {parts}",
            f"gaps: {view.number_in_all(number, 'gap')}; of their time that counts here "
            f"{view.in_total(intervals.total(short))}, a mean of {wording.time(each_ns)} each",
            f"kernels: {view.number_in_all(len(kernels), 'kernel')}; "
            f"{view.in_total(kernels_ns)}, a mean of {wording.time(kernel_ns)} each",
        ]
        if intervals.total(long):
            why.append(
                f"{wording.time(view.mean_ns(long))}{view.per_lap} in gaps above "
                f"{wording.time(LAUNCH_GAP_NS.value)} (or at operators that synchronise) are not "
                "counted here"
            )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=sentence,
            share=view.share(short),
            bound_ns=waiting,
            formula=(
                "idle in host_launch + host_ops + host_between_ops, in gaps of at most "
                f"{wording.time(LAUNCH_GAP_NS.value)} = {wording.time(waiting)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(_callers(view, gaps)),
            events_in_all=number,
            why=tuple(why),
            next_step=(
                "torch.compile (mode='reduce-overhead') or CUDA graphs for the repeated part; "
                "fused or foreach optimisers; larger batches",
            ),
        )


def _split(view: DeviceView) -> tuple[Span, Span]:
    """Host-work time inside short gaps, and inside long ones."""
    idle = view.time_in("idle")
    brief = (idle[1] - idle[0]) <= LAUNCH_GAP_NS.value
    brief &= intervals.by_window(unshown_waits(view), idle[0], idle[1]) == 0
    waiting = view.time_in(*HOST_WORK)
    return (
        intervals.intersect(waiting, (idle[0][brief], idle[1][brief])),
        intervals.intersect(waiting, (idle[0][~brief], idle[1][~brief])),
    )


def _gaps(view: DeviceView, short: Span) -> Span:
    """The idle gaps that hold some of ``short``."""
    idle = view.time_in("idle")
    held = intervals.by_window(short, idle[0], idle[1]) > 0
    return idle[0][held], idle[1][held]


def _callers(view: DeviceView, gaps: Span) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Launch calls of the activities that end the longest gaps."""
    work = view.work
    assert work is not None
    longest = np.sort(np.argsort(gaps[0] - gaps[1], kind="stable")[:8])
    at = np.searchsorted(work.start_ns, gaps[1][longest])
    calls = work.call_row[at[at < len(work.row)]]
    chosen: np.ndarray[tuple[int], np.dtype[np.int64]] = calls[calls >= 0].astype(np.int64)
    return chosen


CAUSE = LaunchBound()
