"""From a device's counted windows down to the least time that its known work needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger.flops.on_device import DeviceFlops
from laptime.ledger.ledger import DeviceLedger, Ledger

COMPUTE = "compute"
OTHER_KERNELS = "other_kernels"
BELOW_PEAK = "below_peak"
AT_PEAK = "at_peak"


@dataclass(frozen=True)
class Step:
    """One step: ``ns`` go at it, ``left_ns`` are left behind it; both summed over all counted
    windows. ``id`` is an account's, or one of this module's."""

    id: str
    title: str
    ns: int
    left_ns: int


@dataclass(frozen=True)
class Waterfall:
    """Steps whose ``ns`` and the last ``left_ns`` sum to ``window_ns``. ``useful``: whether
    the last steps divide compute time; ``why_not`` says why they do not."""

    device: str
    laps: int
    window_ns: int
    steps: Sequence[Step]
    useful: bool
    why_not: str


def waterfall(ledger: Ledger, device: DeviceLedger, flops: DeviceFlops | None) -> Waterfall | None:
    """Of an accelerator; None for threads and where no time is counted. Over the counted windows,
    of which FLOPs may be known of the first only: then over those.

    Idle accounts first, the largest first, then busy ones without computation; then, where FLOPs
    and peaks are known, kernels without known FLOPs, and what kernels with known FLOPs take
    beyond their work at peak.
    """
    counted = ledger.counted(device)
    if flops is not None and flops.laps < flops.of_laps:
        counted = np.zeros(len(device.windows), dtype=np.bool_)
        counted[list(flops.windows)] = True
    whole = sum(w.dur_ns for w, used in zip(device.windows, counted.tolist(), strict=True) if used)
    if device.cpu or whole <= 0:
        return None
    sums = {
        leaf.id: int(ns)
        for leaf, ns in zip(device.leaves, device.ns[counted].sum(axis=0).tolist(), strict=True)
    }
    titles = {a.id: a.title for a in device.tree}
    busy = {"busy", "compute", "compute_with_comm"}
    parents = {a.id: a.parent for a in device.tree}

    def idle(account: str) -> bool:
        above: str | None = account
        while above is not None and above != "idle":
            above = parents.get(above)
        return above == "idle"

    order = sorted(
        (i for i, ns in sums.items() if ns and i not in busy),
        key=lambda i: (not idle(i), -sums[i], i),
    )
    steps: list[Step] = []
    left = whole
    for account in order:
        left -= sums[account]
        steps.append(Step(account, titles.get(account, account), sums[account], left))
    if flops is None or flops.at_peak_ns is None:
        why = flops.why_not if flops else "the device has no counted computation"
        return Waterfall(device.device, int(counted.sum()), whole, steps, False, why)
    counted_busy = round(flops.counted_busy_ns * flops.laps)
    at_peak = min(round(flops.at_peak_ns * flops.laps), counted_busy)
    for id_, title, ns in (
        (OTHER_KERNELS, "Kernels without known FLOPs", left - counted_busy),
        (BELOW_PEAK, "Known work, beyond its time at peak", counted_busy - at_peak),
    ):
        left -= ns
        steps.append(Step(id_, title, ns, left))
    return Waterfall(device.device, int(counted.sum()), whole, steps, True, "")
