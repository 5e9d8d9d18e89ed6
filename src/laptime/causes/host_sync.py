"""Cause: the host waits for the device, and the device then waits for the host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.blocking import (
    Waits,
    calls_recorded,
    copies_to_device,
    copy_calls,
    outermost,
    unshown_waits,
    waits,
)
from laptime.causes.case import SUPPLY, Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import SYNC_SHARE
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.sums import add_at
from laptime.model.rows import Ints, Kind


class HostSync:
    """Host synchronisation on the critical side.

    What it is
        The program asks for a value that is still on the device (``.item()``, ``print``,
        ``nonzero``) or waits for a stream. The queue runs empty meanwhile and has to be refilled.

    How it shows
        Account ``host_sync``: the device is idle while the thread that feeds it is in a blocking
        call, or has just left one and refills.

    Why it costs
        The host had been ahead of the device; after the wait it starts from nothing.

    How the gain is predicted
        Bound: the counted time in ``host_sync``, without what belongs to calls of pageable copies
        (a cause of its own).

    What is not flagged
        A blocking call while the device works: it costs nothing (measured: 34.0 against 34.2 ms
        with the ``.item()`` removed).

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: its only blocking call ends the recording.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "host-sync"
    title = "Host synchronisation"
    layer = "host"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that loses most to blocking calls."""
        rank = case.timeline.rank
        looked = [(view, *_own_waits(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, pieces, span, calls = max(looked, key=lambda v: v[0].share(v[2]))
        share = view.share(span)
        if share < SYNC_SHARE.value:
            return self._not_found(view, share)
        rows = case.timeline.rows
        names = Counter(rows.name_of(int(c)) for c in calls)
        origin = Counter(n for n in outermost(view, calls, Kind.CPU_OP) if n is not None)
        marks = Counter(
            n
            for n in outermost(view, calls, Kind.ANNOTATION)
            if n is not None and not n.startswith("ProfilerStep")
        )
        which = wording.listed(
            f"{name} {wording.times(n / view.laps)}{view.per_lap}"
            for name, n in names.most_common()
        )
        idle = view.of_lap(view.mean_ns(span))
        sentence = (
            f"Blocking calls leave the device idle for {idle} ({wording.percent(share)}): "
            f"{which or 'calls that are not recorded'}"
        )
        if origin:
            sentence += f", from {wording.listed(n for n, _ in origin.most_common())}"
        longest = _by_time(pieces, calls)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=sentence + ".",
            share=share,
            bound_ns=view.mean_ns(span),
            formula=(
                "device idle in account host_sync, without calls of pageable copies = "
                f"{wording.time(view.mean_ns(span))}{view.per_lap}"
            ),
            device=view.device,
            rank=rank,
            events=view.events(longest[:8]),
            events_in_all=view.number(longest),
            why=(
                "idle while the feeding thread is in these calls or refills the queue behind them",
                *(f"inside {name}: {_often(view, n)}" for name, n in marks.most_common(3)),
                *(f"from {name}: {_often(view, n)}" for name, n in origin.most_common(3)),
            ),
            next_step=(
                "keep the value on the device (accumulate, log every N steps), or read it one step "
                "late with a non-blocking copy and an event",
            ),
        )

    def _not_found(self, view: DeviceView, share: float) -> Clear | Abstention:
        """Little or no such time: by the calls where any are recorded; where operators that
        synchronise show that their calls are not, that cannot be told."""
        rank = view.case.timeline.rank
        hidden = view.share(unshown_waits(view))
        if hidden >= SYNC_SHARE.value:
            return Abstention(
                self.id,
                (
                    "blocking calls: operators that synchronise take "
                    f"{wording.percent(hidden)} of the lap, and no call in them is recorded",
                ),
                SUPPLY[Need.LAUNCH_CALLS],
                rank,
            )
        if not calls_recorded(view):
            return Clear(self.id, "no blocking call recorded", rank)
        told = wording.below(share, SYNC_SHARE.value, "of the lap")
        return Clear(self.id, f"blocking calls leave the device idle for {told}", rank)


def _often(view: DeviceView, calls: int) -> str:
    """How many calls a counted lap has."""
    return f"{wording.counted(calls / view.laps, 'call')}{view.per_lap}"


def _own_waits(view: DeviceView) -> tuple[Waits, Span, Ints]:
    """Waits of the device, the time that is not pageable copies', and the calls behind it."""
    pieces = waits(view)
    copies = copy_calls(view, copies_to_device(view))
    span = intervals.subtract(view.time_in("host_sync"), pieces.of(copies))
    calls = np.setdiff1d(np.unique(pieces.call[pieces.call >= 0]), copies)
    return pieces, span, calls


def _by_time(pieces: Waits, calls: Ints) -> Ints:
    """The calls, those with most idle time first, ties in order of rows."""
    mine = np.isin(pieces.call, calls)
    place = np.searchsorted(calls, pieces.call[mine])
    length = np.zeros(len(calls), dtype=np.int64)
    add_at(length, place, (pieces.end_ns - pieces.start_ns)[mine])
    ordered: Ints = calls[np.argsort(-length, kind="stable")]
    return ordered


CAUSE = HostSync()
