"""Symptom: kernels so short that the device is idle between them longer than it need be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.kernel_cost import KernelCost, cost_of
from laptime.causes.launch_bound import HOST_WORK
from laptime.causes.launch_sites import code_lines
from laptime.causes.limits import (
    LAUNCH_GAP_NS,
    LAUNCH_SHARE,
    SEPARATE_KERNELS,
    TINY_KERNEL_NS,
    TINY_KERNELS,
)
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.work import WorkClass
from laptime.model.rows import Kind, Mask

BEFORE = (*HOST_WORK, "launch_latency", "kernel_gap")
"""Accounts of idle time that comes with each kernel, however short it is."""


class ManyTinyKernels:
    """Many tiny kernels.

    What it is
        A symptom: work in so many short kernels that starting each costs as much as running it,
        on the host, or on the device itself where a graph or a full queue feeds it.

    How it shows
        At least half of the kernels, 32 a lap and more, last no more than 10 us, and the device is
        idle in front of these, in gaps of at most 1 ms, while the host launches, the launch
        travels, or one kernel gives way to the next.

    Why it costs
        A gap of one or two microseconds between kernels is nothing beside 100 us and as much
        again beside 2 us.

    How the gain is predicted
        Bound: the counted idle time in gaps of at most 1 ms that end with such a kernel, in the
        accounts ``host_launch``, ``host_ops``, ``host_between_ops``, ``launch_latency`` and
        ``kernel_gap``.

    What is not flagged
        Short kernels without gaps. Less than 5 % of the lap. It is said only where no finding that
        explains most of the idle time stands: ``launch-bound`` says it of the host,
        ``unfused-optimizer`` names the loop. Where these cannot be judged, it is not either.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: the device is never out of work.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: the loader explains the idle time.
    """

    id = "many-tiny-kernels"
    title = "Many tiny kernels"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device with most idle time in front of tiny kernels."""
        rank = case.timeline.rank
        looked = [(v, *_before(v)) for v in gpu_views(case) if v.work is not None]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, gaps, tiny, of_all = max(looked, key=lambda one: one[0].share(one[1]))
        if of_all < TINY_KERNELS.value:
            return Clear(
                self.id,
                f"{wording.below(of_all, TINY_KERNELS.value, 'of the kernels')}, last no more than "
                f"{wording.time(TINY_KERNEL_NS.value)}",
                rank,
            )
        cost = cost_of(view, tiny)
        if cost.per_lap < SEPARATE_KERNELS.value:
            number = wording.counted(cost.per_lap, "kernel")
            return Clear(self.id, f"{number}{view.per_lap} of at most 10 us", rank)
        share = view.share(gaps)
        if share < LAUNCH_SHARE.value:
            return Clear(
                self.id,
                f"{wording.percent(of_all)} of the kernels are tiny, and the device is idle in "
                f"front of them {wording.below(share, LAUNCH_SHARE.value, 'of the lap')}",
                rank,
            )
        return self._finding(cost, gaps, of_all)

    def _finding(self, cost: KernelCost, gaps: Span, of_all: float) -> Finding:
        view = cost.view
        bound, share = view.mean_ns(gaps), view.share(gaps)
        parts = {
            account: view.mean_ns(intervals.intersect(gaps, view.time_in(account)))
            for account in BEFORE
            if view.knows(account)
        }
        told = ", ".join(f"{account} {wording.time(ns)}" for account, ns in parts.items() if ns)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{wording.percent(of_all)} of the kernels last no more than "
                f"{wording.time(TINY_KERNEL_NS.value)} ({cost.counted}), and the device is idle in "
                f"front of them for {view.of_lap(bound)} ({wording.percent(share)})."
            ),
            share=share,
            bound_ns=bound,
            formula=(
                f"idle in gaps of at most {wording.time(LAUNCH_GAP_NS.value)} that end with a "
                f"kernel of at most {wording.time(TINY_KERNEL_NS.value)} = "
                f"{wording.time(bound)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(cost.rows),
            events_in_all=view.number(cost.rows),
            why=(
                f"{len(cost.at)} of {len(cost.at) / of_all:.0f} kernels {view.in_all}: "
                f"{wording.percent(of_all)}",
                f"these gaps by account: {told}",
                *cost.by_name(),
                *(f"from {line}" for line in code_lines(cost)),
            ),
            next_step=(
                "torch.compile, which joins kernels, or CUDA graphs, which shorten the gaps; "
                "larger batches, which make each kernel longer",
            ),
        )


def _before(view: DeviceView) -> tuple[Span, Mask, float]:
    """Idle time in front of tiny kernels, which these are, and their share of all kernels."""
    work = view.work
    assert work is not None
    rows = view.case.timeline.rows
    kernel = (rows.kind[work.row] == Kind.KERNEL) & (work.klass == int(WorkClass.COMPUTE))
    tiny: Mask = kernel & (work.end_ns - work.start_ns <= TINY_KERNEL_NS.value)
    here = view.touching(work.start_ns, work.end_ns)
    number = int(kernel[here].sum())
    of_all = int(tiny[here].sum()) / number if number else 0.0
    busy = intervals.union(work.start_ns, work.end_ns)
    first, last = int(view.windows[0][0]), int(view.windows[1][-1])
    gaps = intervals.complement(busy, first, last)
    short = gaps[1] - gaps[0] <= LAUNCH_GAP_NS.value
    # Of several activities that begin as a gap ends, the longest stands first in the work.
    at = np.searchsorted(work.start_ns, gaps[1])
    ends = np.append(tiny, False)[at]
    chosen = gaps[0][short & ends], gaps[1][short & ends]
    return intervals.intersect(view.time_in(*BEFORE), chosen), tiny, of_all


CAUSE = ManyTinyKernels()
