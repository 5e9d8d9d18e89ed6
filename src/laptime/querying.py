"""SQL over a run's documented tables, saved or not, in a connection that can do nothing else.

The query is one SELECT. The connection reads the saved run's own files and no other, writes
nothing, installs and loads nothing, sees no Python variable, and its settings cannot be changed;
memory and time are limited. Larger intermediate results go to a temporary folder, deleted at the
end, unless that is forbidden.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laptime.evidence.format import Progress
from laptime.evidence.registry import open_run
from laptime.evidence.saved import META, changed, is_saved, meta_of
from laptime.evidence.sealed import Seal
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from laptime.model import parquet
from laptime.model.errors import LaptimeError, UnreadableInput, UsageError
from laptime.model.run import Run
from laptime.model.run_tables import row_slices
from laptime.model.table import Column, Layout, Table
from laptime.saving import saved_tables
from laptime.tables import EXPLAINED, LAYOUTS, explained_table

MEMORY = "2GB"
TIMEOUT_S = 300.0
_BATCH = 4096


@dataclass(frozen=True)
class Limits:
    """What a query may use: memory ("2GB"), seconds, and whether it may spill to disk."""

    memory: str = MEMORY
    timeout_s: float = TIMEOUT_S
    spill: bool = True

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[1-9]\d{0,6}(\.\d+)?\s*([KMGT]i?B)", self.memory, re.IGNORECASE):
            raise UsageError(f"memory {self.memory!r}: give a number and a unit, such as 2GB")
        if not 0 < self.timeout_s <= 1e6:
            raise UsageError(f"timeout {self.timeout_s:g}: give seconds, more than 0")


@dataclass(frozen=True)
class Answer:
    """What a query gave: columns (name, engine's type), and the rows, to be read once."""

    columns: Sequence[tuple[str, str]]
    rows: Iterator[tuple[Any, ...]]
    notes: Sequence[str] = ()


def sql(
    where: str | os.PathLike[str] | Run | Explanation,
    query: str,
    *,
    memory: str = MEMORY,
    timeout_s: float = TIMEOUT_S,
    spill: bool = True,
) -> Table:
    """One SELECT over a saved run, a trace, a run or an explanation, as a ``Table``.

    Raises ``UsageError`` for a query that is refused, fails, or passes its limits.
    """
    with asked(where, query, Limits(memory, timeout_s, spill)) as answer:
        columns = _columns(answer.columns)
        rows = [
            tuple(_plain(v, c) for v, c in zip(row, columns, strict=True)) for row in answer.rows
        ]
    return Table.from_rows(columns, rows)


@contextmanager
def asked(
    where: str | os.PathLike[str] | Run | Explanation,
    query: str,
    limits: Limits,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """The answer to one SELECT, readable inside the ``with``. Raises as ``sql`` does."""
    duckdb = parquet.engine()
    folder = tempfile.mkdtemp(prefix="laptime-sql-") if limits.spill else None
    timer: threading.Timer | None = None
    late = threading.Event()
    try:
        with parquet.connection(memory_limit=limits.memory, temp_directory=folder or "") as con:
            _one_select(con, query)
            notes: list[str] = []
            try:
                notes = _attach(con, where, query, progress)
                con.execute("SET enable_external_access = false")
                con.execute("SET lock_configuration = true")

                def stop() -> None:
                    late.set()
                    con.interrupt()

                timer = threading.Timer(limits.timeout_s, stop)
                timer.daemon = True
                timer.start()
                con.execute(query)
                columns = [(d[0], str(d[1])) for d in con.description]
                yield Answer(columns, _rows(con), notes)
            except duckdb.Error as error:
                raise _said(error, late.is_set(), limits) from None
    finally:
        if timer is not None:
            timer.cancel()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _one_select(con: Any, query: str) -> None:
    """Raise unless the query is one SELECT (which DESCRIBE, SHOW and SUMMARIZE are too)."""
    try:
        query.encode()
    except UnicodeEncodeError:
        raise UsageError("sql: the query is not UTF-8 text") from None
    try:
        statements = con.extract_statements(query)
    except parquet.engine().Error as error:
        raise UsageError(f"sql: {parquet.one_line(error)}") from None
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        kinds = ", ".join(s.type.name for s in statements) or "nothing"
        raise UsageError(f"sql: one SELECT is answered, and nothing else; this is {kinds}")


def _attach(
    con: Any, where: str | os.PathLike[str] | Run | Explanation, query: str, progress: Any
) -> list[str]:
    """Make the run's tables known; notes on what they are of."""
    if isinstance(where, str | os.PathLike):
        folder = Path(where)
        folder = folder.parent if folder.name == META else folder
        if is_saved(folder):
            return _attach_saved(con, folder, query)
        where = open_run([where], progress=progress)
    wanted = _named(query)
    if isinstance(where, Run) and any(n in EXPLAINED for n in wanted):
        where = explanation_of(where)
    run = where.run if isinstance(where, Explanation) else where
    for name in wanted:
        if name == "rows" and run.timelines:
            tables: Iterable[Table] = (s for t in run.timelines for s in row_slices(run, t))
        elif isinstance(where, Explanation):
            tables = [explained_table(where, name)]
        else:
            tables = [run.table(name)]
        con.execute(f"CREATE TABLE {parquet.named(name)} ({_declared(LAYOUTS[name])})")
        for table in tables:
            parquet.load(con, table, name)
    return []


def _attach_saved(con: Any, folder: Path, query: str) -> list[str]:
    from laptime import __version__

    meta = meta_of(folder)
    allowed: list[str] = []
    unreadable: list[str] = []
    wanted, seal = set(_named(query)), Seal(folder, meta)
    try:
        tables = saved_tables(folder, meta)
    except (LookupError, TypeError, ValueError, AttributeError):
        raise UnreadableInput(
            f"{folder}: is damaged: {META} lacks what it must hold; save the run again"
        ) from None
    for name, files in tables.items():
        if name in wanted:
            seal.check(files)
        layout = LAYOUTS[name]
        view = f"CREATE VIEW {parquet.named(name)} AS SELECT"
        if not files:
            nulls = ", ".join(
                f"NULL::{_type(c)} AS {parquet.named(c.name)}" for c in layout.columns
            )
            con.execute(f"{view} {nulls} WHERE false")
            continue
        paths = [os.path.abspath(f) for f in files]
        allowed += paths
        listed = ", ".join(parquet.quoted(p) for p in paths)
        columns = ", ".join(parquet.named(c.name) for c in layout.columns)
        try:
            con.execute(f"{view} {columns} FROM read_parquet([{listed}])")
        except parquet.engine().Error as error:
            unreadable.append(f"{folder}: table {name} is damaged: {parquet.one_line(error)}")
            if name in wanted:
                raise UnreadableInput(f"{unreadable[-1]}; save the run again") from None
    con.execute(f"SET allowed_paths = [{', '.join(parquet.quoted(p) for p in allowed)}]")
    notes = unreadable + changed(meta["sources"])
    if meta.get("laptime") != __version__:
        notes.append(
            f"{folder}: its tables are those of laptime {meta.get('laptime')}; save it again for "
            f"those of {__version__}"
        )
    return notes


def _named(query: str) -> list[str]:
    """The tables that a query may read, by their names in its text."""
    if re.search(r"\bquery(_table)?\b", query, re.IGNORECASE):
        return list(LAYOUTS)  # functions that put a name together
    return [n for n in LAYOUTS if re.search(rf"\b{n}\b", query, re.IGNORECASE)]


def _declared(layout: Layout) -> str:
    return ", ".join(f"{parquet.named(c.name)} {_type(c)}" for c in layout.columns)


def _type(column: Column) -> str:
    return parquet.SQL_TYPES[column.type]


def _rows(con: Any) -> Iterator[tuple[Any, ...]]:
    while batch := con.fetchmany(_BATCH):
        yield from batch


def _said(error: BaseException, late: bool, limits: Limits) -> LaptimeError:
    """An engine's error as one line that names the mend."""
    duckdb = parquet.engine()
    line = parquet.one_line(error)
    if late:
        return UsageError(
            f"sql: stopped after {limits.timeout_s:g} s; ask for less, or allow more (--timeout)"
        )
    if isinstance(error, duckdb.OutOfMemoryException):
        return UsageError(
            f"sql: needs more than {limits.memory} of memory; ask for less, allow more "
            "(--memory), or save the run first (laptime save)"
        )
    if isinstance(error, duckdb.CatalogException) and "Table with name" in line:
        return UsageError(f"sql: {line}; tables: {', '.join(LAYOUTS)}")
    return UsageError(f"sql: {line}")


def _columns(described: Sequence[tuple[str, str]]) -> list[Column]:
    """Columns of an answer; a name that comes twice gets a number."""
    out: list[Column] = []
    taken: set[str] = set()
    for name, kind in described:
        n, free = 1, name
        while free in taken:
            n += 1
            free = f"{name}_{n}"
        taken.add(free)
        out.append(Column(free, parquet.type_of(kind), "", nullable=True))
    return out


def _plain(value: Any, column: Column) -> Any:
    if value is None:
        return None
    if column.type == "float":
        return float(value)
    return str(value) if column.type == "text" else value
