"""Cause: kernels with fewer blocks than the device has multiprocessors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Need, Outcome
from laptime.causes.grid_cost import Weighed, answer, no_grids, weighed
from laptime.causes.kernel_grids import grids, part_lost
from laptime.causes.limits import SMALL_GRID_SHARE
from laptime.causes.view import DeviceView, gpu_views


class SmallGrids:
    """Kernels that leave most of the device without work.

    What it is
        A kernel runs in blocks, each on one multiprocessor. With fewer blocks than
        multiprocessors, the others have nothing to do while it runs alone.

    How it shows
        The recorded grid has fewer blocks than the device's recorded number of multiprocessors
        (``numSms``), in kernels of at least 10 us, while no other kernel runs.

    Why it costs
        A tenth of the blocks takes a tenth of the device, for as long as the slowest block takes.

    How the gain is predicted
        Bound: for each such kernel its time alone times the part of the multiprocessors without a
        block, 1 - blocks / numSms: the same work spread evenly over all of them; never more than
        the host waits for the device.

    What is not flagged
        Kernels below 10 us, whose time is mostly starting and ending; time beside other kernels;
        less than 3 % of the lap. Kernels of graphs, whose grids are not always recorded. Of a long
        recording only the first laps are looked at, with 4,096 such kernels together.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: such kernels lose 0.5 %.
        - ``kineto/tracelens/h100/Falconsai``: they lose 2.4 %, in a lap that its host paces.
    """

    id = "small-grids"
    title = "Kernels too small for the device"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.DEVICE_PROPERTIES)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that loses most."""
        views = gpu_views(case)
        if not views:
            return Clear(self.id, "no device time", case.timeline.rank)
        found = [one for view in views if (one := _weighed(view)) is not None]
        if not found:
            return no_grids(self, case)
        one = max(found, key=lambda w: w.could_ns / w.cost.view.lap_ns)
        few = [int(b) for b in one.grids.blocks[np.isin(one.grids.at, one.cost.at)]]
        return answer(
            self,
            one,
            SMALL_GRID_SHARE,
            "kernels with fewer blocks than multiprocessors",
            f"(1 - blocks / {one.grids.units})",
            (_blocks(few) + f" on {wording.counted(one.grids.units, 'multiprocessor')}",)
            if few
            else (),
            (
                "larger batches, or several small problems in one kernel (grouped or batched "
                "products, split-K)",
                "independent kernels on several streams, so that they run side by side",
                f"{wording.counted(one.grids.units, 'multiprocessor')} want as many blocks at "
                "least, better a few times as many",
            ),
        )


def _blocks(few: Sequence[int]) -> str:
    """The numbers of blocks, in words."""
    if min(few) == max(few):
        return wording.counted(few[0], "block")
    return f"{min(few)} to {max(few)} blocks (median {wording.count(float(np.median(few)))})"


def _weighed(view: DeviceView) -> Weighed | None:
    found = grids(view)
    if found is None:
        return None
    small = np.flatnonzero(found.blocks < found.units)
    blocks = found.blocks[small]
    lost = part_lost(found.alone_ns[small], found.units - blocks, np.full_like(blocks, found.units))
    return weighed(found, small, lost)


CAUSE = SmallGrids()
