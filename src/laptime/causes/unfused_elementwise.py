"""Cause: chains of pointwise kernels that each read and write memory again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Need, Outcome
from laptime.causes.copies_made import taken
from laptime.causes.kernel_chains import Chains, chains
from laptime.causes.kernel_cost import KernelCost, cost_of
from laptime.causes.limits import ELEMENTWISE_SHARE
from laptime.causes.removable import Words, removable
from laptime.causes.view import DeviceView, gpu_views


class UnfusedElementwise:
    """Pointwise kernels one after another.

    What it is
        Additions, products, activations and the like run as kernels of their own, several in a
        row on one stream, where one fused kernel would read the inputs and write the result once.

    How it shows
        Two or more of PyTorch's own pointwise kernels in a row on a stream, with nothing but
        copies and fills between them.

    Why it costs
        A pointwise kernel does little arithmetic: its time is that of moving its operands, and
        what lies between two of them is written and read only to be passed on.

    How the gain is predicted
        Bound: the counted time in which only kernels of such runs compute, less the shortest of
        each run, since one kernel at least remains and moves at least as much as that one; never
        more than the host waits for the device. Intermediate results that the backward pass needs
        are written by a fused kernel too, which a bound may ignore.

    What is not flagged
        Single pointwise kernels between others; compiled and library kernels; the optimizer's loop
        (``unfused-optimizer``), conversions and changes of layout (causes of their own), the parts
        of an attention (``eager-attention``), fallbacks (``slow-fallback-kernel``), sums of
        gradients in place, and loops over many tensors, whose kernels do not pass anything on. Less
        than 5 % of the lap. Without operators and launch calls these cannot be told apart.

    Must not flag
        - ``kineto/tracelens/inference/vllm_decode_full/graph_execution``: what is pointwise is
          compiled.
        - ``kineto/param-dlrm-8ranks/worker0_``: pointwise kernels in a row take below 5 %.
    """

    id = "unfused-elementwise"
    title = "Pointwise kernels one after another"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device where the largest share could go."""
        looked = [_looked(view) for view in gpu_views(case) if view.work is not None]
        if not looked:
            return Clear(self.id, "no device time", case.timeline.rank)
        cost, found = max(looked, key=lambda one: one[0].share)
        kept, longest = _remaining_ns(cost, found)
        runs = len(np.unique(found.run[cost.at]))
        view = cost.view
        words = Words(
            "runs of pointwise kernels",
            (
                "torch.compile, at least of the function around them; fused norms, activations and "
                "rotary embeddings where a library has them",
            ),
            why=(
                f"{wording.counted(runs / view.laps, 'run')}{view.per_lap}, "
                f"{wording.count(len(cost.at) / runs)} kernels in each",
                f"{wording.time(cost.ns - longest)}{view.per_lap} could go if the longest kernel "
                "of each run remains instead of the shortest",
            )
            if runs
            else (),
            kept_ns=kept,
            kept="of the shortest kernel in each run, which remains",
        )
        return removable(self, cost, ELEMENTWISE_SHARE, words)


def _looked(view: DeviceView) -> tuple[KernelCost, Chains]:
    found = chains(view, taken(view))
    return cost_of(view, found.member), found


def _remaining_ns(cost: KernelCost, found: Chains) -> tuple[int, int]:
    """The shortest and the longest kernel of each run, together, means per counted window."""
    if len(cost.at) == 0:
        return 0, 0
    durations = cost.view.case.timeline.rows.dur_ns[cost.rows]
    runs, at = np.unique(found.run[cost.at], return_inverse=True)
    shortest = np.full(len(runs), np.iinfo(np.int64).max, dtype=np.int64)
    longest = np.zeros(len(runs), dtype=np.int64)
    np.minimum.at(shortest, at, durations)
    np.maximum.at(longest, at, durations)
    laps = cost.view.laps
    return round(int(shortest.sum()) / laps), round(int(longest.sum()) / laps)


CAUSE = UnfusedElementwise()
