"""Cause: an autotuner tries kernels inside the laps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.compiling import Compiling, by_name, compiling, outermost_of
from laptime.causes.launch_sites import inside
from laptime.causes.limits import COMPILE_SHARE
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps, only_first_use
from laptime.causes.view import DeviceView, gpu_views
from laptime.model.rows import Kind


class AutotuningInWindow:
    """Autotuning in the laps.

    What it is
        A library measures several kernels for the same work and keeps the fastest: cuDNN or MIOpen
        with ``cudnn.benchmark``, Triton's ``autotune``, Inductor's ``max-autotune``. It does so
        again for every new shape, which in laps of changing shapes is every lap.

    How it shows
        Frames and marks of trials (``do_bench``, ``_bench``, ``benchmark_all_configs``), or an
        operator that reads the time between events (``cudaEventElapsedTime``) twice and more: what
        it launches are trials.

    Why it costs
        Each trial runs the work once or many times, and the host waits for each.

    How the gain is predicted
        Bound: the counted time that such rows last while the device is idle, or runs nothing but
        what was launched inside them. The chosen kernel's own run is in it.

    What is not flagged
        Calls of kernels that were tuned before. A library that measures without events and without
        Python is not seen. Where no steady lap is counted, the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: convolutions, and no time is read.
        - ``kineto/tracelens/inference/vllm_decode_full/capture_traces``: compiled code and Triton
          kernels, none of them tried.
    """

    id = "autotuning-in-window"
    title = "Autotuning in the laps"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ("launch-bound", "host-sync")

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends longest on trials."""
        rank = case.timeline.rank
        looked = [(v, compiling(v)) for v in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, found = max(looked, key=lambda v: v[0].share(v[1].tried))
        share = view.share(found.tried)
        if share < COMPILE_SHARE.value:
            if view.number(found.trial_rows) == 0:
                return Clear(self.id, "no trial of a kernel in the counted laps", rank)
            told = wording.below(share, COMPILE_SHARE.value, "of the lap")
            return Clear(self.id, f"trials of kernels take {told}", rank)
        first_use = only_first_use(self.id, view, f"trials take {wording.percent(share)}")
        return first_use or self._finding(view, found, share)

    def _finding(self, view: DeviceView, found: Compiling, share: float) -> Finding:
        rows, work = view.case.timeline.rows, view.work
        assert work is not None
        whole = outermost_of(view, found.trial_rows)
        tried = np.flatnonzero(inside(view, found.trial_rows))
        tried = tried[view.touching(work.start_ns[tried], work.end_ns[tried])]
        kernels = work.row[tried[rows.kind[work.row[tried]] == Kind.KERNEL]]
        distinct = len(np.unique(rows.name[kernels]))
        bound = view.mean_ns(found.tried)
        where = main_origin(view.case, whole)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Trials of kernels take {view.of_lap(bound)} ({wording.percent(share)})"
                f"{in_laps(view, found.tried)}: "
                f"{wording.counted(len(whole) / view.laps, 'tuning')}{view.per_lap} with "
                f"{wording.counted(len(kernels) / view.laps, 'kernel')}{view.per_lap} under "
                f"{wording.counted(distinct, 'name')}" + (f", most from {where}." if where else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "time in which the device is idle inside trials, or runs nothing but what was "
                f"launched in them = {wording.time(bound)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(whole),
            events_in_all=view.number(whole),
            why=(
                f"{wording.counted(len(whole), 'tuning')} and "
                f"{wording.counted(len(kernels), 'kernel')} launched in them {view.in_all}, "
                f"{wording.counted(distinct, 'name')} of kernels",
                *by_name(view, whole),
                *origin_lines(view.case, whole, view.laps, "tuning"),
            ),
            next_step=(
                "give the work a few fixed shapes (pad, bucket), so that each is tuned once; or "
                "torch.backends.cudnn.benchmark = False, and fewer Triton configurations or keys",
                "if these laps are the first with their shapes, warm up longer before measuring",
            ),
        )


CAUSE = AutotuningInWindow()
