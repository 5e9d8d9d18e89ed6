"""From a run to its explanation: ledger, causes, verdict, timeline by timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from laptime.causes.case import Case
from laptime.causes.needs import needs_met
from laptime.causes.registry import judge
from laptime.causes.verdict import verdict
from laptime.explanation import Explanation, KernelTotal, View
from laptime.kernels.names import KernelName
from laptime.ledger.build import build_ledger
from laptime.ledger.by_function import function_tables
from laptime.ledger.by_lap import LapSpread, lap_spread
from laptime.ledger.by_region import RegionTable, region_table
from laptime.ledger.device_work import kernel_names
from laptime.ledger.flops.on_device import device_flops
from laptime.ledger.flops.waterfall import Waterfall, waterfall
from laptime.ledger.ledger import Ledger
from laptime.ledger.loaders import MARKS, Loaders
from laptime.ledger.near import near
from laptime.ledger.overhead import overhead_of
from laptime.ledger.work import Work
from laptime.model.errors import UsageError
from laptime.model.rows import Kind
from laptime.model.run import Run, Timeline


def explanation_of(run: Run, laps: str | None = None, loader: Sequence[str] = ()) -> Explanation:
    """Explain a run. ``laps`` names the marks to take as laps, ``loader`` marks or Python functions
    that load input (see ``ledger.loaders``), beside the recognised ones.

    Each timeline is explained by itself: nothing is claimed across ranks. Raises ``UsageError``
    where no timeline has marks of that name.
    """
    loaders = _loaders(run, loader)
    views: list[View] = []
    cases: list[Case] = []
    for timeline in run.timelines:
        names = kernel_names(timeline.rows)
        ledger, work = build_ledger(timeline, names, laps, loaders=loaders)
        views.append(_view(timeline, ledger, work, names))
        has = needs_met(timeline, work, ledger)
        cases.append(Case(run, timeline, ledger, work, names, has))
    judgement = judge(run, cases)
    return Explanation(run, views, judgement, verdict(judgement, cases))


def _loaders(run: Run, own: Sequence[str]) -> Loaders:
    """The user's names of loading; each must occur in some timeline."""
    kinds = (*MARKS, Kind.PYTHON)
    for one in own:
        held = [
            (kind, timeline.rows.names[i])
            for timeline in run.timelines
            for kind in kinds
            for i in timeline.rows.names_used(kind)
        ]
        if any(Loaders.names(one, name, kind) for kind, name in held):
            continue
        found = near(one, (n for kind, n in held if kind is not Kind.CPU_OP))
        names = f"near it: {', '.join(n[:100] for n in found)}" if found else "none is near it"
        raise UsageError(
            f"{', '.join(run.sources)}: no mark and no Python function is named {one[:80]!r}; "
            f"{names}"
        )
    return Loaders(tuple(own))


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
    functions = function_tables(timeline, ledger, work)
    totals, cost = _kernels(timeline, names), overhead_of(timeline, ledger)
    flops = device_flops(timeline, ledger, work, names)
    falls: dict[str, Waterfall] = {}
    for device in ledger.devices:
        fall = waterfall(ledger, device, flops.get(device.device))
        if fall is not None:
            falls[device.device] = fall
    return View(timeline, work, ledger, totals, spreads, regions, functions, cost, flops, falls)


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
