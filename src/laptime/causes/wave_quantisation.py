"""Cause: products whose last wave of blocks leaves most of the device without work."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes.case import Case, Clear, Need, Outcome
from laptime.causes.grid_cost import Weighed, answer, no_grids, weighed
from laptime.causes.kernel_cost import kernels_where
from laptime.causes.kernel_grids import grids, part_lost
from laptime.causes.limits import WAVE_SHARE
from laptime.causes.view import DeviceView, gpu_views
from laptime.kernels.names import KernelName

BALANCED = re.compile(r"stream_?k|persistent|_skA?_", re.IGNORECASE)
"""Kernels that share out the work themselves, whatever the grid."""


class WaveQuantisation:
    """Products that end in a nearly empty wave.

    What it is
        The blocks of a kernel run in waves of as many as fit the device at once. Tiles of a product
        take equally long, so that one block more than fits costs a whole wave more.

    How it shows
        NVIDIA devices: products and convolutions of at least 10 us whose grid is more than one wave
        and not a whole number of them. How many blocks fit follows from the recorded threads,
        registers and shared memory of the kernel and those of the device.

    Why it costs
        In the last wave most multiprocessors are done and wait for the others.

    How the gain is predicted
        Bound: for each such kernel its time alone times 1 - waves / ceil(waves), as if the last
        wave were full; never more than the host waits for the device. Blocks that drift apart fill
        the tail in part, which a bound may ignore.

    What is not flagged
        Kernels of one wave or less (persistent ones among them) and stream-K kernels, which share
        out the work; other kernels than products, whose blocks are short; AMD devices, whose
        recorders do not give what fits; less than 3 % of the lap. Of a long recording only the
        first laps are looked at, with 4,096 such kernels together.

    Must not flag
        - ``kineto/tracelens/h100/gaunernst_bert-small``: no product of 10 us.
        - ``kineto/param-dlrm-8ranks/worker0_``: products of 8 us.
    """

    id = "wave-quantisation"
    title = "Products end in a nearly empty wave"
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
        return answer(
            self,
            one,
            WAVE_SHARE,
            "products whose last wave of blocks is not full",
            "(1 - waves / ceil(waves)), with waves = blocks / (multiprocessors x blocks that fit)",
            _waves(one),
            (
                "a batch or a width for which the tiles fill whole waves",
                "torch.compile(mode='max-autotune'), which also tries other tiles and split-K",
            ),
        )


def _weighed(view: DeviceView) -> Weighed | None:
    """None too where a device has products and the evidence does not tell how many blocks fit."""
    found = grids(view)
    if found is None:
        return None
    product = kernels_where(view, _product)[found.at]
    if product.any() and not (found.resident[product] > 0).any():
        return None
    wave = found.units * found.resident
    chosen = np.flatnonzero(product & (found.resident > 0) & (found.blocks > wave))
    blocks, wave = found.blocks[chosen], wave[chosen]
    whole = -(-blocks // wave) * wave
    lost = part_lost(found.alone_ns[chosen], whole - blocks, whole)
    kept = lost > 0
    return weighed(found, chosen[kept], lost[kept])


def _waves(one: Weighed) -> tuple[str, ...]:
    """Waves of the kernel that loses most."""
    if len(one.cost.at) == 0:
        return ()
    most = int(one.cost.at[int(np.argmax(one.lost_ns))])
    place = int(np.searchsorted(one.grids.at, most))
    blocks, resident = int(one.grids.blocks[place]), int(one.grids.resident[place])
    waves = blocks / (one.grids.units * resident)
    return (
        f"the one that loses most: {blocks} blocks / ({one.grids.units} x {resident}) = "
        f"{waves:.2f} waves",
    )


def _product(kernel: KernelName) -> bool:
    product = kernel.operation == "gemm" or kernel.operation.startswith("conv")
    return product and not BALANCED.search(kernel.name)


CAUSE = WaveQuantisation()
