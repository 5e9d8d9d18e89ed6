"""The explanation in Markdown, for a ticket or a pull request: short, and complete in its figures.

Every text of the evidence is escaped, so that it shows as it is and makes neither links, nor
images, nor mentions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger
from laptime.report import by_layer, grouped, shown
from laptime.report.numbers import NOT_MEASURED, count, duration, many, share, shorten, visible
from laptime.report.selection import said_of, views_of

_LONGEST_NAME = 120
_ACTS = re.compile(r"[\\`*_\[\]|~$]|[<>&@#]|:(?=//)|(?<=www)\.")
"""What Markdown, GitHub's mentions and its links of bare addresses act on."""
_AS_ENTITY = frozenset("<>&@#:.")


def text(explanation: Explanation, top: int = 10, rank: int | None = None) -> str:
    """The report. ``top`` kernels for each device's timeline; ``rank`` limits it to one rank.

    Ledgers and kernels are given of each rank, folded where there are several.
    """
    return "".join(f"{line}\n" for line in _lines(explanation, top, rank))


def _lines(explanation: Explanation, top: int, rank: int | None) -> Iterator[str]:
    views = views_of(explanation, rank)
    said = said_of(explanation, views)
    together = len(views) > 1 and rank is None
    yield f"**{plain(explanation.verdict)}**"
    yield ""
    if together:
        yield from _ranks(explanation)
    elif len(explanation.views) > 1:
        yield f"Only rank {rank} is shown below; the verdict is that of the whole run."
        yield ""
    yield "### Findings"
    yield ""
    if not said.findings:
        yield f"{plain(shown.none_found(said))}"
    for number, entry in enumerate(grouped.entries(explanation, said, together), 1):
        yield from _finding(number, entry)
    silenced = grouped.silenced(explanation, said, together)
    if silenced:
        yield ""
        yield f"Explained by the above: {plain(silenced)}."
    yield ""
    for view in views:
        yield from _view(explanation, view, top, folded=len(views) > 1)
    layers = by_layer.ruled_out(explanation, said, together)
    if layers:
        lines = [line for layer in layers for line in _layer(layer)]
        yield from _folded(f"Ruled out ({by_layer.number(layers)})", lines)
    unjudged = grouped.not_measured(explanation, said, together)
    if unjudged:
        yield from _folded("Not measured", [_said(cause, how) for cause, how in unjudged])
    yield from _evidence(explanation)


def _layer(layer: by_layer.Layer) -> Iterator[str]:
    yield f"- {layer.name}"
    for cause, why in layer.rows:
        yield f"  {_said(cause, why)}"


def _said(cause: str, how: str) -> str:
    return f"- {code(cause)}: {plain(how)}"


def _ranks(explanation: Explanation) -> Iterator[str]:
    rows = [
        (line.rank, line.device, duration(line.lap_ns), share(line.busy), line.top)
        for line in shown.rank_lines(explanation)
    ]
    yield from _table(("rank", "device", "lap", "busy", "first finding"), "llrrl", rows)
    yield ""


def _finding(number: int, entry: grouped.Entry) -> Iterator[str]:
    yield f"{number}. **{plain(entry.head)}**"
    if entry.sentence:
        yield f"   {plain(entry.sentence)}"
    for label, text in entry.rows:
        yield f"   - {plain(label)}: {plain(text)}"


def _view(explanation: Explanation, view: View, top: int, folded: bool) -> Iterator[str]:
    lines = list(_details(explanation, view, top))
    if folded:
        yield from _folded(shown.timeline_title(view.timeline), lines)
    else:
        yield from lines


def _details(explanation: Explanation, view: View, top: int) -> Iterator[str]:
    yield f"Laps: {plain(shown.lap_source(view))}."
    for line in shown.dropped(view):
        yield f"Not counted, {plain(line)}."
    yield ""
    for device in view.ledger.devices:
        title = shown.device_title(explanation, device)
        yield f"### {plain(title)}: {plain(shown.counted_phrase(view.ledger, device))}"
        yield ""
        yield from _ledger(view, device)
        yield ""
    kernels = shown.kernel_lines(view, top)
    if kernels:
        yield f"### Kernels: {len(kernels)} of {many(len(view.kernels), 'name')}, whole recording"
        yield ""
        rows = [
            (duration(k.ns), share(k.share), count(k.count), k.what, shorten(k.name, _LONGEST_NAME))
            for k in kernels
        ]
        yield from _table(("time", "share", "calls", "kind", "name"), "rrrll", rows)
        yield ""


def _ledger(view: View, device: DeviceLedger) -> Iterator[str]:
    spread = shown.window_spread(view, device)
    if spread is None:
        yield f"{NOT_MEASURED}: no window"
        return
    lines = shown.account_lines(view.ledger, device)
    rows = [
        ("\u2003" * line.depth + line.title, duration(line.ns), share(line.share)) for line in lines
    ]
    rows.append(("= window", duration(spread.mean), "100.0%"))
    yield from _table(("account", "a lap", "share"), "lrr", rows)
    for line in lines:
        if line.holds:
            yield ""
            yield plain(f"{line.title} may also hold: {', '.join(line.holds)}.")
    for note in device.notes:
        yield ""
        yield f"Note: {plain(note)}."


def _evidence(explanation: Explanation) -> Iterator[str]:
    health = explanation.run.health
    lost = f"{count(health.lost)} lost" if health.losses else "none lost"
    yield f"Evidence: {many(health.items, 'item')} read, {lost}."
    for line in shown.loss_lines(health):
        yield f"- lost: {plain(line)}"
    for warning in health.warnings:
        yield f"- warning: {plain(warning)}"


def _folded(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"<details><summary>{plain(title)}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
    yield ""


def _table(head: Sequence[str], sides: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table; ``sides`` has ``l`` or ``r`` for each column."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'|'.join('---:' if s == 'r' else '---' for s in sides)}|"
    for row in rows:
        yield f"| {' | '.join(plain(cell) for cell in row)} |"


def plain(told: str) -> str:
    """Text that shows as it is, in one line."""
    return _ACTS.sub(_escaped, visible(told))


def _escaped(found: re.Match[str]) -> str:
    character = found.group()
    return f"&#{ord(character)};" if character in _AS_ENTITY else f"\\{character}"


def code(told: str) -> str:
    """A text as code: no mark of its own acts in it."""
    shows = visible(told).replace("`", "'")
    return f"`{shows}`"
