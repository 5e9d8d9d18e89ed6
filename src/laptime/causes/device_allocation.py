"""Cause: device memory is allocated from the driver inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.allocation_calls import allocation_calls, told_calls, waited_for
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import ALLOCATION_SHARE
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps, only_first_use
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints


class DeviceAllocation:
    """Device memory allocated in steady laps.

    What it is
        The program asks the driver for device memory, or gives it back, lap after lap: sizes
        change, the caching allocator is full and retries, or memory does not come from it at all.

    How it shows
        Account ``allocator``: the device is idle while the thread that feeds it is in
        ``cudaMalloc``, ``cudaFree``, ``cuMemMap`` and the like (also ``hip``).

    Why it costs
        Such calls take from tens of microseconds to milliseconds, and a release waits for the whole
        device first, so that the queue is empty afterwards.

    How the gain is predicted
        Bound: the counted time in which the device is idle inside these calls.

    What is not flagged
        Calls beside device work; what an emptied cache releases and asks for again (cache-emptying
        has it); pinned memory of the host (pinned-allocation). Where no steady lap is counted,
        first use cannot be told from churn, and the cause abstains.

    Must not flag
        - ``kineto/hta/critical_path/alexnet``: 66 % of its window, all of it first use.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: no such call in its laps.
    """

    id = "device-allocation"
    title = "Device memory is allocated in the laps"
    layer = "memory"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for its memory."""
        rank = case.timeline.rank
        looked = [(view, *_waits(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, calls, span = max(looked, key=lambda v: v[0].share(v[2]))
        share = view.share(span)
        if share < ALLOCATION_SHARE.value:
            if view.number(calls) == 0:
                return Clear(self.id, "no allocation of device memory in the counted laps", rank)
            told = wording.below(share, ALLOCATION_SHARE.value, "of the lap")
            return Clear(self.id, f"the device waits for its allocations for {told}", rank)
        idle = f"{view.of_lap(view.mean_ns(span))} ({wording.percent(share)})"
        first_use = only_first_use(
            self.id, view, f"allocation calls leave the device idle {wording.percent(share)}"
        )
        if first_use is not None:
            return first_use
        where = main_origin(case, calls)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Calls for device memory leave the device idle for {idle}{in_laps(view, span)}: "
                f"{told_calls(view, calls)}" + (f", most from {where}." if where else ".")
            ),
            share=share,
            bound_ns=view.mean_ns(span),
            formula=(
                "device idle in account allocator while these calls last = "
                f"{wording.time(view.mean_ns(span))}{view.per_lap}"
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
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or set sizes (pad to buckets), "
                "so that the caching allocator can use its blocks again",
                "torch.cuda.memory_stats()['num_alloc_retries'] above 0: the memory is full, use a "
                "smaller batch or checkpointing",
            ),
        )


def _waits(view: DeviceView) -> tuple[Ints, Span]:
    calls = allocation_calls(view).others
    return calls, waited_for(view, calls)


CAUSE = DeviceAllocation()
