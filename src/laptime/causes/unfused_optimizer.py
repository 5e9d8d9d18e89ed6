"""Cause: the optimizer, averaging or clipping launches kernels for one parameter at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.host_cost import HostCost, host_cost
from laptime.causes.kernel_cost import KernelCost, cost_of
from laptime.causes.launch_sites import code_lines, operators_around
from laptime.causes.limits import OPTIMIZER_SHARE, SEPARATE_KERNELS
from laptime.causes.per_tensor import STEP, one_by_one, regions
from laptime.causes.view import DeviceView, gpu_views
from laptime.model.rows import Ints


@dataclass(frozen=True)
class _Loop:
    """The loop over parameters on one device.

    ``tensors``: how many tensors a lap at least (an operator that comes once for each says so),
    ``passes`` kernels for each; ``device_ns`` what of the kernels' time could go, a mean per
    counted window.
    """

    cost: KernelCost
    where: Ints
    operators: Sequence[tuple[str, float]]
    tensors: float
    passes: float
    shortest_ns: int
    device_ns: int
    host: HostCost

    @property
    def bound_ns(self) -> int:
        return self.device_ns + self.host.bound_ns


class UnfusedOptimizer:
    """Optimizer steps, weight averages and gradient clipping, one parameter at a time.

    What it is
        The update runs a few small operators for each parameter in a Python loop
        (``foreach=False``, an optimizer without such a form, a hand-written moving average or
        clipping), where one kernel over lists of tensors would do.

    How it shows
        Inside ``Optimizer.step#...`` marks, frames of ``torch.optim``, ``clip_grad`` or functions
        named for a moving average: at least 32 kernels a lap that PyTorch launched for single
        tensors, outside ``_foreach_`` and ``_fused_`` operators.

    Why it costs
        Every kernel has its launch on the host and its fixed time on the device, and every one
        reads and writes the tensor again.

    How the gain is predicted
        Bound: of the device, the time that only these kernels take, less one pass over the
        tensors without its fixed part (with n operators for a tensor one pass is 1/n of the time,
        and no kernel's fixed part is longer than the shortest of them); of the host, its time in
        these regions outside blocking calls, at most the device's idle time. A path through the
        lap holds no more of either.

    What is not flagged
        Fused and multi-tensor kernels, kernels of compiled code and of other libraries, and loops
        whose cost is below 2 % of the lap. Averages and clipping are seen only with stacks or
        marks named for them.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: SGD through ``_foreach_`` operators.
        - ``kineto/hta/negative_queue_length_values_check``: Apex's FusedAdam.
    """

    id = "unfused-optimizer"
    title = "Optimizer goes parameter by parameter"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ("many-tiny-kernels",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that the loop costs most."""
        rank = case.timeline.rank
        loops = [loop for view in gpu_views(case) if (loop := _loop(view)) is not None]
        if not loops:
            return Clear(self.id, "no optimizer step, average or clipping is marked", rank)
        loop = max(loops, key=lambda one: one.bound_ns)
        view, cost = loop.cost.view, loop.cost
        if cost.per_lap < SEPARATE_KERNELS.value:
            return Clear(
                self.id,
                f"{wording.counted(cost.per_lap, 'kernel')}{view.per_lap} for single tensors in "
                f"{_names(view, loop.where)}, fewer than {SEPARATE_KERNELS.value}",
                rank,
            )
        share = loop.bound_ns / view.lap_ns
        if share < OPTIMIZER_SHARE.value:
            return Clear(
                self.id,
                f"{wording.counted(cost.per_lap, 'kernel')}{view.per_lap} for single tensors in "
                f"{_names(view, loop.where)} could cost "
                f"{wording.below(share, OPTIMIZER_SHARE.value, 'of the lap')}",
                rank,
            )
        return self._finding(loop, share)

    def _finding(self, loop: _Loop, share: float) -> Finding:
        cost, view = loop.cost, loop.cost.view
        lines = code_lines(cost)
        each = wording.count(loop.passes)
        passes = f" ({each} for each of {wording.count(loop.tensors)})" if loop.passes > 1 else ""
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{_names(view, loop.where)} launches {wording.counted(cost.per_lap, 'kernel')}"
                f"{view.per_lap} for single tensors{passes}: the device takes "
                f"{wording.time(cost.ns)} for them and the host "
                f"{wording.time(loop.host.inside_ns)} to ask for them; at most "
                f"{view.of_lap(loop.bound_ns)} ({wording.percent(share)}) could go."
            ),
            share=share,
            bound_ns=loop.bound_ns,
            formula=(
                f"device: {wording.time(cost.ns)} of only these kernels - what one pass of "
                f"{wording.count(loop.passes)} takes beyond "
                f"{wording.count(loop.tensors)} x {wording.time(loop.shortest_ns)} (the shortest "
                f"kernel) = {wording.time(loop.device_ns)}; {loop.host.formula}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(cost.rows),
            events_in_all=view.number(cost.rows),
            why=(
                f"{wording.counted(cost.per_lap, 'kernel')}{view.per_lap} for single tensors",
                "operators: "
                + ", ".join(f"{n} {wording.times(k)}{view.per_lap}" for n, k in loop.operators[:5]),
                *cost.by_name(),
                *(f"from {line}" for line in lines),
            ),
            next_step=(
                "foreach=True (the default on GPUs since PyTorch 2.0), or fused=True where the "
                "optimizer takes it (Adam, AdamW, SGD)",
                "torch._foreach_lerp_ or torch._foreach_mul_ for averages by hand; "
                "clip_grad_norm_(foreach=True)",
            ),
        )


def _loop(view: DeviceView) -> _Loop | None:
    """The loop on one device; None where no region is marked."""
    where = regions(view)
    if len(where) == 0:
        return None
    cost = cost_of(view, one_by_one(view, where))
    operators = _operators(view, cost.at)
    most = operators[0][1] if operators else 0.0
    # An operator far rarer than the first is no part of the loop over all parameters.
    tensors = min((k for _, k in operators if 4 * k >= most), default=0.0)
    passes = max(cost.per_lap / tensors, 1.0) if tensors else 1.0
    durations = view.case.timeline.rows.dur_ns[cost.rows]
    shortest = int(durations.min()) if len(durations) else 0
    stays = max(cost.ns / passes - tensors * shortest, 0.0)
    return _Loop(
        cost=cost,
        where=where,
        operators=operators,
        tensors=tensors,
        passes=passes,
        shortest_ns=shortest,
        device_ns=max(cost.ns - round(stays), 0),
        host=host_cost(view, where),
    )


def _operators(view: DeviceView, at: Ints) -> list[tuple[str, float]]:
    """Operators that launched the kernels, with how many of them a lap, most first."""
    rows = view.case.timeline.rows
    number: Counter[str] = Counter(
        rows.name_of(r) for r in operators_around(view, at).tolist() if r >= 0
    )
    return sorted(((n, k / view.laps) for n, k in number.items()), key=lambda o: (-o[1], o[0]))


def _names(view: DeviceView, where: Ints) -> str:
    """The regions by name: those of optimizers, else of the marks and functions themselves."""
    rows = view.case.timeline.rows
    names = {rows.names[i] for i in np.unique(rows.name[where]).tolist()}
    steps = sorted({f"{m['name']}.step" for n in names if (m := STEP.match(n))})
    return wording.listed(steps or sorted(n.rpartition(": ")[2] for n in names))


CAUSE = UnfusedOptimizer()
