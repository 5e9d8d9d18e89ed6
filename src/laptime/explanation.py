"""The answer to "where did the time go, and why": a value that every output renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laptime.causes.case import Judgement
from laptime.kernels.names import KernelName
from laptime.ledger.by_function import FunctionTable
from laptime.ledger.by_lap import LapSpread
from laptime.ledger.by_region import RegionTable
from laptime.ledger.flops.on_device import DeviceFlops
from laptime.ledger.flops.waterfall import Waterfall
from laptime.ledger.ledger import Ledger
from laptime.ledger.overhead import Overhead
from laptime.ledger.work import Work
from laptime.model.run import Run, Timeline
from laptime.model.table import Table
from laptime.tables import explained_table


@dataclass(frozen=True)
class KernelTotal:
    """One distinct kernel name of a timeline: calls and summed duration."""

    decoded: KernelName
    count: int
    ns: int


@dataclass(frozen=True)
class View:
    """One timeline with its laps, device work, ledger and kernels.

    ``spreads``, ``regions`` and ``functions`` are further views of the same laps, by
    ``DeviceLedger.device``; a device without an entry has too few laps, no regions, no stacks.
    """

    timeline: Timeline
    work: Mapping[str, Work]
    ledger: Ledger
    kernels: Sequence[KernelTotal]
    spreads: Mapping[str, LapSpread] = field(default_factory=dict)
    regions: Mapping[str, RegionTable] = field(default_factory=dict)
    functions: Mapping[str, FunctionTable] = field(default_factory=dict)
    overhead: Overhead | None = None
    """What recording cost, where `laptime run` counted laps without the profiler too."""
    flops: Mapping[str, DeviceFlops] = field(default_factory=dict)
    """Of accelerators: what is known of the FLOPs behind their compute time."""
    waterfalls: Mapping[str, Waterfall] = field(default_factory=dict)

    def __repr__(self) -> str:
        """The timeline and its devices."""
        devices = [d.device for d in self.ledger.devices]
        return f"View(timeline={self.timeline.id!r}, devices={devices})"


@dataclass(frozen=True)
class Explanation:
    """A run explained. ``verdict`` is one sentence with its arithmetic."""

    run: Run
    views: Sequence[View]
    judgement: Judgement
    verdict: str

    def table(self, name: str) -> Table:
        """A documented table by name: ``laps``, ``ledger``, ``findings``, ``rows``, ...

        Raises ``UsageError`` for a name that no table has.
        """
        return explained_table(self, name)

    def html(self, rank: int | None = None) -> str:
        """The report as one self-contained page; ``rank`` limits it to one."""
        from laptime.report.html import page

        return page(self, rank=rank)

    def markdown(self, rank: int | None = None) -> str:
        """The report for a ticket or a pull request; ``rank`` limits it to one."""
        from laptime.report.markdown import text

        return text(self, rank=rank)

    def json(self, rank: int | None = None) -> dict[str, Any]:
        """The object of the JSON contract, ``laptime.explain/1``; ``rank`` limits it to one."""
        from laptime.report.as_json import explain_object

        return explain_object(self, rank)

    def _repr_html_(self) -> str:
        """What a notebook shows: verdict, ledgers and causes, in a few kilobytes."""
        from laptime.report.notebook import fragment

        return fragment(self)

    def __repr__(self) -> str:
        """The verdict, and the ids of what was found."""
        found = [f.id for f in self.judgement.findings]
        return f"Explanation({self.verdict!r}, findings={found}, timelines={len(self.views)})"
