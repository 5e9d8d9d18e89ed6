"""Cause: the storage format of sparse tensors is built again in each lap."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.host_cost import HostCost, host_cost
from laptime.causes.kernel_cost import KernelCost, cost_of
from laptime.causes.launch_sites import code_lines, inside
from laptime.causes.limits import FORMATS_SHARE
from laptime.causes.per_tensor import STEP
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.model.rows import Ints, Kind

OPERATORS = re.compile(
    r"^aten::(_?coalesce|_?to_sparse(_cs[rc]|_bs[rc])?|_convert_indices_from_(coo_to_csr|csr_to_coo)"
    r"|sparse_resize_and_clear_)$"
    r"|^torch_sparse::(ind2ptr|ptr2ind|non_diag_mask)$"
)
FRAMES = re.compile(
    r"torch_sparse/(coalesce|transpose|storage)\.py\(\d+\): "
    r"(coalesce|transpose|t|rowptr|colptr|csr2csc|csc2csr|__init__)$"
)


class FormatsRebuilt:
    """Sparse formats built in each lap.

    What it is
        Sparse tensors are coalesced, transposed or turned into another format (COO, CSR, CSC)
        every time they are used, though their pattern is the same from lap to lap.

    How it shows
        Operators ``aten::coalesce``, ``aten::to_sparse...``, ``aten::_convert_indices_from_...`` or
        those of ``torch_sparse`` (its frames, where stacks were recorded), as many as laps and
        more, and the kernels launched in them.

    Why it costs
        Each sorts and scans the indices, and many wait for the number of elements.

    How the gain is predicted
        Bound: the counted time in which only these kernels run, and the host's time in these
        operators outside blocking calls, at most the device's idle time.

    What is not flagged
        Sparse gradients inside an optimizer's step, which are new each time; less than 2 % of the
        lap. A graph that really changes from lap to lap looks the same, and needs it.

    Must not flag
        - ``kineto/param-dlrm-8ranks/worker0_``: its sparse features are lists, in no such format.
        - ``kineto/hta/negative_queue_length_values_check``: the same.
    """

    id = "formats-rebuilt"
    title = "Sparse formats are built in each lap"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that it costs most."""
        rank = case.timeline.rank
        looked = [_looked(view) for view in gpu_views(case) if view.work is not None]
        if not looked:
            return Clear(self.id, "no device time", rank)
        cost, host, where = max(looked, key=lambda one: one[0].ns + one[1].bound_ns)
        view = cost.view
        number = view.number(where)
        if number < view.laps or number == 0:
            return Clear(
                self.id,
                f"{wording.counted(number, 'conversion')} of sparse formats {view.in_all}",
                rank,
            )
        bound = cost.ns + host.bound_ns
        share = bound / view.lap_ns
        if share < FORMATS_SHARE.value:
            return Clear(
                self.id,
                "conversions of sparse formats could cost "
                f"{wording.below(share, FORMATS_SHARE.value, 'of the lap')}",
                rank,
            )
        each = wording.counted(number / view.laps, "conversion")
        events = cost.rows if len(cost.at) else where
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{each}{view.per_lap} of sparse formats: the device takes {wording.time(cost.ns)} "
                f"for their kernels alone and the host {wording.time(host.inside_ns)} in them; at "
                f"most {view.of_lap(bound)} ({wording.percent(share)}) could go, if the pattern is "
                "always the same."
            ),
            share=share,
            bound_ns=bound,
            formula=f"device: {wording.time(cost.ns)} of only these kernels; {host.formula}",
            device=view.device,
            rank=rank,
            events=view.events(events),
            events_in_all=view.number(events),
            why=(*cost.by_name(), *(f"from {line}" for line in code_lines(cost))),
            next_step=(
                "build the format once (torch.sparse_csr_tensor, a cached transpose) and keep it "
                "outside the lap",
            ),
        )


def _looked(view: DeviceView) -> tuple[KernelCost, HostCost, Ints]:
    rows = view.case.timeline.rows
    found = np.concatenate((rows.like(OPERATORS, Kind.CPU_OP), rows.like(FRAMES, Kind.PYTHON)))
    own = rows.like(STEP, Kind.ANNOTATION)
    for lane in np.unique(rows.lane[own]).tolist():
        here = own[rows.lane[own] == lane]
        steps = intervals.union(rows.start_ns[here], rows.end_ns(here))
        inner = (rows.lane[found] == lane) & intervals.contains(steps, rows.start_ns[found])
        found = found[~inner]
    outer = _outermost(view, found)
    return cost_of(view, inside(view, outer)), host_cost(view, outer), outer


def _outermost(view: DeviceView, found: Ints) -> Ints:
    """Those of the rows that lie in no other of them: a conversion is counted once."""
    rows = view.case.timeline.rows
    kept = [np.zeros(0, dtype=np.int64)]
    for lane in np.unique(rows.lane[found]).tolist():
        here = found[rows.lane[found] == lane]
        here = here[np.lexsort((-rows.dur_ns[here], rows.start_ns[here]))]
        reach = np.maximum.accumulate(rows.end_ns(here))
        kept.append(here[np.append(True, rows.start_ns[here][1:] >= reach[:-1])])
    return np.concatenate(kept)


CAUSE = FormatsRebuilt()
