"""Documented tables of an explanation: laps, ledger, accounts, findings, and what stands behind.

All tables of a run (``laptime.model.run_tables``) are tables of its explanation too. Times follow
the same origin. Ids of laps are those of the timeline: join on (timeline, lap).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from laptime.model.errors import UsageError
from laptime.model.run_tables import BUILDERS, RANK, START, TIMELINE, run_table, shift_ns
from laptime.model.table import Column, Layout, Table

if TYPE_CHECKING:
    from laptime.explanation import Explanation

_DEVICE = Column("device", "text", "Id of the device; for a CPU-only run the owning thread.")
_LAP = Column("lap", "text", "Id of the lap in its timeline (table laps).")

LAPS = Layout(
    "laps",
    "Host windows: one training step or engine iteration each.",
    (
        TIMELINE,
        _LAP,
        RANK,
        Column("label", "text", "Name of its mark."),
        START,
        Column("dur_ns", "int", "Length of the host window."),
        Column("steady", "bool", "Whether statistics use it."),
        Column("why_not", "text", "Why it is not steady.", True),
        Column("source", "text", "mark, repetition or window: how laps were found."),
        Column("confidence", "float", "Of the laps, 0 to 1."),
    ),
)
DEVICE_LAPS = Layout(
    "device_laps",
    "The window of a lap on a device: from its first own work to the next lap's.",
    (
        TIMELINE,
        _DEVICE,
        _LAP,
        START,
        Column("dur_ns", "int", "Length of the window."),
        Column("open", "bool", "The last window, which ends with its own work."),
        Column("counted", "bool", "Whether statistics use the window."),
    ),
)
LEDGER = Layout(
    "ledger",
    "Time of each device window in each account; the rows of a window sum to its dur_ns exactly.",
    (
        TIMELINE,
        _DEVICE,
        _LAP,
        Column("account", "text", "Id of the account (table accounts)."),
        Column("ns", "int", "Time in it.", unit_given="ns"),
    ),
)
ACCOUNTS = Layout(
    "accounts",
    "Classes of time, as each device's ledger has them.",
    (
        TIMELINE,
        _DEVICE,
        Column("account", "text", "Id."),
        Column("parent", "text", "Account that it is a part of.", True),
        Column("title", "text", "Its name."),
        Column("meaning", "text", "Its definition."),
        Column(
            "merged", "bool", "Holds time of others too, which this evidence cannot tell apart."
        ),
    ),
)
FINDINGS = Layout(
    "findings",
    "Causes found, most costly first.",
    (
        Column("finding", "int", "Place, from 1."),
        Column("id", "text", "Id of the cause."),
        Column("title", "text", "Its name."),
        Column("sentence", "text", "What was found, with its arithmetic."),
        RANK,
        Column("device", "text", "Device.", True),
        Column("share", "float", "Share of steady lap time, 0 to 1.", True),
        Column("bound_ns", "int", "The most it can cost, a mean per counted lap. No gain.", True),
        Column("confidence", "float", "0 to 1."),
        Column("formula", "text", "How the bound was computed."),
        Column("remedies", "text", "Remedies, a JSON list."),
        Column("silenced", "bool", "A finding above it explains the same time: not reported."),
    ),
)
ABSTENTIONS = Layout(
    "abstentions",
    "Causes that could not be judged.",
    (
        Column("id", "text", "Id of the cause."),
        RANK,
        Column("missing", "text", "What the evidence lacks, a JSON list."),
        Column("supply", "text", "What would supply it."),
    ),
)
KERNELS = Layout(
    "kernels",
    "Distinct kernel names of each timeline, over the whole recording, longest first.",
    (
        TIMELINE,
        Column("name", "text", "Name as recorded."),
        Column("library", "text", "Library; unknown where the name does not tell."),
        Column("operation", "text", "Operation; unknown where the name does not tell."),
        Column("dtype", "text", "Data type.", True),
        Column("count", "int", "Calls with a duration."),
        Column("ns", "int", "Their summed duration.", unit_given="ns"),
    ),
)


def _laps(e: Explanation) -> list[tuple[Any, ...]]:
    return [
        (
            v.timeline.id,
            lap.id,
            v.timeline.rank,
            lap.label,
            int(lap.start_ns) + shift_ns(e.run, v.timeline),
            int(lap.dur_ns),
            bool(lap.steady),
            lap.why_not,
            v.ledger.laps.source,
            float(v.ledger.laps.confidence),
        )
        for v in e.views
        for lap in v.ledger.laps.laps
    ]


def _device_laps(e: Explanation) -> list[tuple[Any, ...]]:
    return [
        (
            v.timeline.id,
            device.device,
            w.lap,
            int(w.start_ns) + shift_ns(e.run, v.timeline),
            int(w.dur_ns),
            bool(w.open),
            bool(counted),
        )
        for v in e.views
        for device in v.ledger.devices
        for w, counted in zip(device.windows, v.ledger.counted(device), strict=True)
    ]


def _ledger(e: Explanation) -> list[tuple[Any, ...]]:
    return [
        (v.timeline.id, device.device, w.lap, leaf.id, ns)
        for v in e.views
        for device in v.ledger.devices
        for w, line in zip(device.windows, device.ns.tolist(), strict=True)
        for leaf, ns in zip(device.leaves, line, strict=True)
        if ns
    ]


def _accounts(e: Explanation) -> list[tuple[Any, ...]]:
    return [
        (v.timeline.id, d.device, a.id, a.parent, a.title, a.meaning, bool(d.merged.get(a.id)))
        for v in e.views
        for d in v.ledger.devices
        for a in d.tree
    ]


def _findings(e: Explanation) -> list[tuple[Any, ...]]:
    said = e.judgement
    found = [(f, False) for f in said.findings] + [(f, True) for f in said.silenced]
    return [
        (
            place,
            f.id,
            f.title,
            f.sentence,
            f.rank,
            f.device,
            f.share,
            None if f.bound_ns is None else round(f.bound_ns),
            f.confidence,
            f.formula,
            json.dumps(list(f.remedies)),
            quiet,
        )
        for place, (f, quiet) in enumerate(found, 1)
    ]


def _abstentions(e: Explanation) -> list[tuple[Any, ...]]:
    return [(a.id, a.rank, json.dumps(list(a.missing)), a.supply) for a in e.judgement.abstentions]


def _kernels(e: Explanation) -> list[tuple[Any, ...]]:
    return [
        (
            v.timeline.id,
            k.decoded.name,
            k.decoded.library,
            k.decoded.operation,
            k.decoded.dtype,
            int(k.count),
            int(k.ns),
        )
        for v in e.views
        for k in v.kernels
    ]


EXPLAINED: Mapping[str, tuple[Layout, Callable[[Explanation], list[tuple[Any, ...]]]]] = {
    "laps": (LAPS, _laps),
    "device_laps": (DEVICE_LAPS, _device_laps),
    "ledger": (LEDGER, _ledger),
    "accounts": (ACCOUNTS, _accounts),
    "findings": (FINDINGS, _findings),
    "abstentions": (ABSTENTIONS, _abstentions),
    "kernels": (KERNELS, _kernels),
}
"""Tables that need the explanation, by name."""

LAYOUTS: Mapping[str, Layout] = {
    **{name: layout for name, (layout, _) in EXPLAINED.items()},
    **{name: layout for name, (layout, _) in BUILDERS.items()},
}
"""Every documented table."""


def explained_table(explanation: Explanation, name: str) -> Table:
    """A table of the explanation, or of its run, by name.

    Raises ``UsageError`` for a name that no table has.
    """
    if name not in LAYOUTS:
        raise UsageError(f"no table {name!r}; tables: {', '.join(LAYOUTS)}")
    if name in BUILDERS:
        return run_table(explanation.run, name)
    layout, rows = EXPLAINED[name]
    return Table.from_rows(layout.columns, rows(explanation))
