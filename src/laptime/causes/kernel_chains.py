"""Runs of pointwise kernels on one stream with nothing else between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from laptime.causes.copies_made import casts, layout_changes
from laptime.causes.kernel_cost import kernels_where
from laptime.causes.launch_sites import launched_in
from laptime.causes.per_tensor import one_by_one, regions
from laptime.causes.view import DeviceView
from laptime.kernels.names import KernelName
from laptime.model.rows import Ints, Kind, Mask

POINTWISE = frozenset({"elementwise", "activation", "dropout"})
BETWEEN = frozenset({"copy", "fill"})
"""Operations that may stand inside a run without being counted."""

GRADIENTS = re.compile(r"AccumulateGrad$|^torch::distributed::reducer|ddp\.reducer")
"""Sums and scalings of gradients in place: their tensors are done with as soon as they ran."""

SAME_KERNEL = 16
"""A kernel that comes so often in one run works through a list of tensors (a moving average, a norm
by hand): they do not depend on each other, and no fusion along the run joins them."""


@dataclass(frozen=True)
class Chains:
    """``member`` marks the pointwise kernels of every run of two or more; ``run`` gives each
    activity its run (-1: in none)."""

    member: Mask
    run: Ints


def chains(view: DeviceView, taken: Mask) -> Chains:
    """The runs of a device. ``taken`` marks work that another cause speaks of."""
    work = view.work
    if work is None:
        return Chains(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64))
    rows = view.case.timeline.rows
    pointwise = kernels_where(view, _pointwise)
    pointwise &= ~one_by_one(view, regions(view)) & ~launched_in(view, GRADIENTS, Kind.CPU_OP)
    pointwise &= ~taken
    passing = casts(view) | layout_changes(view)
    passing |= kernels_where(view, lambda k: k.library == "ATen" and k.operation in BETWEEN)
    run = np.full(len(work.row), -1, dtype=np.int64)
    member = np.zeros(len(work.row), dtype=np.bool_)
    starts = np.array([w.start_ns for w in view.ledger.windows], dtype=np.int64)
    first = 0
    for lane in np.unique(work.lane).tolist():
        here = np.flatnonzero(work.lane == lane)
        linked = pointwise[here] | passing[here]
        # A lap's first kernel has nothing to do with the last of the lap before.
        lap = np.searchsorted(starts, work.start_ns[here], side="right")
        number = np.cumsum(~linked | (np.diff(lap, prepend=lap[0]) > 0)) + first
        count = np.bincount(number, weights=pointwise[here]).astype(np.int64)
        mine = pointwise[here] & (count[number] >= 2)
        mine &= ~_loops(rows.name[work.row[here]], number, mine)[number]
        member[here[mine]] = True
        run[here[mine]] = number[mine]
        first = int(number[-1]) + 1
    return Chains(member, run)


def _loops(name: Ints, run: Ints, mine: Mask) -> Mask:
    """Which runs are loops over tensors: one kernel comes many times in them."""
    looped = np.zeros(int(run[-1]) + 1, dtype=np.bool_)
    each, times = np.unique(np.stack((run[mine], name[mine])), axis=1, return_counts=True)
    looped[each[0][times >= SAME_KERNEL]] = True
    return looped


def _pointwise(kernel: KernelName) -> bool:
    return (
        kernel.library == "ATen"
        and kernel.operation in POINTWISE
        and "multi_tensor_apply" not in kernel.name
    )
