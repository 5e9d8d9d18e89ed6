"""Host functions by self time as readers see them, and the pointer from the accounts to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from laptime.explanation import View
from laptime.ledger.by_function import FunctionLine, FunctionTable
from laptime.ledger.ledger import DeviceLedger
from laptime.report.layout import NARROW, heading
from laptime.report.numbers import duration, many, share, shorten, visible

TOP = 10
TITLE = "Host functions, self time"

_POINTS = ("python", "host_ops")
"""Accounts whose time the functions tell more of: of a thread, of a device."""
_LEAST = 0.05
"""Share of the window from which an account is worth a pointer."""


@dataclass(frozen=True)
class Shown:
    """One function: means per host lap. ``part`` is the time in which the device was idle, or of a
    CPU-only run the time outside operators; ``called`` says by whose code, "" for the user's own.
    """

    name: str
    called: str
    ns: float
    share: float | None
    part: float
    calls: float


def lines(view: View, device: DeviceLedger, top: int = TOP) -> list[Shown]:
    """The functions with most self time."""
    table = view.functions.get(device.device)
    if table is None:
        return []
    return [_shown(view, table, line) for line in table.lines[:top]]


def _shown(view: View, table: FunctionTable, line: FunctionLine) -> Shown:
    part = line.outside_ns if line.idle_ns is None else line.idle_ns
    called = ""
    if line.caller is not None:
        more = f" and {many(line.callers - 1, 'other')}" if line.callers > 1 else ""
        called = f"from {visible(line.caller)}{more}"
    if line.lane != table.owner:
        lane = view.timeline.lanes[line.lane]
        who = f"on thread {visible(str(lane.tid))}"
        called = f"{who}, {called}" if called else who
    return Shown(
        name=visible(line.name),
        called=called,
        ns=line.self_ns / table.laps,
        share=line.self_ns / table.laps_ns if table.laps_ns else None,
        part=(part or 0) / table.laps,
        calls=line.count / table.laps,
    )


def note(view: View, device: DeviceLedger) -> str:
    """What the lines are means over, and how much of the lap they cover."""
    table = view.functions[device.device]
    laps = "the one host lap" if table.laps == 1 else f"mean of {many(table.laps, 'host lap')}"
    if view.ledger.laps.source == "window":
        laps = "whole recording"
    covered = share(table.covered_ns / table.laps_ns) if table.laps_ns else "0.0%"
    return f"{laps}; the lap's thread is in a Python function for {covered}"


def part_title(device: DeviceLedger) -> str:
    """Head of the column of ``part``."""
    return "outside ops" if device.cpu else "device idle"


def pointer(view: View, device: DeviceLedger) -> str | None:
    """Where the time of Python is told by function, or what would tell it."""
    held = {a.id: a for a in device.leaves}
    titles = [
        held[a].title
        for a in _POINTS
        if a in held and (view.ledger.share(device, a) or 0.0) >= _LEAST
    ]
    if device.device in view.functions:
        return f"{titles[0]}: by function below, under {TITLE}" if titles else None
    between = view.ledger.share(device, "between_ops") if "between_ops" in held else None
    if device.cpu and (between or 0.0) >= _LEAST:
        title = held["between_ops"].title
        return f"{title}: profile with with_stack=True to see it by function"
    return None


def calls(number: float) -> str:
    """How often a lap: whole numbers as such."""
    return f"{number:,.0f}" if number == int(number) or number >= 10 else f"{number:.1f}"


def section(view: View, device: DeviceLedger, whose: str, width: int) -> Iterator[RenderableType]:
    """The functions for a terminal."""
    shown = lines(view, device)
    if not shown:
        return
    yield heading(f"{TITLE}{whose}", note(view, device))
    if width < NARROW:
        yield _stacked(shown, part_title(device), width)
        return
    table = Table.grid(
        Column(justify="right", no_wrap=True, min_width=7),
        Column(justify="right", no_wrap=True, min_width=6),
        Column(justify="right", no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(overflow="fold"),
        padding=(0, 2, 0, 0),
    )
    grey = "dim"
    table.add_row(
        *(Text(t, style=grey) for t in ("self", "share", part_title(device), "calls", "function"))
    )
    room = max(20, width - 44)
    for line in shown:
        name = Text(shorten(line.name, room))
        if line.called:
            name.append(f"\n{shorten(line.called, room)}", style=grey)
        table.add_row(
            duration(line.ns), share(line.share), duration(line.part), calls(line.calls), name
        )
    yield Padding(table, (0, 0, 0, 2))


def _stacked(shown: list[Shown], part: str, width: int) -> Padding:
    """Each function on a line of its own below its figures, which take all the width there is."""
    table = Table.grid(Column(no_wrap=True))
    table.add_row(Text(f"self, share, {part}, calls:", style="dim"))
    for line in shown:
        figures = duration(line.ns), share(line.share), duration(line.part), calls(line.calls)
        table.add_row("  ".join(f"{text:>7}" for text in figures))
        table.add_row(Text(f"  {shorten(line.name, width - 4)}"))
        if line.called:
            table.add_row(Text(f"  {shorten(line.called, width - 4)}", style="dim"))
    return Padding(table, (0, 0, 0, 2))
