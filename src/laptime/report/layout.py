"""Pieces that every text report is laid out of: headings, labels with hanging text, consoles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

WIDE = 110
"""Columns from which names stand beside their figures."""

NARROW = 60
"""Columns below which tables leave out what they can."""


def console(stream: IO[str], width: int | None = None) -> Console:
    """A console that shows text as it is: no markup, no emoji codes, no guessed highlighting.

    Colour only where the stream is a terminal and NO_COLOR is not set (Rich's own rule).
    """
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


@contextmanager
def trimmed(to: Console) -> Iterator[None]:
    """Lines without blanks at their ends in a pipe or file, where Rich's filling is noise."""
    if to.is_terminal:
        yield
        return
    with to.capture() as captured:
        yield
    to.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().split("\n")[:-1]))


def heading(title: str, note: str = "") -> RenderableType:
    """A blank line, a title, and what qualifies it."""
    text = Text(title, style="bold")
    if note:
        text.append(f"  {note}", style="not bold dim")
    return Group(Text(), text)


def indented(text: str | RenderableType, by: int = 2) -> Padding:
    """Text wrapped behind a margin."""
    return Padding(Text(text) if isinstance(text, str) else text, (0, 0, 0, by))


@dataclass(frozen=True)
class Hanging:
    """``label text`` with the text wrapped beside its label; where the label would take more than
    a third of the width, behind a margin below it instead."""

    label: str
    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Lay out for the width there is."""
        label = Text(f"{self.label} ", style=self.style or "dim")
        if label.cell_len <= options.max_width // 3:
            grid = Table.grid(Column(no_wrap=True), Column(overflow="fold"), padding=(0, 0))
            grid.add_row(label, Text(self.text, style=self.style))
            yield grid
            return
        whole = Text.assemble(label, Text(self.text, style=self.style))
        lines = whole.wrap(console, max(1, options.max_width - 2))
        for at, line in enumerate(lines):
            line.rstrip()
            yield Padding(line, (0, 0, 0, 2 if at else 0))


def labelled(label: str, text: str, by: int = 4, style: str = "") -> Padding:
    """``label  text`` behind a margin."""
    return Padding(Hanging(label, text, style), (0, 0, 0, by))


def labels(rows: Sequence[tuple[str, str]], by: int) -> Padding:
    """Several labels with their texts in one column."""
    grid = Table.grid(
        Column(no_wrap=True, style="dim"), Column(overflow="fold"), padding=(0, 2, 0, 0)
    )
    before = ""
    for label, text in rows:
        grid.add_row(label if label != before else "", Text(text))
        before = label
    return Padding(grid, (0, 0, 0, by))
