"""Cause: pinned memory of the host is allocated inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.allocation_calls import allocation_calls, told_calls, waited_for
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import ALLOCATION_SHARE
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps, only_first_use
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints


class PinnedAllocation:
    """Pinned memory allocated in steady laps.

    What it is
        Page-locked host memory is allocated, registered or released lap after lap: batches change
        their size, so that blocks of the pinned cache do not fit, or ``pin_memory()`` is called on
        fresh tensors.

    How it shows
        ``cudaHostAlloc``, ``cudaFreeHost``, ``cudaHostRegister`` and the like (also ``hip``): on
        the thread that feeds the device in account ``allocator``; on another thread (the loader's
        pinning thread) while the device waits for input.

    Why it costs
        The driver locks every page, holds its lock meanwhile, and a release waits for the device.

    How the gain is predicted
        Bound: the counted time in which the device is idle inside such calls of the thread that
        feeds it, or waits for input while another thread is inside one.

    What is not flagged
        Calls beside device work. Where no steady lap is counted, first use cannot be told from
        churn, and the cause abstains.

    Must not flag
        - ``kineto/hta/critical_path/alexnet``: one ``cudaHostAlloc`` of 3.5 ms in 12.9 s.
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: no such call in its laps.
    """

    id = "pinned-allocation"
    title = "Pinned memory is allocated in the laps"
    layer = "memory"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("input-starvation",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for pinned memory."""
        rank = case.timeline.rank
        looked = [(view, *_waits(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, calls, own, others = max(looked, key=lambda v: v[0].share(intervals.both(v[2], v[3])))
        span = intervals.both(own, others)
        share = view.share(span)
        if share < ALLOCATION_SHARE.value:
            if view.number(calls) == 0:
                return Clear(self.id, "no allocation of pinned memory in the counted laps", rank)
            told = wording.below(share, ALLOCATION_SHARE.value, "of the lap")
            return Clear(self.id, f"the device waits for pinned memory for {told}", rank)
        first_use = only_first_use(
            self.id, view, f"calls for pinned memory leave the device idle {wording.percent(share)}"
        )
        if first_use is not None:
            return first_use
        bound = view.mean_ns(span)
        where = main_origin(case, calls)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Calls for pinned memory leave the device idle for {view.of_lap(bound)} "
                f"({wording.percent(share)}){in_laps(view, span)}: {told_calls(view, calls)}"
                + (f", most from {where}." if where else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "device idle in account allocator while such calls of its thread last + in account "
                "input_wait while those of other threads do = "
                f"{wording.time(view.mean_ns(own))} + {wording.time(view.mean_ns(others))}"
            ),
            device=view.device,
            rank=rank,
            events=view.events(calls),
            events_in_all=view.number(calls),
            why=(
                f"the calls last {wording.time(view.mean_ns(view.rows_span(calls)))}"
                f"{view.per_lap}; what of it overlaps device work is not counted",
                f"{wording.counted(view.number(calls), 'call')} {view.in_all}: "
                f"{told_calls(view, calls)}",
                *origin_lines(case, calls, view.laps),
            ),
            next_step=(
                "keep one set of pinned buffers and copy batches into them, or give batches one "
                "size, so that the pinned cache can use its blocks again",
                "or do without pinning: for small batches it costs more than it saves",
            ),
        )


def _waits(view: DeviceView) -> tuple[Ints, Span, Span]:
    found = allocation_calls(view)
    own = waited_for(view, found.pinned)
    others = waited_for(view, found.pinned_elsewhere, "input_wait")
    return np.concatenate((found.pinned, found.pinned_elsewhere)), own, others


CAUSE = PinnedAllocation()
