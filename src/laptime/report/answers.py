"""The answer to a query: as a table on a terminal, as JSON (``laptime.sql/1``), as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import IO, Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from laptime.model.table import Layout
from laptime.report.layout import trimmed
from laptime.report.numbers import count, visible

SCHEMA = "laptime.sql/1"

_TEXT = 16
"""Columns of a text below which a table is harder to read than a block for each row."""

Rows = Iterator[tuple[Any, ...]]
Columns = Sequence[tuple[str, str]]


def render(columns: Columns, rows: Rows, to: Console, most: int) -> None:
    """Print at most ``most`` rows as a table, and say where there are more.

    Where the columns do not fit beside each other, each row is a block with a line for each column:
    a number is never broken over lines.
    """
    shown = list(islice(rows, most + 1))
    cells = [[_cell(v) for v in row] for row in shown[:most]]
    least = _least_widths(columns, cells)
    fits = not cells or sum(least) + 2 * (len(least) - 1) <= to.width
    with trimmed(to):
        to.print(_table(columns, cells, least) if fits else _blocks(columns, cells))
        more = len(shown) > most
        said = f"the first {count(most)} rows; --rows N shows more, --json and --csv give all"
        to.print(Text(said if more else f"{count(len(shown))} rows", style="dim"))


def _least_widths(columns: Columns, cells: Sequence[Sequence[str]]) -> list[int]:
    """Columns that each column needs: its name and numbers whole, texts at least ``_TEXT``."""
    least = []
    for i, (name, kind) in enumerate(columns):
        longest = max((cell_len(row[i]) for row in cells), default=0)
        wanted = longest if _numeric(kind) else min(longest, _TEXT)
        least.append(max(cell_len(visible(name)), wanted))
    return least


def _table(columns: Columns, cells: Sequence[Sequence[str]], least: Sequence[int]) -> Table:
    table = Table(
        *(
            Column(
                visible(name),
                justify="right" if _numeric(kind) else "left",
                overflow="fold",
                min_width=width,
            )
            for (name, kind), width in zip(columns, least, strict=True)
        ),
        box=None,
        header_style="dim",
        padding=(0, 2, 0, 0),
        pad_edge=False,
    )
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _blocks(columns: Columns, cells: Sequence[Sequence[str]]) -> Table:
    table = Table.grid(Column(no_wrap=True, style="dim"), Column(overflow="fold"), padding=(0, 2))
    for i, row in enumerate(cells):
        if i:
            table.add_row()
        for (name, _), cell in zip(columns, row, strict=True):
            table.add_row(Text(visible(name)), Text(cell))
    return table


def write_json(columns: Columns, rows: Rows, to: IO[str]) -> None:
    """One JSON object, a line for each row: numbers are exact, what is missing is null."""
    heads = [{"name": name, "type": kind} for name, kind in columns]
    to.write(f'{{\n"schema": "{SCHEMA}",\n"columns": {json.dumps(heads)},\n"rows": ')
    before = "[\n"
    for row in rows:
        to.write(f"{before}  {json.dumps([plain(v) for v in row], allow_nan=False)}")
        before = ",\n"
    to.write("\n]\n}\n" if before == ",\n" else "[]\n}\n")


def write_csv(columns: Columns, rows: Rows, to: IO[str]) -> None:
    """Lines of commas; what is missing is nothing, an empty text is two quotes."""
    to.write(",".join(_csv(name) for name, _ in columns) + "\n")
    for row in rows:
        to.write(",".join(_csv(v) for v in row) + "\n")


def render_layouts(layouts: Mapping[str, Layout], to: Console) -> None:
    """Print what tables there are, with their columns, types and units."""
    with trimmed(to):
        for name, layout in layouts.items():
            to.print(Text.assemble((name, "bold"), f": {layout.meaning}"))
            table = Table(
                Column(no_wrap=True), Column(no_wrap=True), Column(overflow="fold"), box=None,
                show_header=False, padding=(0, 2, 0, 2),
            )  # fmt: skip
            for c in layout.columns:
                kind = f"{c.type}{f' {c.unit}' if c.unit else ''}{' null' if c.nullable else ''}"
                table.add_row(Text(c.name), Text(kind, style="dim"), Text(c.meaning))
            to.print(table)


def write_layouts(layouts: Mapping[str, Layout], to: IO[str]) -> None:
    """The same as one JSON object."""
    told = {
        name: {
            "meaning": layout.meaning,
            "columns": [
                {
                    "name": c.name,
                    "type": c.type,
                    "unit": c.unit,
                    "nullable": c.nullable,
                    "meaning": c.meaning,
                }
                for c in layout.columns
            ],
        }
        for name, layout in layouts.items()
    }
    to.write(json.dumps({"schema": "laptime.tables/1", "tables": told}, indent=1) + "\n")


def _numeric(kind: str) -> bool:
    return kind.endswith("INT") or kind.startswith(("DECIMAL", "DOUBLE", "FLOAT", "INTEGER"))


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    return f"{value:.6g}" if isinstance(value, float) else visible(str(value))


def plain(value: Any) -> Any:
    """A value of an answer as JSON holds it: exact, what is missing as null."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Decimal):
        number = float(value)
        return number if math.isfinite(number) else str(number)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.hex() if isinstance(value, bytes) else str(value)


def _csv(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping | list | tuple):
        value = json.dumps(plain(value))
    text = str(value)
    if text == "" or any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
