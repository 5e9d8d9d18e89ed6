"""Cause: the backward pass runs parts of the forward pass again."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.checkpoints import recomputed
from laptime.causes.host_cost import HostCost, host_cost
from laptime.causes.kernel_cost import KernelCost, cost_of
from laptime.causes.limits import RECOMPUTED_SHARE
from laptime.causes.view import DeviceView, gpu_views


class Recomputation:
    """Activations computed twice.

    What it is
        Activation checkpointing: the forward pass keeps only some activations, and the backward
        pass computes the others again. It trades time for memory, on purpose; it costs for nothing
        where memory is left.

    How it shows
        Kernels launched inside ``unpack_hook`` or ``recompute_fn`` of ``torch.utils.checkpoint``,
        inside the node ``CheckpointFunctionBackward`` (but in no node within it), or by operators
        of a forward pass (``aten::conv2d``, ``aten::linear``, ...) inside a backward node of
        PyTorch's own operators.

    Why it costs
        The forward pass of what is checkpointed runs twice.

    How the gain is predicted
        Bound: the counted time in which only these kernels run, and the host's time in those
        places outside blocking calls, at most the device's idle time.

    What is not flagged
        Recomputation inside compiled code, which leaves no such trace. Less than 2 % of the lap.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: nothing is recomputed.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: the same.
    """

    id = "recomputation"
    title = "Activations are computed twice"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that it costs most."""
        rank = case.timeline.rank
        looked = [_looked(view) for view in gpu_views(case) if view.work is not None]
        if not looked:
            return Clear(self.id, "no device time", rank)
        cost, host = max(looked, key=lambda one: one[0].ns + one[1].bound_ns)
        if len(cost.at) == 0:
            return Clear(self.id, "no forward work inside the backward pass", rank)
        view, bound = cost.view, cost.ns + host.bound_ns
        share = bound / view.lap_ns
        if share < RECOMPUTED_SHARE.value:
            return Clear(
                self.id,
                "forward work inside the backward pass could cost "
                f"{wording.below(share, RECOMPUTED_SHARE.value, 'of the lap')}",
                rank,
            )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The backward pass launches {wording.counted(cost.per_lap, 'kernel')}"
                f"{view.per_lap} of forward work again: the device takes {wording.time(cost.ns)} "
                f"for them alone and the host {wording.time(host.inside_ns)} to ask for them; at "
                f"most {view.of_lap(bound)} ({wording.percent(share)}) could go, for memory."
            ),
            share=share,
            bound_ns=bound,
            formula=f"device: {wording.time(cost.ns)} of only these kernels; {host.formula}",
            device=view.device,
            rank=rank,
            events=view.events(cost.rows),
            events_in_all=view.number(cost.rows),
            why=cost.by_name(),
            next_step=(
                "look at the peak of memory: if it is left, checkpoint fewer layers, or only the "
                "cheap operators (selective checkpointing: create_selective_checkpoint_contexts)",
            ),
        )


def _looked(view: DeviceView) -> tuple[KernelCost, HostCost]:
    mask, regions, within = recomputed(view)
    return cost_of(view, mask), host_cost(view, regions, less=within)


CAUSE = Recomputation()
