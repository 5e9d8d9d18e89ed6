"""What stands behind one cause: the formula and events of its findings, or why it has none."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from laptime.causes.case import Finding, Judgement
from laptime.causes.limits import MEAN_OVER_MEDIAN
from laptime.causes.needs import lacking
from laptime.explanation import Explanation, View
from laptime.model.errors import UsageError
from laptime.report import shown
from laptime.report.clock import Clock, FileTime, first_event_ns
from laptime.report.layout import trimmed
from laptime.report.numbers import NOT_MEASURED, count, duration, share, visible
from laptime.report.selection import said_of, view_of, views_of

_BESIDE = 80
"""Columns from which lanes and names stand beside their figures, which are never cut."""


def render(explanation: Explanation, to: Console, cause: str, rank: int | None = None) -> None:
    """Print everything said of one cause, of one rank where ``rank`` names it.

    Raises ``UsageError`` for an id that no cause of this run has.
    """
    said = said_of(explanation, views_of(explanation, rank))
    known = {s.id for s in (*said.findings, *said.silenced)}
    known |= {c.id for c in said.clear} | {a.id for a in said.abstentions}
    if cause not in known:
        ids = ", ".join(sorted(known)) or "none was judged"
        raise UsageError(f"--why {visible(cause)}: no such cause in this run; known: {ids}")
    with trimmed(to):
        _print(explanation, to, cause, said)


def _print(explanation: Explanation, to: Console, cause: str, said: Judgement) -> None:
    several = len(explanation.views) > 1
    for finding in said.findings:
        if finding.id == cause:
            _finding(explanation, finding, to, several)
    for finding in said.silenced:
        if finding.id == cause:
            _finding(explanation, finding, to, several)
            _line(to, "silenced", "a finding above it explains the same time")
    for clear in said.clear:
        if clear.id == cause:
            _line(to, f"{cause}{_rank(clear.rank, several)}", f"ruled out: {visible(clear.why)}")
    for abstained in said.abstentions:
        if abstained.id == cause:
            missing = visible(lacking(abstained))
            text = f"{NOT_MEASURED}: missing {missing}; {visible(abstained.supply)}"
            _line(to, f"{cause}{_rank(abstained.rank, several)}", text)


def _rank(rank: int | None, several: bool) -> str:
    return f" (rank {rank})" if several and rank is not None else ""


def _line(to: Console, label: str, text: str) -> None:
    grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"))
    grid.add_row(Text(f"{label}: ", style="dim"), Text(text))
    to.print(grid)


def _finding(explanation: Explanation, finding: Finding, to: Console, several: bool) -> None:
    to.print(
        Text(
            shown.finding_head(finding, several, shown.device_meant(explanation, finding)),
            style="bold",
        )
    )
    to.print(Text(visible(finding.sentence)))
    exactly = f", {count(finding.bound_ns)} ns" if finding.bound_ns is not None else ""
    _line(to, "costs", f"{shown.bound(explanation, finding)}{exactly}")
    _line(to, "share", share(finding.share))
    counted = _counted(explanation, finding)
    if counted:
        _line(to, "lap", counted)
    _line(to, "formula", visible(finding.formula))
    for why in finding.why:
        _line(to, "why", visible(why))
    if not finding.events:
        _line(to, "events", "none are named")
        return
    view = view_of(explanation, finding)
    if view is not None:
        _events(explanation, view, finding, to)


def _counted(explanation: Explanation, finding: Finding) -> str:
    """What the means of the finding's device are over; "" for a finding of no device."""
    view = view_of(explanation, finding)
    found = [d for d in view.ledger.devices if d.device == finding.device] if view else []
    spread = shown.window_spread(view, found[0]) if view and found else None
    if view is None or spread is None:
        return ""
    used = view.ledger.counted(found[0]).tolist()
    lengths = sorted(w.dur_ns for w, its in zip(found[0].windows, used, strict=True) if its)
    whole, median = sum(lengths), lengths[(len(lengths) - 1) // 2]
    phrase = shown.counted_phrase(view.ledger, found[0])
    # As in the sentence: where a few laps make the mean, the median stands beside it.
    few = spread.mean > MEAN_OVER_MEDIAN.value * median
    beside = f"; median {duration(median)}, {count(median)} ns" if few else ""
    return f"{duration(spread.mean)}, {phrase}: {count(whole)} ns in all{beside}"


def _events(explanation: Explanation, view: View, finding: Finding, to: Console) -> None:
    """The events on the clock of the whole run (that of --json), and as their file has them."""
    clock, in_file = Clock(explanation.views), FileTime(view.timeline)
    source = visible(view.timeline.source)
    number, every = count(len(finding.events)), finding.events_in_all
    if every is not None and every != len(finding.events):
        number = f"the {number} longest of {count(every)},"
    _line(to, "events", f"{number} of {source}; start is after {clock.origin_ns} ns (origin_ns)")
    first = first_event_ns(explanation.run, view.timeline)
    if first is not None:
        later = -clock.start_ns(view, first)
        shift = f"add {later:,} ns to" if later >= 0 else f"subtract {-later:,} ns from"
        _line(
            to,
            "to find them",
            "ts is what the file holds, in us; Perfetto and chrome://tracing count from its first "
            f"event, ts {in_file.ts(first)}: {shift} each start",
        )
    if to.width < _BESIDE:
        for event in finding.events:
            start, ts = clock.start_ns(view, event.start_ns), in_file.ts(event.start_ns)
            to.print(Text(f"{start:,} ns, {duration(event.dur_ns)}, ts {ts}"))
            name = Text(f"{visible(event.lane)}: {visible(event.name)}", overflow="fold")
            to.print(Padding(name, (0, 0, 0, 2)))
        return
    table = Table(
        Column("start", justify="right", no_wrap=True),
        Column("duration", justify="right", no_wrap=True),
        Column("ts", justify="right", no_wrap=True),
        Column("lane", overflow="fold"),
        Column("name", overflow="fold"),
        box=None,
        header_style="dim",
        padding=(0, 2, 0, 0),
    )
    for event in finding.events:
        table.add_row(
            f"{clock.start_ns(view, event.start_ns):,} ns",
            duration(event.dur_ns),
            in_file.ts(event.start_ns),
            Text(visible(event.lane)),
            Text(visible(event.name)),
        )
    to.print(table)
