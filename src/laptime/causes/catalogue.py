"""The catalogue: each cause's page, read from its class docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass

from laptime.causes.case import SUPPLY, Cause
from laptime.causes.registry import causes
from laptime.ledger.near import near
from laptime.model.errors import UsageError

HEADINGS = (
    "What it is",
    "How it shows",
    "Why it costs",
    "How the gain is predicted",
    "What is not flagged",
    "Must not flag",
)
"""Headings that each page has, in this order."""


@dataclass(frozen=True)
class Section:
    """A headed part of a page. ``text`` without the docstring's indent; code in backquotes."""

    heading: str
    text: str


@dataclass(frozen=True)
class Page:
    """One cause of the catalogue. ``summary`` is the first line of its docstring; ``needs`` pairs
    each need with what supplies it; ``explains`` are the symptoms that it silences."""

    id: str
    title: str
    layer: str
    summary: str
    needs: Sequence[tuple[str, str]]
    explains: Sequence[str]
    sections: Sequence[Section]


def pages() -> list[Page]:
    """Every cause's page, by id."""
    return [page_of(cause) for cause in causes()]


def page_named(cause_id: str) -> Page:
    """One cause's page. Raises ``UsageError`` for an id that no cause has."""
    found = {page.id: page for page in pages()}
    if cause_id in found:
        return found[cause_id]
    close = near(cause_id, found)
    hint = f"near it: {', '.join(close)}" if close else "laptime causes lists them"
    raise UsageError(f"{cause_id[:80]!r} is no cause; {hint}")


def page_of(cause: Cause) -> Page:
    """The page that a cause's docstring makes."""
    summary, _, body = inspect.cleandoc(type(cause).__doc__ or "").partition("\n")
    sections = []
    for part in re.split(r"\n(?=\S)", body.strip("\n")):
        head, _, text = part.partition("\n")
        if head.strip():
            sections.append(Section(head.strip(), _plain(text)))
    return Page(
        id=cause.id,
        title=cause.title,
        layer=cause.layer,
        summary=_plain(summary),
        needs=tuple((need.value, SUPPLY[need]) for need in cause.needs),
        explains=tuple(cause.silences),
        sections=tuple(sections),
    )


def _plain(text: str) -> str:
    """Without the indent, double backquotes as single ones."""
    return inspect.cleandoc("\n" + text).replace("``", "`")
