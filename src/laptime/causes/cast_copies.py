"""Cause: the device spends its time converting tensors to other number formats."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.copies_made import casts, taken
from laptime.causes.kernel_cost import costliest
from laptime.causes.limits import CAST_SHARE
from laptime.causes.removable import Words, removable


class CastCopies:
    """Conversions of number format.

    What it is
        Tensors are copied only to have another number format: weights that autocast converts anew
        in each lap, activations converted to fp32 for a norm and back.

    How it shows
        PyTorch's copy kernels launched inside ``aten::to`` or ``aten::_to_copy``, except those
        whose name says that they convert nothing.

    Why it costs
        Every element is read in one format and written in the other; the next kernel could have
        read it directly.

    How the gain is predicted
        Bound: the counted time in which only such kernels run, and never more than the host waits
        for the device.

    What is not flagged
        Less than 2 % of the lap. Conversions inside other kernels (fused, or by an operator that
        takes two formats); copies between host and device.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: fp32 throughout.
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: the same.
    """

    id = "cast-copies"
    title = "Time goes into converting number formats"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        words = Words(
            "conversions of number format",
            (
                "torch.compile or a fused norm, which convert in registers",
                "weights: keep them in the format that is computed with (model.to(torch.bfloat16), "
                "or one conversion outside the lap), rather than autocast over fp32 weights",
            ),
        )
        return removable(self, costliest(case, lambda v: casts(v) & ~taken(v)), CAST_SHARE, words)


CAUSE = CastCopies()
