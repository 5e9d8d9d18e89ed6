"""The typed results of the server's tools.

Times are integer nanoseconds; ``None`` is "not measured". ``left_out`` counts the items of each
list that the answer does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class AccountTime:
    """One account of a device: mean time per counted lap, and its share of that lap."""

    account: str
    title: str
    mean_ns: int
    share: float | None
    merged_with: list[str] = field(default_factory=list)
    """Accounts whose time it may hold too, which this evidence cannot tell apart."""


@dataclass(frozen=True)
class DeviceTime:
    """One device (of a CPU-only run: the thread that owns the laps) and where its time went."""

    device: str
    name: str | None
    rank: int | None
    cpu: bool
    windows: int
    counted_windows: int
    mean_window_ns: int
    accounts: list[AccountTime]
    notes: list[str]


@dataclass(frozen=True)
class TimelineLaps:
    """One process: its laps and how they were found."""

    timeline: str
    rank: int | None
    laps: int
    steady: int
    source: str
    confidence: float
    median_ns: int | None
    """Median length of the steady laps' host windows (the upper of two middle ones)."""


@dataclass(frozen=True)
class Found:
    """A cause found. ``bound_ns`` is the most it can cost per steady lap: a bound, not a gain."""

    id: str
    title: str
    sentence: str
    share: float | None
    bound_ns: int | None
    rank: int | None
    device: str | None
    confidence: float
    next_step: list[str]


@dataclass(frozen=True)
class NotJudged:
    """A cause that could not be judged, what is missing, and what would supply it."""

    id: str
    rank: int | None
    missing: list[str]
    supply: str


@dataclass(frozen=True)
class RuledOut:
    """A cause that was looked for and is not there, with the figure that shows it."""

    id: str
    rank: int | None
    why: str


@dataclass(frozen=True)
class RunAnswer:
    """What a path holds."""

    sources: list[str]
    timelines: list[TimelineLaps]
    devices: list[str]
    items: int
    items_lost: int
    warnings: list[str]
    left_out: dict[str, int]


@dataclass(frozen=True)
class ExplainAnswer:
    """Where the time of each lap went, and why. ``verdict`` is one sentence."""

    verdict: str
    laps: list[TimelineLaps]
    devices: list[DeviceTime]
    findings: list[Found]
    ruled_out: list[RuledOut]
    not_judged: list[NotJudged]
    warnings: list[str]
    left_out: dict[str, int]


@dataclass(frozen=True)
class Event:
    """An event behind a finding; ``start_ns`` is after ``origin_ns`` of its answer."""

    name: str
    lane: str
    start_ns: int
    dur_ns: int


@dataclass(frozen=True)
class Reason:
    """What was said of one cause on one timeline: found, silenced, ruled out or not judged."""

    outcome: str
    rank: int | None
    device: str | None
    text: str
    formula: str | None
    bound_ns: int | None
    why: list[str]
    next_step: list[str]
    events: list[Event]
    events_in_all: int | None


@dataclass(frozen=True)
class WhyAnswer:
    """The formula and the events behind one cause."""

    id: str
    origin_ns: str
    said: list[Reason]
    left_out: dict[str, int]


@dataclass(frozen=True)
class CauseAnswer:
    """A cause of the catalogue; ``page`` only where one was asked for."""

    id: str
    title: str
    layer: str
    needs: list[str]
    silences: list[str]
    page: str | None


@dataclass(frozen=True)
class CausesAnswer:
    """The catalogue of causes."""

    causes: list[CauseAnswer]


@dataclass(frozen=True)
class TableColumn:
    """A column of a table or of an answer."""

    name: str
    type: str
    meaning: str = ""


@dataclass(frozen=True)
class TableLayout:
    """A documented table of a run."""

    table: str
    meaning: str
    columns: list[TableColumn]


@dataclass(frozen=True)
class TablesAnswer:
    """The tables that ``sql`` knows."""

    tables: list[TableLayout]


@dataclass(frozen=True)
class SqlAnswer:
    """Rows of a query. ``more`` says that there are rows beyond those given."""

    columns: list[TableColumn]
    rows: list[list[Any]]
    more: bool
    notes: list[str]
