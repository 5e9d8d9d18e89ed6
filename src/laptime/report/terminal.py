"""The explanation for a terminal or a pipe, through Rich: verdict first, then its reasons.

``render`` writes to a console that the caller chose (width, colour). Of one timeline everything is
shown; of several, what can be said in ranges over them, and one of them in full where ``rank``
names it. Each section is a function that yields Rich renderables; a further one is one more
function in ``_SECTIONS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from laptime.causes.case import Judgement
from laptime.explanation import Explanation
from laptime.report import by_layer, grouped, over_ranks, shown, terminal_rank
from laptime.report.beside import lone_lines
from laptime.report.layout import NARROW, heading, indented, labelled, labels, trimmed
from laptime.report.numbers import cells, count, duration, many, share, shorten, visible
from laptime.report.selection import said_of, views_of

_BESIDE = 96
"""Columns from which mean times stand beside shares in the accounts over ranks."""


def render(explanation: Explanation, to: Console, top: int = 10, rank: int | None = None) -> None:
    """Print an explanation; ``rank`` limits it to one, with its ``top`` kernels."""
    with trimmed(to):
        _print(explanation, to, top, rank)


def render_verdict(explanation: Explanation, to: Console) -> None:
    """Print the verdict only."""
    with trimmed(to):
        to.print(_verdict(explanation))


@dataclass(frozen=True)
class _Shown:
    """What sections show: the explanation, what was said of the ranks chosen, whether several
    ranks are grouped, the console's width."""

    explanation: Explanation
    said: Judgement
    grouped: bool
    width: int


def _print(explanation: Explanation, to: Console, top: int, rank: int | None) -> None:
    to.print(_verdict(explanation))
    views = views_of(explanation, rank)
    this = _Shown(
        explanation, said_of(explanation, views), len(views) > 1 and rank is None, to.width
    )
    if this.grouped:
        _print_all(to, _over_ranks(this))
    elif len(explanation.views) > 1:
        to.print()
        to.print(Text(f"Only rank {rank} is shown below; the verdict is that of the whole run."))
    for view in views if not this.grouped else ():
        if len(explanation.views) > 1:
            to.print()
            to.rule(Text(shown.timeline_title(view.timeline)), align="left", characters="=")
        for part in terminal_rank.LEDGERS:
            _print_all(to, part(explanation, view, to.width))
    for section in _SECTIONS:
        _print_all(to, section(this))
    for view in views if not this.grouped else ():
        _print_all(to, terminal_rank.further(view, to.width, top))
    if this.grouped:
        to.print()
        more = "ledger, laps, functions, regions and kernels of one file: explain it by itself"
        if grouped.noun(explanation) == "ranks":
            more = "ledger, laps, functions, regions and kernels of one rank: --rank N"
        to.print(Text(more, style="dim"))


def _print_all(to: Console, blocks: Iterable[RenderableType]) -> None:
    for block in blocks:
        to.print(block)


def _verdict(explanation: Explanation) -> Text:
    return Text(visible(explanation.verdict), style="bold")


def _over_ranks(this: _Shown) -> Iterator[RenderableType]:
    """Tables over the ranks: each by itself, then the accounts in ranges."""
    yield heading(grouped.noun(this.explanation).capitalize())
    yield _ranks(this)
    for whose, how in grouped.lap_sources(this.explanation):
        yield labelled(f"{whose}:", how, 2)
    for table in over_ranks.account_tables(this.explanation):
        yield from _accounts(this, table)


def _ranks(this: _Shown) -> RenderableType:
    lines = shown.rank_lines(this.explanation)
    models = {line.model for line in lines}
    narrow = this.width < NARROW
    labelled_all = grouped.noun(this.explanation) == "ranks"
    columns = [Column("rank" if labelled_all else "process", no_wrap=True)]
    if not narrow:
        columns.append(Column("device", overflow="fold"))
    columns += [
        Column("lap", justify="right", no_wrap=True),
        Column("busy", justify="right", no_wrap=True),
        Column("first finding", overflow="fold"),
    ]
    table = Table(*columns, box=None, padding=(0, 2, 0, 0), header_style="dim")
    for line in lines:
        device = line.device + (f" ({line.model})" if len(models) > 1 and line.model else "")
        where = [] if narrow else [Text(device)]
        who = shorten(line.rank, 8 if narrow else max(8, this.width // 3))
        table.add_row(who, *where, duration(line.lap_ns), share(line.busy), Text(line.top))
    (model,) = models if len(models) == 1 else ("",)
    if model:
        table.caption = Text(f"each device: {model}", style="dim")
        table.caption_justify = "left"
    return table


def _accounts(this: _Shown, table: over_ranks.AccountTable) -> Iterator[RenderableType]:
    """Shares of the lap, and where there is room the mean times of a lap too."""
    times = this.width >= _BESIDE
    what = many(table.devices, "thread" if table.cpu else "device")
    yield heading(f"Accounts over {what}", "each line by itself: they do not sum to a lap")
    narrow = this.width < NARROW
    shares = ("least", "median", "most") if narrow else ("share: least", "median", "most")
    heads = [*shares, "on", *(("time: least", "median", "most") if times else ())]
    right = [Column(Text(h), justify="right", no_wrap=True) for h in heads]
    grid = Table(
        "account",
        *right,
        box=None,
        padding=(0, 1 if narrow else 2, 0, 0),
        header_style="dim",
        pad_edge=False,
    )
    most = max((cells(line.most) for line in table.lines), default=0)
    most = min(most, 4 if narrow else 12)
    figures = (56 if times else 20 if narrow else 36) + max(2, most)
    for line in table.lines:
        all_tell = line.told == table.devices
        title = terminal_rank.account_title(
            line.title, line.depth, line.group, bool(line.holds), this.width, figures
        )
        if not all_tell:
            title.append(f" ({line.told})", style="dim")
        row = [share(v) for v in (line.share.least, line.share.median, line.share.most)]
        row.append(shorten(line.most, most) if line.share.most > line.share.least else "")
        row += [duration(v) for v in (line.ns.least, line.ns.median, line.ns.most)] if times else []
        grid.add_row(title, *row)
    if times:
        window = [duration(v) for v in (table.window.least, table.window.median, table.window.most)]
        grid.add_row(Text("  = window", style="bold"), "", "", "", "", *window)
    yield grid
    for line in table.lines:
        if line.holds:
            yield labelled("*", f"{line.title} may also hold: {', '.join(line.holds)}", by=2)
    if any(line.told < table.devices for line in table.lines):
        yield labelled("(n)", f"told by n of {what}; the others do not tell it apart", by=2)


def _findings(this: _Shown) -> Iterator[RenderableType]:
    yield heading("Findings")
    entries = grouped.entries(this.explanation, this.said, this.grouped)
    if not entries:
        yield indented(shown.none_found(this.said))
    for number, entry in enumerate(entries, 1):
        yield labelled(f"{number}.", entry.head, 2, "bold")
        if entry.sentence:
            yield indented(entry.sentence, 5)
        yield labels(entry.rows, 5)
    silenced = grouped.silenced(this.explanation, this.said, this.grouped)
    if silenced:
        yield labelled("explained by the above:", silenced, 2)


def _ruled_out(this: _Shown) -> Iterator[RenderableType]:
    layers = by_layer.ruled_out(this.explanation, this.said, this.grouped)
    if layers:
        yield heading("Ruled out", "by layer; --why ID shows the figures of one")
        yield labels([(f"{x.name} ({len(x.causes)})", ", ".join(x.causes)) for x in layers], 2)


def _not_measured(this: _Shown) -> Iterator[RenderableType]:
    lines = grouped.not_measured(this.explanation, this.said, this.grouped)
    if lines:
        yield heading("Not measured")
    for cause, how in lines:
        yield labelled(f"{cause}:", how, 2)


def _health(this: _Shown) -> Iterator[RenderableType]:
    health = this.explanation.run.health
    yield heading("Evidence")
    lost = f"{count(health.lost)} lost" if health.losses else "none lost"
    sources = this.explanation.run.sources
    where = visible(sources[0]) if len(sources) == 1 else f"{count(len(sources))} files"
    yield indented(f"{where}: {many(health.items, 'item')} read, {lost}")
    for line in shown.loss_lines(health):
        yield labelled("lost", line, 2)
    for warning in health.warnings:
        yield labelled("warning", visible(warning), 2)
    for line in lone_lines(this.explanation):
        yield indented(visible(line))
    for whose, note in grouped.notes(this.explanation) if this.grouped else ():
        yield labelled(f"note, {whose}:", note, 2)


Section = Callable[[_Shown], Iterator[RenderableType]]

_SECTIONS: tuple[Section, ...] = (_findings, _ruled_out, _not_measured, _health)
"""What is shown of the run, in order."""
