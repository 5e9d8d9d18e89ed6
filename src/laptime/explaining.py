"""From a run to its explanation: ledger, causes, verdict, timeline by timeline."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from laptime.causes.case import Case
from laptime.causes.needs import needs_met
from laptime.causes.registry import judge
from laptime.causes.verdict import verdict
from laptime.explanation import Explanation, KernelTotal, View
from laptime.kernels.names import KernelName
from laptime.ledger.build import build_ledger
from laptime.ledger.by_lap import LapSpread, lap_spread
from laptime.ledger.by_region import RegionTable, region_table
from laptime.ledger.device_work import kernel_names
from laptime.ledger.ledger import Ledger
from laptime.ledger.work import Work
from laptime.model.rows import Kind
from laptime.model.run import Run, Timeline


def explanation_of(run: Run, laps: str | None = None) -> Explanation:
    """Explain a run. ``laps`` names the marks to take as laps.

    Each timeline is explained by itself: nothing is claimed across ranks. Raises ``UsageError``
    where no timeline has marks of that name.
    """
    views: list[View] = []
    cases: list[Case] = []
    for timeline in run.timelines:
        names = kernel_names(timeline.rows)
        ledger, work = build_ledger(timeline, names, laps)
        views.append(_view(timeline, ledger, work, names))
        has = needs_met(timeline, work, ledger)
        cases.append(Case(run, timeline, ledger, work, names, has))
    judgement = judge(run, cases)
    return Explanation(run, views, judgement, verdict(judgement, cases))


def _view(
    timeline: Timeline, ledger: Ledger, work: Mapping[str, Work], names: Mapping[int, KernelName]
) -> View:
    """One timeline with the further views of its ledger, where the evidence allows them."""
    spreads: dict[str, LapSpread] = {}
    regions: dict[str, RegionTable] = {}
    for device in ledger.devices:
        spread = lap_spread(timeline.rows, ledger, device, work.get(device.device))
        if spread is not None:
            spreads[device.device] = spread
        table = region_table(timeline, ledger, device, work.get(device.device))
        if table is not None:
            regions[device.device] = table
    return View(timeline, work, ledger, _kernels(timeline, names), spreads, regions)


def _kernels(timeline: Timeline, names: Mapping[int, KernelName]) -> list[KernelTotal]:
    """Totals of each distinct kernel name, longest first, ties by name."""
    rows = timeline.rows
    kernels = rows.of_kind(Kind.KERNEL)
    kernels = kernels[rows.dur_ns[kernels] >= 0]
    name = rows.name[kernels]
    count = np.bincount(name, minlength=len(rows.names))
    order = np.argsort(name, kind="stable")
    length = np.maximum(rows.dur_ns[kernels], 0)[order]
    distinct, first = np.unique(name[order], return_index=True)
    if len(length) and int(length.max()) > np.iinfo(np.int64).max // len(length):
        length = length.astype(object)  # absurd durations: their sums need more than 64 bits
    sums = np.add.reduceat(length, first) if len(first) else length
    totals = [
        KernelTotal(names[i], int(count[i]), ns)
        for i, ns in zip(distinct.tolist(), sums.tolist(), strict=True)
    ]
    return sorted(totals, key=lambda t: (-t.ns, t.decoded.name))
