"""SQL for other programs: the documented tables, and one SELECT over a run, bounded in size."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

from laptime.evidence.saved import is_saved
from laptime.mcp.answers import BYTES, text
from laptime.mcp.results import SqlAnswer, TableColumn, TableLayout, TablesAnswer
from laptime.mcp.runs import Asked, Runs
from laptime.querying import Limits, asked
from laptime.report.answers import plain
from laptime.tables import LAYOUTS

SECONDS = 60.0
"""A query that takes longer is stopped: nobody can press Ctrl-C."""


def tables_answer() -> TablesAnswer:
    """Every table with its columns, their types, units and meanings."""
    return TablesAnswer(
        [
            TableLayout(
                name,
                layout.meaning,
                [
                    TableColumn(
                        c.name,
                        f"{c.type}{f' {c.unit}' if c.unit else ''}{' or null' * c.nullable}",
                        c.meaning,
                    )
                    for c in layout.columns
                ],
            )
            for name, layout in LAYOUTS.items()
        ]
    )


def sql_answer(runs: Runs, path: str, query: str, most: int) -> SqlAnswer:
    """The first ``most`` rows, fewer where they are long. Raises as ``laptime.sql`` does."""
    real = runs.local(path)
    # A saved run is read where it lies; of a trace the remembered explanation has the tables.
    where = real if is_saved(real) else runs.explanation(Asked((path,)))
    with asked(where, query, Limits(timeout_s=SECONDS)) as answer:
        columns = [TableColumn(text(name, 200), kind) for name, kind in answer.columns]
        rows: list[list[Any]] = []
        size, more = 0, False
        for row in islice(answer.rows, most + 1):
            cells = [_cell(v) for v in row]
            size += len(json.dumps(cells))
            more = len(rows) == most or size > BYTES
            if more:
                break
            rows.append(cells)
        return SqlAnswer(columns, rows, more, [text(n) for n in answer.notes])


def _cell(value: Any) -> Any:
    shown = plain(value)
    if isinstance(shown, str):
        return text(shown)
    if isinstance(shown, dict | list):
        return text(json.dumps(shown))
    return shown
