"""Cause: the program empties the caching allocator inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.allocation_calls import (
    AllocationCalls,
    allocation_calls,
    told_calls,
    waited_for,
)
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import ALLOCATION_SHARE
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps, only_first_use
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span


class CacheEmptying:
    """The allocator's cache is emptied in steady laps.

    What it is
        ``torch.cuda.empty_cache()`` in the loop: what the caching allocator kept goes back to the
        driver, and the next operators have to ask the driver again.

    How it shows
        Releases (``cudaFree``, ``cuMemUnmap``, also ``hip``) inside a frame named ``empty_cache``;
        where no Python is recorded, two and more of them in a row outside any operator. Behind
        them, as many allocations as there were releases.

    Why it costs
        Every release waits for the device, and every segment is then allocated anew.

    How the gain is predicted
        Bound: the counted time in which the device is idle inside these releases and inside as many
        allocations behind them.

    What is not flagged
        Releases by an allocator that retries (they lie inside an operator): device-allocation has
        them. An ``empty_cache`` that finds nothing to release. Where no steady lap is counted, the
        cause abstains.

    Must not flag
        - ``kineto/tracelens/inference/vllm_decode_full/capture_traces``: one call before a capture,
          1.4 % of the window.
        - ``kineto/tracelens/inference/sglang_decode/capture_traces``: one call, outside the window.
    """

    id = "cache-emptying"
    title = "The memory cache is emptied in the laps"
    layer = "memory"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for releases and what follows them."""
        rank = case.timeline.rank
        looked = [(view, *_waits(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, found, span = max(looked, key=lambda v: v[0].share(v[2]))
        share = view.share(span)
        if share < ALLOCATION_SHARE.value:
            if view.number(found.emptied) == 0:
                return Clear(self.id, "no cache is emptied in the counted laps", rank)
            told = wording.below(share, ALLOCATION_SHARE.value, "of the lap")
            return Clear(self.id, f"emptying the cache leaves the device idle for {told}", rank)
        first_use = only_first_use(
            self.id, view, f"an emptied cache leaves the device idle {wording.percent(share)}"
        )
        return first_use or self._finding(view, found, span)

    def _finding(self, view: DeviceView, found: AllocationCalls, span: Span) -> Finding:
        calls = np.concatenate((found.emptied, found.again))
        released = waited_for(view, found.emptied)
        taken = intervals.subtract(span, released)
        bound = view.mean_ns(span)
        where = main_origin(view.case, found.emptied)
        number = sum(view.number(group) > 0 for group in found.groups)
        often = f"{wording.times(number / view.laps)}{view.per_lap}"
        what = (
            f"torch.cuda.empty_cache() {often}"
            if found.by_frame
            else f"A row of releases outside any operator {often}, as empty_cache makes it (no "
            "stack names the caller),"
        )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                what
                + (f" from {where}" if where else "")
                + f" releases {wording.counted(view.number(found.emptied) / view.laps, 'segment')}"
                f"{view.per_lap}, of which "
                f"{wording.count(view.number(found.again) / view.laps)} are allocated again: the "
                f"device is idle for {view.of_lap(bound)} ({wording.percent(view.share(span))})"
                f"{in_laps(view, span)}."
            ),
            share=view.share(span),
            bound_ns=bound,
            formula=(
                "device idle in account allocator inside these releases + inside as many "
                "allocations behind them = "
                f"{wording.time(view.mean_ns(released))} + {wording.time(view.mean_ns(taken))}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(calls),
            events_in_all=view.number(calls),
            why=(
                f"calls: {told_calls(view, calls)}",
                f"{wording.counted(view.number(found.emptied), 'release')} and "
                f"{wording.counted(view.number(found.again), 'allocation')} behind them "
                f"{view.in_all}",
                *origin_lines(view.case, found.emptied, view.laps, "release"),
            ),
            next_step=(
                "take empty_cache() out of the lap; without it the peak of reserved memory is "
                "higher: watch torch.cuda.max_memory_reserved()",
            ),
        )


def _waits(view: DeviceView) -> tuple[AllocationCalls, Span]:
    found = allocation_calls(view)
    if len(found.emptied) == 0:
        return found, intervals.EMPTY
    return found, waited_for(view, np.concatenate((found.emptied, found.again)))


CAUSE = CacheEmptying()
