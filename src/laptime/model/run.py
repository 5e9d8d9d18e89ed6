"""A run: everything known of one job, as timelines of processes and the devices they used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from laptime.model.counters import Captured, CaptureFacts
from laptime.model.health import Health
from laptime.model.rows import Rows

if TYPE_CHECKING:
    from laptime.explanation import Explanation
    from laptime.model.table import Table


@dataclass(frozen=True)
class Lane:
    """A row that events happen on: a CPU thread (``device`` is None) or a GPU stream.

    ``pid`` and ``tid`` are as the evidence has them (numbers, or texts such as "Spans").
    """

    pid: int | str | None
    tid: int | str | None
    name: str | None = None
    device: str | None = None
    stream: int | None = None


@dataclass(frozen=True)
class Device:
    """One accelerator. ``id`` is unique in the run; ``ordinal`` is the evidence's own number.

    ``properties`` are the driver's attributes as recorded; nothing is filled in from tables.
    ``pid`` is the process whose part of it this is, where several of one file use it; else None.
    """

    id: str
    ordinal: int
    name: str | None = None
    uuid: str | None = None
    host: str | None = None
    rank: int | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)
    pid: int | str | None = None


@dataclass
class Timeline:
    """One process's events.

    Row times are nanoseconds after ``origin_ns`` (epoch nanoseconds where the evidence's clock
    is the epoch; else that clock's own zero, and ``epoch`` is False).
    """

    id: str
    source: str
    rows: Rows
    lanes: Sequence[Lane]
    devices: Sequence[Device]
    origin_ns: int
    epoch: bool = True
    pid: int | str | None = None
    rank: int | None = None
    world_size: int | None = None
    host: str | None = None
    vendor: str | None = None
    """"nvidia", "amd", "intel", ... as far as the rows tell; None where they do not."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Header entries of the evidence that later parts use (versions, flags, distributed info)."""

    def __repr__(self) -> str:
        """Whose events these are, and how many; never the events."""
        devices = [d.id for d in self.devices]
        source = "" if self.source == self.id else f"source={self.source!r}, "
        return (
            f"Timeline({self.id!r}, {source}rank={self.rank}, "
            f"rows={len(self.rows)}, lanes={len(self.lanes)}, devices={devices})"
        )

    capture: Captured | None = None
    """What `laptime run` counted beside the trace; None where the trace came alone."""


@dataclass
class Part:
    """What one reader got from one source."""

    source: str
    format: str
    timelines: Sequence[Timeline]
    health: Health
    capture: CaptureFacts | None = None
    captures: Sequence[CaptureFacts] = ()
    """Those of a saved run, which may hold several."""


@dataclass
class Run:
    """Everything known of one job."""

    timelines: Sequence[Timeline]
    health: Health
    sources: Sequence[str]
    captures: Sequence[CaptureFacts] = ()
    """Captures that the evidence came from, one for each folder of `laptime run`."""

    @property
    def devices(self) -> list[Device]:
        """Every device of the run, in order of timeline and ordinal."""
        return [d for t in self.timelines for d in t.devices]

    def explain(self, laps: str | None = None, loader: str | Sequence[str] = ()) -> Explanation:
        """Account for every nanosecond of each lap, and name what costs it: ``laptime.explain``."""
        from laptime.explaining import explanation_of

        return explanation_of(self, laps, (loader,) if isinstance(loader, str) else loader)

    def table(self, name: str) -> Table:
        """A documented table by name: ``rows``, ``timelines``, ``lanes``, ``devices``, ...

        Tables that need the ledger or the causes are those of ``Explanation.table``. Raises
        ``UsageError`` for a name that no table has.
        """
        from laptime.model.run_tables import run_table

        return run_table(self, name)

    def __repr__(self) -> str:
        """Where it was read from, and how much it holds."""
        shown = ", ".join(repr(s) for s in self.sources[:3])
        more = f", and {len(self.sources) - 3} more" if len(self.sources) > 3 else ""
        return (
            f"Run([{shown}{more}], timelines={len(self.timelines)}, devices={len(self.devices)}, "
            f"items={self.health.items}, lost={self.health.lost})"
        )
