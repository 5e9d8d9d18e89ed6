"""Cause: Python's garbage collector stops the thread that feeds the lap."""

from __future__ import annotations

import re
from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import GC_SHARE
from laptime.causes.loader import outermost
from laptime.causes.view import DeviceView, device_views, feeding_lanes, lane_rows
from laptime.ledger.states import GC
from laptime.model.rows import HOST_KINDS, Ints

_FULL = re.compile(r"^Python GC \(generation 2\)")
_CALLED = re.compile(r"gc\.collect|gc_collect|method collect>|function collect>")


class GcPauses:
    """Garbage collection inside the laps.

    What it is
        Python's cyclic collector walks the objects of its generations and stops the interpreter
        while it does: a full collection (generation 2) visits every container alive.

    How it shows
        Account ``gc``: collections that `laptime run` heard from the interpreter's own callbacks
        (those of 20 us and more), or ``gc.collect`` in recorded Python stacks, on the thread that
        owns or feeds the lap. Found from 2 % of the lap.

    Why it costs
        The thread launches nothing in that time; the device runs dry, and other ranks wait in the
        next collective.

    How the gain is predicted
        Bound: the time in account ``gc``, a mean per lap: on devices only what left them idle.

    What is not flagged
        Pauses that overlap device work: they cost nothing. Without a capture only collections that
        the stacks show are seen: where none shows, the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: no collection is recorded.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "gc-pauses"
    title = "Garbage collection stops the lap"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for a collection."""
        rank = case.timeline.rank
        views = [v for v in device_views(case) if v.knows("gc")]
        pauses = case.timeline.rows.like(GC, *HOST_KINDS)
        if len(pauses) == 0 and case.timeline.capture is None:
            return Abstention(
                self.id,
                (Need.CAPTURE.value,),
                "record with `laptime run` (hears every collection)",
                rank,
            )
        if not views:
            return Abstention(
                self.id,
                ("a ledger that splits idle time",),
                "profile with ProfilerActivity.CUDA and CPU",
                rank,
            )
        view = max(views, key=lambda v: v.share(v.time_in("gc")))
        span = view.time_in("gc")
        share = view.share(span)
        if share < GC_SHARE.value:
            told = wording.below(share, GC_SHARE.value, "of the lap")
            return Clear(self.id, f"garbage collection takes {told}", rank)
        return self._finding(view, pauses, share, view.mean_ns(span))

    def _finding(self, view: DeviceView, pauses: Ints, share: float, bound: int) -> Finding:
        rows = view.case.timeline.rows
        inside = pauses[view.touching(rows.start_ns[pauses], rows.end_ns(pauses))]
        mine = lane_rows(view.case, inside, feeding_lanes(view))
        every = mine if len(mine) else inside
        where = "the thread that feeds it" if len(mine) else "other threads"
        names = [rows.name_of(int(r)) for r in every]
        full = len(outermost(rows, every[[bool(_FULL.search(n)) for n in names]]))
        # A collection that a frame asks for is a row of its own inside that frame: one pause.
        inside = outermost(rows, every)
        called = any(_CALLED.search(n) for n in names)
        many = len(inside) / view.laps
        takes = "they take" if len(inside) > 1 else "it takes"
        what = takes if view.ledger.cpu else "the device is idle for"
        full_ones = f", {full} of them full (generation 2)" if full else ""
        these = wording.counted(len(inside), "garbage collection") if many else "Garbage collection"
        longest = f"; the longest lasts {wording.time(rows.dur_ns[inside].max())}" if many else ""
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{these} in {wording.counted(view.laps, 'lap')}{full_ones}: {what} "
                f"{view.of_lap(bound)} ({wording.percent(share)}){longest}."
            ),
            share=share,
            bound_ns=bound,
            formula=f"time in account gc = {wording.time(bound)}{view.per_lap}",
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(inside),
            events_in_all=len(inside),
            why=(f"{wording.counted(many, 'collection')} a lap on {where}",) if many else (),
            next_step=_steps(called, full >= view.laps > 1),
        )


def _steps(called: bool, each_lap: bool) -> tuple[str, ...]:
    """Advice by who calls for the collection."""
    if called:
        return ("take gc.collect() out of the lap, or call it every few hundred laps",)
    planned = "gc.disable() and gc.collect() every few hundred laps, at the same lap on all ranks"
    if each_lap:
        return (
            "a full collection in every lap is one that the program asks for: look for "
            "gc.collect() (a library's, too) and take it out of the lap",
            f"else: gc.freeze() after set-up, {planned}",
        )
    return (f"gc.freeze() after set-up, so that its objects are not visited; {planned}",)


CAUSE = GcPauses()
