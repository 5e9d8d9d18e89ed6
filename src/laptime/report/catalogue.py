"""The catalogue of causes on a terminal and as JSON (``laptime.causes/1``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any

from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from laptime.causes.catalogue import Page
from laptime.report.layout import NARROW, Hanging, heading, indented, labels, trimmed

SCHEMA = "laptime.causes/1"

_BLOCK = re.compile(r"\n\s*\n|\n(?=- )")
"""What parts the paragraphs and items of a section."""


def render_list(pages: Sequence[Page], to: Console) -> None:
    """One line for each cause: id, title, layer, needs."""
    table = Table(
        Column("cause", no_wrap=True),
        Column("what it is", ratio=3),
        Column("layer", no_wrap=True),
        Column("needs", ratio=2),
        box=None,
        header_style="dim",
        padding=(0, 2, 0, 0),
    )
    for page in pages:
        table.add_row(page.id, page.title, page.layer, ", ".join(n for n, _ in page.needs))
    with trimmed(to):
        if to.width < NARROW:
            for page in pages:
                to.print(Hanging(page.id, page.title))
        else:
            to.print(table)
        to.print(Text(f"{len(pages)} causes; laptime causes ID shows one's page", style="dim"))


def render_page(page: Page, to: Console) -> None:
    """One cause: what it needs, what it explains, then its sections."""
    with trimmed(to):
        for block in _page(page):
            to.print(block)


def _page(page: Page) -> Iterator[RenderableType]:
    yield Text.assemble((page.id, "bold"), f"  {page.title}")
    facts = [("layer", page.layer)]
    facts += [("needs", f"{need}: {supply}") for need, supply in page.needs]
    if page.explains:
        facts.append(("explains", ", ".join(page.explains)))
    yield labels(facts, by=2)
    for section in page.sections:
        yield heading(section.heading)
        for block in _BLOCK.split(section.text):
            words = " ".join(block.split())
            if words.startswith("- "):
                yield indented(Hanging("-", words[2:]))
            elif words:
                yield indented(words)


def write_json(pages: Sequence[Page], to: IO[str]) -> None:
    """One object: each cause with its needs, the symptoms it explains, and its page."""
    found: list[dict[str, Any]] = [
        {
            "id": page.id,
            "title": page.title,
            "layer": page.layer,
            "summary": page.summary,
            "needs": [{"need": need, "supply": supply} for need, supply in page.needs],
            "explains": list(page.explains),
            "sections": [{"heading": s.heading, "text": s.text} for s in page.sections],
        }
        for page in pages
    ]
    json.dump({"schema": SCHEMA, "causes": found}, to, indent=1)
    to.write("\n")
