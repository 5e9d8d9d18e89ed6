"""The explanation for a terminal or a pipe, through Rich: verdict first, then its reasons.

``render`` writes to a console that the caller chose (width, colour). Each section is a function of
the explanation that yields Rich renderables; a further view is one more function in ``_SECTIONS``
or ``_DETAILS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.report import shown
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

_WIDE = 110
"""Columns from which lines carry their meaning too."""


def console(stream: IO[str], width: int | None = None) -> Console:
    """A console that shows text as it is: no markup, no emoji codes, no guessed highlighting.

    Colour only where the stream is a terminal and NO_COLOR is not set (Rich's own rule).
    """
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


def render(explanation: Explanation, to: Console, top: int = 10, rank: int | None = None) -> None:
    """Print an explanation. ``top`` kernels for each rank; ``rank`` limits the details to one."""
    with trimmed(to):
        _print(explanation, to, top, rank)


def render_verdict(explanation: Explanation, to: Console) -> None:
    """Print the verdict only."""
    with trimmed(to):
        to.print(_verdict(explanation))


@contextmanager
def trimmed(to: Console) -> Iterator[None]:
    """Lines without blanks at their ends in a pipe or file, where Rich's filling is noise."""
    if to.is_terminal:
        yield
        return
    with to.capture() as captured:
        yield
    to.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1]))


def _print(explanation: Explanation, to: Console, top: int, rank: int | None) -> None:
    to.print(_verdict(explanation))
    views = [v for v in explanation.views if rank is None or v.timeline.rank == rank]
    if len(explanation.views) > 1:
        to.print()
        to.print(_ranks(explanation))
    for view in views:
        if len(explanation.views) > 1:
            to.print()
            to.rule(Text(shown.timeline_title(view.timeline)), align="left", characters="=")
        for detail in _DETAILS:
            for block in detail(explanation, view, to.width):
                to.print(block)
    for section in _SECTIONS:
        for block in section(explanation, to.width):
            to.print(block)
    for view in views:
        for block in _kernels(explanation, view, to.width, top):
            to.print(block)


def _verdict(explanation: Explanation) -> Text:
    return Text(visible(explanation.verdict), style="bold")


def _heading(title: str, note: str = "") -> RenderableType:
    text = Text(title, style="bold")
    if note:
        text.append(f"  {note}", style="not bold dim")
    return Group(Text(), text)


def _indented(text: str | Text, by: int = 2) -> Padding:
    return Padding(text if isinstance(text, Text) else Text(text), (0, 0, 0, by))


def _labelled(label: str, text: str, by: int = 4) -> Padding:
    """``label  text`` with the text wrapped beside its label."""
    grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 0))
    grid.add_row(Text(f"{label} ", style="dim"), Text(text))
    return Padding(grid, (0, 0, 0, by))


def _labels(rows: list[tuple[str, str]], by: int) -> Padding:
    """Several labels with their texts in one column."""
    grid = Table.grid(
        Column(no_wrap=True, style="dim"), Column(overflow="fold"), padding=(0, 2, 0, 0)
    )
    for label, text in rows:
        grid.add_row(label, Text(text))
    return Padding(grid, (0, 0, 0, by))


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
    yield _heading("Laps")
    yield _indented(shown.lap_source(view))
    for line in shown.dropped(view):
        yield _labelled("not counted,", line, by=2)
    host = shown.host_spread(view.ledger)
    if host is not None:
        yield _labelled("host window", _spread(host), by=2)
    for note in view.ledger.laps.notes:
        yield _labelled("note", visible(note), by=2)


def _spread(spread: shown.Spread) -> str:
    if spread.laps == 1:
        return duration(spread.mean)
    p99 = (
        f"p99 {duration(spread.p99)}"
        if spread.p99 is not None
        else f"p99 {NOT_MEASURED} (needs {shown.P99_LAPS} laps)"
    )
    return (
        f"mean {duration(spread.mean)}, p50 {duration(spread.p50)}, {p99}, "
        f"worst {duration(spread.worst)}"
    )


def _ledgers(explanation: Explanation, view: View, width: int) -> Iterator[RenderableType]:
    for device in view.ledger.devices:
        yield _heading(
            shown.device_title(explanation, device), shown.counted_phrase(view.ledger, device)
        )
        yield from _device(view.ledger, device, width)
    if not view.ledger.devices:
        yield _heading("Ledger")
        yield _indented(f"{NOT_MEASURED}: no device and no thread that owns laps was found")


def _device(ledger: Ledger, device: DeviceLedger, width: int) -> Iterator[RenderableType]:
    spread = shown.window_spread(ledger, device)
    if spread is None:
        yield _indented(f"{NOT_MEASURED}: no window")
        return
    lines = shown.account_lines(ledger, device)
    bar = max(10, min(40, width - 66)) if width < _WIDE else 40
    table = Table.grid(
        Column(no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(justify="right", no_wrap=True),
        Column(width=bar, no_wrap=True),
        Column(overflow="fold", style="dim"),
        padding=(0, 2, 0, 0),
    )
    for line in lines:
        shade = colour(line.id).ansi
        title = Text("  " * line.depth + "  " + line.title, style="bold" if line.group else "")
        if line.holds:
            title.append(" *", style="dim")
        remark = line.meaning if width >= _WIDE and not line.group else ""
        style = shade if not line.group else f"dim {shade}"
        table.add_row(
            title,
            duration(line.ns),
            share(line.share),
            Text(_bar(line.share or 0.0, bar), style=style),
            remark,
        )
    table.add_row(Text("  = window", style="bold"), duration(spread.mean), "100.0%", "", "")
    yield table
    for line in lines:
        if line.holds:
            yield _labelled("*", f"{line.title} may also hold: {', '.join(line.holds)}", by=2)
    yield _labelled("window", _spread(spread), by=2)
    if not device.cpu:
        yield _labelled("lag", _lag(ledger, device), by=2)
    for note in device.notes:
        yield _labelled("note", visible(note), by=2)


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


def _kernels(
    explanation: Explanation, view: View, width: int, top: int
) -> Iterator[RenderableType]:
    lines = shown.kernel_lines(view, top)
    if not lines:
        return
    note = f"{len(lines)} of {many(len(view.kernels), 'name')}, whole recording"
    several = len(explanation.views) > 1
    whose = f" of {shown.timeline_title(view.timeline)}" if several else ""
    yield _heading(f"Kernels{whose}", f"{note}: time, share, calls")
    yield _kernel_table(lines, width)
    unknown = [k for k in shown.unknown_kernels(view) if k not in lines]
    if unknown:
        yield _indented(Text("further names that could not be read:", style="dim"))
        yield _kernel_table(unknown[:top], width)
    if len(unknown) > top:
        rest = f"and {count(len(unknown) - top)} more (--json lists all)"
        yield _indented(Text(rest, style="dim"))


def _kernel_table(lines: list[shown.KernelLine], width: int) -> Table:
    what = min(max(cell_len(k.what) for k in lines), 24 if width < _WIDE else 36)
    table = Table.grid(
        Column(width=0),
        Column(justify="right", no_wrap=True, min_width=7),
        Column(justify="right", no_wrap=True, min_width=6),
        Column(justify="right", no_wrap=True, min_width=7),
        Column(width=what, no_wrap=True),
        Column(no_wrap=True),
        padding=(0, 2, 0, 0),
    )
    calls = max(7, max(len(count(k.count)) for k in lines))
    room = max(8, width - (2 + 9 + 8 + calls + 2 + what + 2))
    for k in lines:
        style = "" if k.known else "dim"
        table.add_row(
            "",
            duration(k.ns),
            share(k.share),
            count(k.count),
            Text(shorten(k.what, what), style=style),
            Text(shorten(visible(k.name), room), style=style),
        )
    return table


def _findings(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    said = explanation.judgement
    several = len(explanation.views) > 1
    yield _heading("Findings")
    if not said.findings:
        yield _indented(shown.none_found(explanation))
    for number, finding in enumerate(said.findings, 1):
        head = Text(f"{number}. {shown.finding_head(finding, several)}", style="bold")
        yield _indented(head)
        yield _indented(visible(finding.sentence), 5)
        rows = [("costs", shown.bound(finding))]
        rows += [("why", visible(why)) for why in finding.why]
        rows += [("next", visible(step)) for step in finding.next_step]
        rows.append(("confidence", f"{finding.confidence:.2f}"))
        yield _labels(rows, 5)
    if said.silenced:
        names = ", ".join(dict.fromkeys(f"{visible(f.title)} ({f.id})" for f in said.silenced))
        yield _indented(Text(f"explained by the above: {names}", style="dim"))


def _clear(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    if not explanation.judgement.clear:
        return
    several = len(explanation.views) > 1
    yield _heading("Ruled out")
    for clear in explanation.judgement.clear:
        rank = f" (rank {clear.rank})" if several and clear.rank is not None else ""
        yield _labelled(f"{clear.id}{rank}:", visible(clear.why), 2)


def _abstained(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    said = shown.abstained(explanation, explanation.judgement.abstentions)
    if not said:
        return
    yield _heading("Not measured")
    for cause, missing, supply in said:
        yield _labelled(f"{cause}:", f"missing {missing}; {supply}", 2)


def _health(explanation: Explanation, width: int) -> Iterator[RenderableType]:
    health = explanation.run.health
    yield _heading("Evidence")
    lost = f"{count(health.lost)} lost" if health.losses else "none lost"
    sources = explanation.run.sources
    where = visible(sources[0]) if len(sources) == 1 else f"{count(len(sources))} files"
    yield _indented(f"{where}: {many(health.items, 'item')} read, {lost}")
    for line in shown.loss_lines(health):
        yield _labelled("lost", line, 2)
    for warning in health.warnings:
        yield _labelled("warning", visible(warning), 2)


Detail = Callable[[Explanation, View, int], Iterator[RenderableType]]
Section = Callable[[Explanation, int], Iterator[RenderableType]]

_DETAILS: tuple[Detail, ...] = (_laps, _ledgers)
"""What is shown of each rank, in order."""

_SECTIONS: tuple[Section, ...] = (_findings, _clear, _abstained, _health)
"""What is shown of the run, in order."""
