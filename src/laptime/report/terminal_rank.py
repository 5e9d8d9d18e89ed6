"""One timeline for a terminal: its laps and ledgers, slow laps, functions, regions, kernels.

Each part is a function of the explanation and the view that yields Rich renderables; a further one
is one more function in ``LEDGERS``, or one more line of ``further``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from laptime.explanation import Explanation, View
from laptime.ledger.by_lap import P99_NEEDS
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.report import flops, functions, lap_views, shown
from laptime.report.beside import capture_lines
from laptime.report.layout import NARROW, WIDE, heading, indented, labelled, labels
from laptime.report.numbers import (
    NOT_MEASURED,
    count,
    duration,
    many,
    share,
    shorten,
    visible,
)
from laptime.report.palette import colour

_REGIONS = 10
"""Regions shown of each device."""


def _laps(explanation: Explanation, view: View, width: int) -> Iterator[RenderableType]:
    yield heading("Laps")
    yield indented(shown.lap_source(view))
    for line in shown.dropped(view):
        yield labelled("not counted,", line, by=2)
    host = shown.host_spread(view.ledger)
    if host is not None and not shown.one_window(view):
        yield labelled("host window", _spread(host), by=2)
    for note in view.ledger.laps.notes:
        yield labelled("note", visible(note), by=2)
    for label, line in capture_lines(view):
        yield labelled(label, visible(line), by=2)


def _spread(spread: shown.Spread) -> str:
    if spread.laps == 1:
        return duration(spread.mean)
    p99 = (
        f"p99 {duration(spread.p99)}"
        if spread.p99 is not None
        else f"p99 {NOT_MEASURED} (needs {P99_NEEDS} laps)"
    )
    return (
        f"mean {duration(spread.mean)}, p50 {duration(spread.p50)}, {p99}, "
        f"worst {duration(spread.worst)}"
    )


def _ledgers(explanation: Explanation, view: View, width: int) -> Iterator[RenderableType]:
    for device in view.ledger.devices:
        yield heading(
            shown.device_title(explanation, device), shown.counted_phrase(view.ledger, device)
        )
        yield from _device(view, device, width)
    if not view.ledger.devices:
        yield heading("Ledger")
        yield indented(f"{NOT_MEASURED}: no device and no thread that owns laps was found")


def _device(view: View, device: DeviceLedger, width: int) -> Iterator[RenderableType]:
    ledger = view.ledger
    spread = shown.window_spread(view, device)
    if spread is None:
        yield indented(f"{NOT_MEASURED}: no window")
        return
    lines = shown.account_lines(ledger, device)
    bar = bar_width(width)
    columns = [
        Column(no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(justify="right", no_wrap=True),
    ]
    if bar:
        columns.append(Column(width=bar, no_wrap=True))
    table = Table.grid(*columns, padding=(0, 2, 0, 0))
    for line in lines:
        shade = colour(line.id).ansi
        style = shade if not line.group else f"dim {shade}"
        row: list[RenderableType] = [
            account_title(line.title, line.depth, line.group, bool(line.holds), width, 17),
            duration(line.ns),
            share(line.share),
            Text(_bar(line.share or 0.0, bar), style=style),
        ]
        table.add_row(*row[: len(columns)])
    table.add_row(Text("  = window", style="bold"), duration(spread.mean), "100.0%")
    yield table
    for line in lines:
        if line.holds:
            yield labelled("*", f"{line.title} may also hold: {', '.join(line.holds)}", by=2)
    where = functions.pointer(view, device)
    if where is not None:
        yield labelled("see", where, by=2)
    yield labelled("window", _spread(spread), by=2)
    if not device.cpu:
        yield labelled("lag", _lag(ledger, device), by=2)
    used = flops.sentence(view, device.device)
    if used is not None:
        yield labelled("FLOPs", visible(used), by=2)
    for note in device.notes:
        yield labelled("note", visible(note), by=2)


def _lag(ledger: Ledger, device: DeviceLedger) -> str:
    lag = shown.lag_ns(ledger, device)
    if lag is None:
        return NOT_MEASURED
    least, most = duration(lag[0]), duration(lag[1])
    between = least if least == most else f"{least} to {most}"
    return f"device windows start {between} after their host windows"


def bar_width(width: int) -> int:
    """Cells for the bars of a ledger; none where titles and figures fill the width."""
    if width < 66:
        return 0
    return max(10, min(40, width - 66)) if width < WIDE else 40


def account_title(
    title: str, depth: int, group: bool, merged: bool, width: int, figures: int
) -> Text:
    """An account's title as deep as it lies, cut to what ``figures`` cells of figures leave."""
    step = 1 if width < NARROW else 2
    margin = " " * (2 + step * depth)
    room = width - len(margin) - 2 - figures - (2 if merged else 0)
    text = Text(margin + shorten(title, max(8, room)), style="bold" if group else "")
    if merged:
        text.append(" *", style="dim")
    return text


def _bar(part: float, width: int) -> str:
    """A bar in eighths of a cell; the smallest part that is not nothing still shows."""
    eighths = round(min(max(part, 0.0), 1.0) * width * 8)
    if part > 0 and eighths == 0:
        eighths = 1
    full, rest = divmod(eighths, 8)
    return "█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]


def further(view: View, width: int, top: int) -> Iterator[RenderableType]:
    """Slow laps, host functions and regions of each device, then the ``top`` kernels."""
    for device in view.ledger.devices:
        yield from _slow(view, device)
        yield from functions.section(view, device, _whose(view, device), width)
        yield from _regions(view, device, width, _REGIONS)
    yield from _kernels(view, width, top)


def _whose(view: View, device: DeviceLedger) -> str:
    return f" of {visible(device.device)}" if len(view.ledger.devices) > 1 else ""


def _slow(view: View, device: DeviceLedger) -> Iterator[RenderableType]:
    median = lap_views.median_phrase(view, device)
    if median is None:
        return
    yield heading(f"Slowest laps{_whose(view, device)}", median)
    for line in lap_views.slow_lines(view, device):
        yield labelled(line.label, f"{line.length}, {line.more}: {line.accounts}", 2)
        rows = [("device", line.device_names), ("host", line.host_names)]
        yield labels([(f"more on the {where}", names) for where, names in rows if names], 4)


def _regions(view: View, device: DeviceLedger, width: int, top: int) -> Iterator[RenderableType]:
    lines = lap_views.region_lines(view, device, top)
    if not lines:
        return
    yield heading(
        f"By region{_whose(view, device)}",
        f"{shown.counted_phrase(view.ledger, device)}; innermost region around each launch",
    )
    below = width < NARROW
    figures = [Column(justify="right", no_wrap=True, min_width=n) for n in (7, 6, 0)]
    names = [Column(overflow="fold")] if below else [Column(no_wrap=True), Column(overflow="fold")]
    table = Table.grid(*figures, *names, padding=(0, 2, 0, 0))
    room = max(12, width - 29 if below else (width - 28) // 2)
    heads = ("time", "share", "begins", "region", "mostly")[: 4 if below else 5]
    table.add_row(*(Text(head, style="dim") for head in heads))
    for line in lines:
        begins = "" if line.calls is None else functions.calls(line.calls)
        name = Text(shorten(line.name, room), style="dim" if line.outside else "")
        mostly = Text(line.mostly, style="dim")
        if below:
            name = Text("\n").join([name, mostly])
        figured = duration(line.ns), share(line.share), begins
        table.add_row(*figured, name, *([] if below else [mostly]))
    yield Padding(table, (0, 0, 0, 2))


def _kernels(view: View, width: int, top: int) -> Iterator[RenderableType]:
    lines = shown.kernel_lines(view, top)
    if not lines:
        return
    note = f"{len(lines)} of {many(len(view.kernels), 'name')}, whole recording"
    yield heading("Kernels", f"{note}; share of the time of all kernels")
    yield _kernel_table(lines, width)
    unknown = [k for k in shown.unknown_kernels(view) if k not in lines]
    if unknown:
        yield indented(Text("further names that could not be read:", style="dim"))
        yield _kernel_table(unknown[:top], width)
    if len(unknown) > top:
        rest = f"and {count(len(unknown) - top)} more (--json lists all)"
        yield indented(Text(rest, style="dim"))


def _kernel_table(lines: list[shown.KernelLine], width: int) -> Padding:
    """Names beside the figures where there is room, else on a line of their own below them."""
    beside = width >= WIDE
    narrow = width < NARROW
    calls = max(5, max(len(count(k.count)) for k in lines))
    figures = [7, 6, calls, *([] if narrow else [7])]
    room = width - 2 - sum(n + 2 for n in figures)
    what = min(max(len(k.what) for k in lines), 36 if beside else room)

    def grid() -> Table:
        right = [Column(justify="right", no_wrap=True, width=n) for n in figures]
        names = [Column(no_wrap=True), Column(no_wrap=True, style="dim")][: 2 if beside else 1]
        return Table.grid(*right, *names, padding=(0, 2, 0, 0))

    table = grid()
    heads = ["time", "share", "calls", *([] if narrow else ["mean"]), "kernel"]
    table.add_row(*(Text(head, style="dim") for head in heads))
    below: list[RenderableType] = [table]
    for k in lines:
        name = visible(k.name)
        figured = [duration(k.ns), share(k.share), count(k.count)]
        if not narrow:
            figured.append(duration(k.mean_ns))
        one = Text(shorten(k.what, max(8, what)))
        if beside:
            table.add_row(*figured, one, Text(shorten(name, max(8, room - what - 2))))
            continue
        row = grid()
        row.add_row(*figured, one)
        below += [row, Text(f"         {shorten(name, max(8, width - 11))}", style="dim")]
    return Padding(table if beside else Group(*below), (0, 0, 0, 2))


Part = Callable[[Explanation, View, int], Iterator[RenderableType]]

LEDGERS: tuple[Part, ...] = (_laps, _ledgers)
"""Where the time went, in order."""
