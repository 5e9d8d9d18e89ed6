"""Cause: gradients are reduced in every micro-step of an accumulation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.collective_rows import Collectives, collectives
from laptime.causes.limits import MICRO_STEP_SHARE
from laptime.causes.slack import capped, too_small
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger.intervals import Span
from laptime.model.rows import I64, Ints, Kind, Mask

FORWARD = re.compile(
    r"^DistributedDataParallel\.forward$|^FullyShardedDataParallel\.forward$|^FSDP::root_pre_forward"
)
STEP = re.compile(r"^Optimizer\.step#")
BACKWARD = re.compile(r"^autograd::engine::evaluate_function")
REDUCTIONS = frozenset({"all_reduce", "reduce_scatter"})


@dataclass(frozen=True)
class Accumulation:
    """Micro-steps between optimizer steps of one device.

    ``micro`` micro-steps to each of ``steps`` optimizer steps; ``buckets`` reductions in each;
    ``early``: the reductions of all micro-steps but the last of their optimizer step.
    """

    micro: float
    steps: int
    buckets: float
    early: Collectives


class ReducedEveryMicroStep:
    """Gradients reduced in every micro-step.

    What it is
        Gradients are accumulated over several forward and backward passes before the optimizer
        steps, and every one of these passes reduces them across the ranks.

    How it shows
        Between two ``Optimizer.step`` marks, two and more ``DistributedDataParallel.forward`` (or
        FSDP) marks, and behind each the same number of all-reduces or reduce-scatters: buckets x
        accumulation for each optimizer step.

    Why it costs
        Only the sum is used: all reductions but the last could be left out.

    How the gain is predicted
        Bound: the counted time in which nothing is computed and only reductions of micro-steps
        before the last run, and never more than the host waits for the device.

    What is not flagged
        Several models with a forward each before one backward (behind the first there is no
        reduction); reductions under computation. Without the marks the cause abstains where a
        backward pass and reductions are recorded.

    Must not flag
        - ``kineto/param-dlrm-8ranks/worker1_``: two wrapped models, one backward pass.
        - ``kineto/tracelens/mi300/resnet``: one forward to each optimizer step.
    """

    id = "reduced-every-micro-step"
    title = "Gradients are reduced in every micro-step"
    layer = "communication"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("exposed-collectives",)

    def look(self, case: Case) -> Outcome:
        """Judge the device with most time in such reductions."""
        rank = case.timeline.rank
        looked = [(view, collectives(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        reduced = [(v, c.of(_such(c))) for v, c in looked]
        if not any(len(c.at) for _, c in reduced):
            return Clear(self.id, "no all-reduce or reduce-scatter in the counted laps", rank)
        rows = case.timeline.rows
        forwards, steps = (
            np.sort(rows.start_ns[rows.like(p, Kind.ANNOTATION, Kind.CPU_OP)])
            for p in (FORWARD, STEP)
        )
        if len(forwards) == 0 or len(steps) == 0:
            if len(rows.like(BACKWARD, Kind.CPU_OP)) == 0:
                return Clear(self.id, "reductions, but no backward pass recorded", rank)
            return Abstention(
                self.id,
                ("marks of the wrapped model's forward and of the optimizer's step",),
                "profile with ProfilerActivity.CPU; DistributedDataParallel, FSDP and "
                "torch.optim mark them",
                rank,
            )
        found = [(v, _accumulation(v, c, forwards, steps)) for v, c in reduced]
        known = [(v, a, a.early.exposed) for v, a in found if a is not None]
        if not known:
            return Clear(self.id, _most(forwards, steps), rank)
        view, of, span = max(known, key=lambda k: k[0].share(k[2]))
        share = view.share(span)
        if share < MICRO_STEP_SHARE.value:
            told = wording.below(share, MICRO_STEP_SHARE.value, "of the lap")
            return Clear(self.id, f"reductions of earlier micro-steps are exposed for {told}", rank)
        return self._finding(view, of, span)

    def _finding(self, view: DeviceView, of: Accumulation, span: Span) -> Outcome:
        rank = view.case.timeline.rank
        alone = view.mean_ns(span)
        bound, held = capped(view, alone)
        taken = f"{view.of_lap(alone)} ({wording.percent(view.share(span))})"
        if held and too_small(view, bound):
            return Clear(self.id, f"earlier micro-steps reduce for {taken}, but {held}", rank)
        micro, buckets = wording.count(of.micro), wording.count(of.buckets)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Each of {micro} micro-steps to an optimizer step reduces its gradients "
                f"({buckets} reductions each, {wording.count(of.micro * of.buckets)} in all); "
                f"those of all but the last are exposed for {taken}"
                + (f"; {held}." if held else ".")
            ),
            share=view.share(span),
            bound_ns=bound,
            formula=(
                "time in which nothing is computed and only reductions of micro-steps before the "
                f"last run = {wording.time(alone)}{view.per_lap}" + (f"; {held}" if held else "")
            ),
            device=view.device,
            rank=rank,
            events=view.events(of.early.rows),
            events_in_all=view.number(of.early.rows),
            why=(f"counted over {wording.counted(of.steps, 'optimizer step')}",),
            next_step=(
                "DDP and FSDP: no_sync() around forward and backward of all micro-steps but the "
                "last; FSDP2: set_requires_gradient_sync(False). FSDP then keeps whole gradients, "
                "which takes memory",
            ),
        )


def _such(every: Collectives) -> Mask:
    return np.array([k in REDUCTIONS for k in every.kind], dtype=np.bool_)


def _most(forwards: I64, steps: I64) -> str:
    """How many forwards lie between optimizer steps, where none accumulates."""
    between = np.diff(np.searchsorted(forwards, steps))
    if len(between) == 0:
        return "fewer than two optimizer steps recorded"
    most = int(between.max())
    if most < 2:
        return f"{wording.counted(most, 'forward')} to an optimizer step: nothing is accumulated"
    return f"{most} forwards to an optimizer step, but not with the same reductions behind each"


def _accumulation(
    view: DeviceView, reduced: Collectives, forwards: I64, steps: I64
) -> Accumulation | None:
    """The micro-steps of the optimizer steps whose micro-steps all reduce alike; None where none
    has at least two of them."""
    work = view.work
    assert work is not None
    called = work.called_ns[reduced.at]
    early: Ints = np.zeros(len(called), dtype=np.bool_)
    micro, buckets = [], []
    for low, high in pairwise(steps.tolist()):
        starts = forwards[(forwards >= low) & (forwards < high)]
        edges = np.append(starts, high)
        each = np.histogram(called, edges)[0] if len(starts) >= 2 else np.zeros(1, dtype=np.int64)
        # The last bin of a histogram is closed; nothing is launched at its very end but the step.
        if len(starts) < 2 or each.min() == 0 or each.min() != each.max():
            continue
        micro.append(len(starts))
        buckets.append(int(each[0]))
        early |= (called >= starts[0]) & (called < starts[-1])
    if not micro:
        return None
    return Accumulation(
        float(np.mean(micro)), len(micro), float(np.mean(buckets)), reduced.of(early)
    )


CAUSE = ReducedEveryMicroStep()
