"""Cause: copies that run while the device computes nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.blocking import TO_DEVICE, copies_to_device, outermost
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.launches import launches
from laptime.causes.limits import EXPOSED_COPY_SHARE, LOST_ACTIVITY_SHARE, UNATTRIBUTED_SHARE
from laptime.causes.named import named
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.slack import capped, too_small
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.work import WorkClass
from laptime.model.rows import Ints, Kind

WAYS = (
    ("host-to-device", TO_DEVICE),
    ("device-to-host", re.compile(r"^Memcpy DtoH|CopyDeviceToHost|^hipMemcpyDeviceToHost")),
    ("device-to-device", re.compile(r"^Memcpy DtoD|CopyDeviceToDevice|^hipMemcpyDeviceToDevice")),
    ("peer-to-peer", re.compile(r"^Memcpy P(eer)?\s?to\s?P(eer)?", re.IGNORECASE)),
)
OTHER = "other"

STEPS = {
    "host-to-device": "copy the next batch on a stream of its own while this one computes "
    "(pinned memory, non_blocking=True, wait_stream before use)",
    "device-to-host": "copy results to pinned memory on a stream of their own, and read them a "
    "step later",
    "device-to-device": "avoid the copy: write where the result is needed (out=, views, "
    "preallocated buffers), drop .clone() and .contiguous(), or let torch.compile fuse it",
    "peer-to-peer": "send earlier, on a stream of its own, or place what is sent on the device "
    "that uses it",
}

REDUCER = "ddp.reducer::copy_bucket"
BUCKETS = (
    "DistributedDataParallel(gradient_as_bucket_view=True): no copies from buckets to gradients"
)


@dataclass(frozen=True)
class Exposed:
    """Counted time in which only such copies run, by direction, and the copies themselves."""

    alone: Span
    ways: Sequence[tuple[str, Span, Ints]]
    copies: Ints
    """Positions in the device's ``Work``."""


class ExposedCopies:
    """Exposed copies.

    What it is
        Memory is copied to, from or on the device while no kernel runs there: the lap waits for it.

    How it shows
        Account ``exposed_copy``, by direction: host to device, device to host, device to device.

    Why it costs
        Copy engines work beside the multiprocessors: a copy of the next batch, or of results, can
        run under computation. A copy on the device can often be left out.

    How the gain is predicted
        Bound: the counted time in which only such copies run, the most that perfect overlap could
        hide, and never more than the host waits for the device.

    What is not flagged
        Copies from pageable memory above 64 KB where they can be told apart (pageable-copies has
        them); sets of memory; copies beside kernels; copies of communication; copies made by
        kernels; copies in a run whose host leaves no time to gain, which only launch calls show.
        Where the device did more than its rows say, the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: its exposed copies are pageable.
        - ``kineto/tracelens/b200``: copies alone take 1.0 % of the lap.
    """

    id = "exposed-copies"
    title = "Exposed copies"
    layer = "data"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device with most copies that nothing hides."""
        rank = case.timeline.rank
        looked = [(view, _exposed(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, found = max(looked, key=lambda v: v[0].share(v[1].alone))
        share = view.share(found.alone)
        if share < EXPOSED_COPY_SHARE.value:
            if len(found.copies) == 0:
                seen = "no copy but pageable ones" if _copies(view) else "no copy"
                return Clear(self.id, f"{seen} in the counted laps", rank)
            told = wording.below(share, EXPOSED_COPY_SHARE.value, "of the lap")
            return Clear(self.id, f"copies that are not pageable ones run alone for {told}", rank)
        unseen = _unseen(view)
        if unseen:
            return Abstention(
                self.id,
                (f"what else ran: {unseen}",),
                "record every activity: fewer steps (so that no buffer overflows), graphs' kernels",
                rank,
            )
        return self._finding(view, found, share)

    def _finding(self, view: DeviceView, found: Exposed, share: float) -> Outcome:
        work, rank = view.work, view.case.timeline.rank
        assert work is not None
        alone = view.mean_ns(found.alone)
        bound, host_bound = capped(view, alone)
        taken = f"{view.of_lap(alone)} ({wording.percent(share)})"
        if host_bound and too_small(view, bound):
            return Clear(self.id, f"copies run alone for {taken}, but {host_bound}", rank)
        ways = [w for w in found.ways if intervals.total(w[1]) > 0]
        named_ways = wording.listed((_told(view, *way) for way in ways), most=4)
        rows = work.row[found.copies]
        calls = work.call_row[found.copies]
        calls = calls[calls >= 0].astype(np.int64)
        operators = Counter(n for n in outermost(view, calls, Kind.CPU_OP) if n is not None)
        where = main_origin(view.case, calls)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Copies run while the device computes nothing for {taken}: "
                f"{named_ways}{view.per_lap}"
                + (f", most from {where}" if where else "")
                + (f"; {host_bound}." if host_bound else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "time in exposed_copy in which such copies run, without pageable ones = "
                f"{wording.time(alone)}{view.per_lap}" + (f"; {host_bound}" if host_bound else "")
            ),
            device=view.device,
            rank=rank,
            events=view.events(rows),
            events_in_all=view.number(rows),
            why=(
                *(
                    f"{_told(view, way, span, which)}{view.per_lap} alone, of "
                    f"{wording.time(view.mean_ns(_runs(view, which)))} of copying"
                    for way, span, which in ways
                ),
                *(
                    f"inside {name}: {wording.counted(n / view.laps, 'copy')}{view.per_lap}"
                    for name, n in operators.most_common(3)
                ),
                *origin_lines(view.case, calls, view.laps, "copy"),
            ),
            next_step=(
                *((BUCKETS,) if any(REDUCER in name for name in operators) else ()),
                *(STEPS[w[0]] for w in ways[:2] if w[0] in STEPS),
            ),
        )


def _unseen(view: DeviceView) -> str:
    """What shows that the device did more than its rows say, under which copies may be hidden."""
    lost = launches(view.case)
    if lost.lost_share >= LOST_ACTIVITY_SHARE.value:
        return f"{lost.lost} of {lost.all} launches have no activity"
    share = view.share(view.time_in("unattributed"))
    if share > UNATTRIBUTED_SHARE.value:
        return f"{wording.percent(share)} of the time is unattributed"
    return ""


def _told(view: DeviceView, way: str, span: Span, copies: Ints) -> str:
    """One direction with its number, bytes and time ("12 device-to-device (201 MB) 6.10 ms")."""
    size = _bytes(view, copies)
    moved = "" if size is None else f" ({wording.number(size / view.laps / 1e6)} MB)"
    number = wording.count(len(copies) / view.laps)
    return f"{number} {way}{moved} {wording.time(view.mean_ns(span))}"


def _copies(view: DeviceView) -> int:
    """How many copies of any kind the counted laps hold."""
    if view.work is None:
        return 0
    kinds = view.case.timeline.rows.kind[view.work.row]
    return view.number(view.work.row[kinds == Kind.MEMCPY])


def _exposed(view: DeviceView) -> Exposed:
    """Copies of the counted windows that are not pageable-copies' own, with their time alone."""
    rows, work = view.case.timeline.rows, view.work
    if work is None:
        return Exposed(intervals.EMPTY, (), np.zeros(0, dtype=np.int64))
    copy = np.flatnonzero(
        (rows.kind[work.row] == Kind.MEMCPY) & (work.klass == int(WorkClass.COPY))
    )
    copy = copy[view.touching(work.start_ns[copy], work.end_ns[copy])]
    exposed = view.time_in("exposed_copy")
    theirs = copies_to_device(view)
    if theirs.named:
        pageable = intervals.union(work.start_ns[theirs.pageable], work.end_ns[theirs.pageable])
        exposed = intervals.subtract(exposed, pageable)
        copy = np.setdiff1d(copy, theirs.pageable)
    alone = intervals.intersect(exposed, _runs(view, copy))
    ways: list[tuple[str, Span, Ints]] = []
    left, rest = np.ones(len(copy), dtype=np.bool_), alone
    for way, pattern in (*WAYS, (OTHER, re.compile(""))):
        hit = left & named(rows, work.row[copy], pattern)
        left &= ~hit
        # Where copies of two directions run, the first has the time: the parts add up.
        ways.append((way, intervals.intersect(rest, _runs(view, copy[hit])), copy[hit]))
        rest = intervals.subtract(rest, ways[-1][1])
    ways.sort(key=lambda w: -intervals.total(w[1]))
    return Exposed(alone, ways, copy)


def _runs(view: DeviceView, copies: Ints) -> Span:
    """The counted time in which any of the copies runs."""
    work = view.work
    assert work is not None
    return view.inside(intervals.union(work.start_ns[copies], work.end_ns[copies]))


def _bytes(view: DeviceView, copies: Ints) -> int | None:
    """Bytes of the copies; None where the evidence does not give every size."""
    sizes, work = view.case.timeline.rows.ints.get("bytes"), view.work
    if sizes is None or work is None:
        return None
    each = sizes.of(work.row[copies], -1)
    return None if (each < 0).any() else int(each.sum())


CAUSE = ExposedCopies()
