"""The explanation for a terminal or a pipe, through Rich: verdict first, then its reasons.

``render`` writes to a console that the caller chose (width, colour). Each section is a function of
the explanation that yields Rich renderables; a further view is one more function in ``_SECTIONS``
or ``_DETAILS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from laptime.causes.case import Judgement
from laptime.explanation import Explanation, View
from laptime.ledger.by_lap import P99_NEEDS
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.report import functions, lap_views, shown
from laptime.report.layout import WIDE, heading, indented, labelled, labels, trimmed
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
from laptime.report.selection import said_of

_REGIONS = 10
"""Regions shown of each device."""


def render(explanation: Explanation, to: Console, top: int = 10, rank: int | None = None) -> None:
    """Print an explanation. ``top`` kernels for each rank; ``rank`` limits the details to one."""
    with trimmed(to):
        _print(explanation, to, top, rank)


def render_verdict(explanation: Explanation, to: Console) -> None:
    """Print the verdict only."""
    with trimmed(to):
        to.print(_verdict(explanation))


def _print(explanation: Explanation, to: Console, top: int, rank: int | None) -> None:
    to.print(_verdict(explanation))
    views = [v for v in explanation.views if rank is None or v.timeline.rank == rank]
    several = len(explanation.views) > 1
    if several:
        to.print()
        to.print(_ranks(explanation))
    else:
        _print_all(to, (b for v in views for d in _DETAILS for b in d(explanation, v, to.width)))
    said = said_of(explanation, views)
    _print_all(to, (b for s in _SECTIONS for b in s(explanation, said, to.width)))
    for view in views:
        if several:
            # Many ranks would bury the findings: their details come last.
            to.print()
            to.rule(Text(shown.timeline_title(view.timeline)), align="left", characters="=")
            _print_all(to, (b for d in _DETAILS for b in d(explanation, view, to.width)))
        for device in view.ledger.devices:
            _print_all(to, _slow(view, device))
            _print_all(to, functions.section(view, device, _whose(view, device), to.width))
            _print_all(to, _regions(view, device, to.width, _REGIONS))
        _print_all(to, _kernels(view, to.width, top))


def _print_all(to: Console, blocks: Iterable[RenderableType]) -> None:
    for block in blocks:
        to.print(block)


def _verdict(explanation: Explanation) -> Text:
    return Text(visible(explanation.verdict), style="bold")


def _ranks(explanation: Explanation) -> RenderableType:
    table = Table(
        "rank",
        Column("device", overflow="fold"),
        Column("lap", justify="right", no_wrap=True),
        Column("busy", justify="right", no_wrap=True),
        Column("first finding", overflow="fold"),
        box=None,
        padding=(0, 2, 0, 0),
        header_style="dim",
    )
    for line in shown.rank_lines(explanation):
        lap, busy = duration(line.lap_ns), share(line.busy)
        table.add_row(line.rank, Text(line.device), lap, busy, Text(line.top))
    return table


def _laps(explanation: Explanation, view: View, width: int) -> Iterator[RenderableType]:
    yield heading("Laps")
    yield indented(shown.lap_source(view))
    for line in shown.dropped(view):
        yield labelled("not counted,", line, by=2)
    host = shown.host_spread(view.ledger)
    if host is not None:
        yield labelled("host window", _spread(host), by=2)
    for note in view.ledger.laps.notes:
        yield labelled("note", visible(note), by=2)


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
    bar = max(10, min(40, width - 66)) if width < WIDE else 40
    table = Table.grid(
        Column(no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(width=bar, no_wrap=True),
        padding=(0, 2, 0, 0),
    )
    for line in lines:
        shade = colour(line.id).ansi
        title = Text("  " * line.depth + "  " + line.title, style="bold" if line.group else "")
        if line.holds:
            title.append(" *", style="dim")
        style = shade if not line.group else f"dim {shade}"
        table.add_row(
            title,
            duration(line.ns),
            share(line.share),
            Text(_bar(line.share or 0.0, bar), style=style),
        )
    table.add_row(Text("  = window", style="bold"), duration(spread.mean), "100.0%", "")
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
    for note in device.notes:
        yield labelled("note", visible(note), by=2)


def _lag(ledger: Ledger, device: DeviceLedger) -> str:
    lag = shown.lag_ns(ledger, device)
    if lag is None:
        return NOT_MEASURED
    least, most = duration(lag[0]), duration(lag[1])
    between = least if least == most else f"{least} to {most}"
    return f"device windows start {between} after their host windows"


def _bar(part: float, width: int) -> str:
    """A bar in eighths of a cell; the smallest part that is not nothing still shows."""
    eighths = round(min(max(part, 0.0), 1.0) * width * 8)
    if part > 0 and eighths == 0:
        eighths = 1
    full, rest = divmod(eighths, 8)
    return "█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]


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
    table = Table.grid(
        Column(justify="right", no_wrap=True, min_width=7),
        Column(justify="right", no_wrap=True, min_width=6),
        Column(justify="right", no_wrap=True),
        Column(no_wrap=True),
        Column(overflow="fold", style="dim"),
        padding=(0, 2, 0, 0),
    )
    room = max(12, (width - 28) // 2)
    table.add_row(
        *(Text(head, style="dim") for head in ("time", "share", "begins", "region", "mostly"))
    )
    for line in lines:
        begins = "" if line.calls is None else functions.calls(line.calls)
        name = Text(shorten(line.name, room), style="dim" if line.outside else "")
        table.add_row(duration(line.ns), share(line.share), begins, name, line.mostly)
    yield Padding(table, (0, 0, 0, 2))


def _kernels(view: View, width: int, top: int) -> Iterator[RenderableType]:
    lines = shown.kernel_lines(view, top)
    if not lines:
        return
    note = f"{len(lines)} of {many(len(view.kernels), 'name')}, whole recording"
    yield heading("Kernels", f"{note}: time, share, calls")
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
    calls = max(7, max(len(count(k.count)) for k in lines))
    room = width - (2 + 9 + 8 + calls + 2)
    what = min(max(len(k.what) for k in lines), 36 if beside else room)
    table = Table.grid(
        Column(justify="right", no_wrap=True, min_width=7),
        Column(justify="right", no_wrap=True, min_width=6),
        Column(justify="right", no_wrap=True, min_width=calls),
        Column(no_wrap=True),
        Column(no_wrap=True, style="dim"),
        padding=(0, 2, 0, 0),
    )
    below = Table.grid(Column(no_wrap=True))
    for k in lines:
        row = duration(k.ns), share(k.share), count(k.count), Text(shorten(k.what, what))
        name = visible(k.name)
        if beside:
            table.add_row(*row, Text(shorten(name, max(8, room - what - 2))))
            continue
        one = Table.grid(
            Column(justify="right", no_wrap=True, width=7),
            Column(justify="right", no_wrap=True, width=6),
            Column(justify="right", no_wrap=True, width=calls),
            Column(no_wrap=True),
            padding=(0, 2, 0, 0),
        )
        one.add_row(*row)
        below.add_row(one)
        below.add_row(Text(f"         {shorten(name, max(8, width - 11))}", style="dim"))
    return Padding(table if beside else below, (0, 0, 0, 2))


def _findings(explanation: Explanation, said: Judgement, width: int) -> Iterator[RenderableType]:
    several = len(explanation.views) > 1
    yield heading("Findings")
    if not said.findings:
        yield indented(shown.none_found(said))
    told: set[tuple[str, str]] = set()
    for number, finding in enumerate(said.findings, 1):
        yield labelled(f"{number}.", shown.finding_head(finding, several), 2, "bold")
        yield indented(visible(finding.sentence), 5)
        # The same cause on another rank has the same next step: once is enough.
        steps = [s for s in finding.next_step if (finding.id, s) not in told]
        told.update((finding.id, s) for s in steps)
        rows = [("costs", shown.bound(explanation, finding))]
        rows += [("why", visible(why)) for why in finding.why]
        rows += [("next", visible(step)) for step in steps]
        if finding.confidence < 1:
            rows.append(("confidence", f"{finding.confidence:.2f} (of the laps it is counted in)"))
        yield labels(rows, 5)
    if said.silenced:
        names = ", ".join(dict.fromkeys(f"{visible(f.title)} ({f.id})" for f in said.silenced))
        yield labelled("explained by the above:", names, 2)


def _clear(explanation: Explanation, said: Judgement, width: int) -> Iterator[RenderableType]:
    lines = shown.cleared(explanation, said.clear)
    if lines:
        yield heading("Ruled out")
    for cause, why in lines:
        yield labelled(f"{cause}:", why, 2)


def _abstained(explanation: Explanation, said: Judgement, width: int) -> Iterator[RenderableType]:
    lines = shown.abstained(explanation, said.abstentions)
    if lines:
        yield heading("Not measured")
    for cause, missing, supply in lines:
        yield labelled(f"{cause}:", f"missing {missing}; {supply}", 2)


def _health(explanation: Explanation, said: Judgement, width: int) -> Iterator[RenderableType]:
    health = explanation.run.health
    yield heading("Evidence")
    lost = f"{count(health.lost)} lost" if health.losses else "none lost"
    sources = explanation.run.sources
    where = visible(sources[0]) if len(sources) == 1 else f"{count(len(sources))} files"
    yield indented(f"{where}: {many(health.items, 'item')} read, {lost}")
    for line in shown.loss_lines(health):
        yield labelled("lost", line, 2)
    for warning in health.warnings:
        yield labelled("warning", visible(warning), 2)


Detail = Callable[[Explanation, View, int], Iterator[RenderableType]]
Section = Callable[[Explanation, Judgement, int], Iterator[RenderableType]]

_DETAILS: tuple[Detail, ...] = (_laps, _ledgers)
"""What is shown of each rank, in order."""

_SECTIONS: tuple[Section, ...] = (_findings, _clear, _abstained, _health)
"""What is shown of the run, in order."""
