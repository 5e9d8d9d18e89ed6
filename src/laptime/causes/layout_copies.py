"""Cause: the device spends its time changing the layout of tensors."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.copies_made import layout_changes, taken
from laptime.causes.kernel_cost import costliest
from laptime.causes.limits import LAYOUT_SHARE
from laptime.causes.removable import Words, removable


class LayoutCopies:
    """Changes of layout.

    What it is
        A tensor is copied only to lie in memory in another order: libraries transpose what they
        are given in a layout that their kernel does not take, and programs make permuted or
        expanded tensors contiguous.

    How it shows
        Kernels decoded as transposition (``nchwToNhwc``, ``batched_transpose``, ...), and copies
        launched inside ``aten::contiguous``, ``aten::reshape`` or ``aten::flatten``.

    Why it costs
        Every byte is read and written once more, and nothing is computed.

    How the gain is predicted
        Bound: the counted time in which only such kernels run, and never more than the host waits
        for the device.

    What is not flagged
        Less than 2 % of the lap. Kernels that do other work on the way, and repacking for
        libraries of quantised or fp8 products, which take no other layout. Copies into contiguous
        memory are seen only with operators and launch calls.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: three transpositions a lap, 0.1 %.
        - ``kineto/hta/ns_resolution_trace``: none.
    """

    id = "layout-copies"
    title = "Time goes into changing layouts"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS,)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        words = Words(
            "changes of layout",
            (
                "for convolutions: model.to(memory_format=torch.channels_last), and the inputs too",
                "for permuted or expanded tensors: operators that take strides (einsum, "
                "scaled_dot_product_attention, enable_gqa=True instead of repeated heads), or "
                "torch.compile, which writes the layout that is read next",
            ),
        )
        return removable(
            self, costliest(case, lambda v: layout_changes(v) & ~taken(v)), LAYOUT_SHARE, words
        )


CAUSE = LayoutCopies()
