"""Cause: gradients of indexing are added up by sorting or with atomic operations."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.kernel_cost import costliest, kernels_where
from laptime.causes.launch_sites import launched_in
from laptime.causes.limits import SCATTER_SHARE
from laptime.causes.removable import Words, removable
from laptime.causes.view import DeviceView
from laptime.ledger.work import WorkClass
from laptime.model.rows import Kind, Mask

NODES = re.compile(
    r"^autograd::engine::evaluate_function: "
    r"(Index|IndexSelect|IndexPut|Gather|Take|ScatterReduce)Backward\d+$"
)
KERNELS = re.compile(r"indexing_backward_kernel")


class IndexScatterBackward:
    """Gradients of indexing.

    What it is
        The gradient of ``x[index]``, ``index_select`` or ``gather`` adds a row for each index.
        Since indices may repeat, PyTorch sorts them and adds row by row, or adds with atomic
        operations, which wait for each other where many go to one place.

    How it shows
        Kernels launched inside ``IndexBackward``, ``IndexSelectBackward``, ``GatherBackward`` and
        the like, and kernels named ``indexing_backward_kernel``.

    Why it costs
        Sorting moves the indices several times; rows with one index are added one after another.

    How the gain is predicted
        Bound: the counted time in which only such kernels run, and never more than the host waits
        for the device. The gradient still has to be added up, which is not taken off.

    What is not flagged
        Less than 2 % of the lap; embeddings, whose gradient has a kernel of its own; scatters of
        the forward pass.

    Must not flag
        - ``kineto/param-dlrm-8ranks/worker0_``: one gradient of an index, 0.3 % of the lap.
        - ``kineto/hta/df_index_resolver``: none.
    """

    id = "index-scatter-backward"
    title = "Gradients of indexing are slow"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS,)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        words = Words(
            "gradients of indexing",
            (
                "torch.nn.functional.embedding in place of x[index] for rows of a matrix",
                "gather or index_select with few repeated indices; a sum in two steps (within "
                "groups, then over them) where they repeat",
            ),
        )
        return removable(self, costliest(case, _gradients), SCATTER_SHARE, words)


def _gradients(view: DeviceView) -> Mask:
    work = view.work
    if work is None:
        return np.zeros(0, dtype=np.bool_)
    mask: Mask = launched_in(view, NODES, Kind.CPU_OP) & (work.klass == int(WorkClass.COMPUTE))
    mask |= kernels_where(view, lambda k: bool(KERNELS.search(k.name)))
    return mask


CAUSE = IndexScatterBackward()
