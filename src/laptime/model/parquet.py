"""Tables to Parquet files and back, through DuckDB (imported when first used).

Only ``laptime.querying`` uses its connections; no object of DuckDB goes further.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from laptime.model.errors import UnreadableInput, UsageError
from laptime.model.table import Table, Type, Values

SQL_TYPES = {"int": "BIGINT", "float": "DOUBLE", "text": "VARCHAR", "bool": "BOOLEAN"}

SAFE: Mapping[str, str] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
}
"""No extension is installed or loaded, no Python variable is read, nothing is spilled."""


def engine() -> Any:
    """DuckDB. Raises ``UsageError`` where it is not installed."""
    try:
        import duckdb
    except ImportError:
        raise UsageError("duckdb is not installed: pip install duckdb") from None
    return duckdb


def connection(**settings: str) -> Any:
    """A connection to an empty database in memory, with ``SAFE`` and further settings."""
    return engine().connect(":memory:", config={**SAFE, **settings})


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def named(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def load(con: Any, table: Table, into: str, extra: Mapping[str, Values] | None = None) -> None:
    """Append a table to ``into`` of a connection, which is created if it is not there.

    ``extra``: integer columns beside the table's own.
    """
    select = _registered(con, table, extra or {})
    con.execute(f"CREATE TABLE IF NOT EXISTS {named(into)} AS {select} LIMIT 0")
    con.execute(f"INSERT INTO {named(into)} {select}")
    con.unregister("arrays")


def write(con: Any, table: Table, path: Path, extra: Mapping[str, Values] | None = None) -> None:
    """Write a table, and integer columns beside it, to a Parquet file.

    Raises ``UsageError`` where it cannot be written.
    """
    duckdb = engine()
    select = _registered(con, table, extra or {})
    try:
        con.execute(
            f"COPY ({select}) TO {quoted(os.fspath(path))} (FORMAT parquet, COMPRESSION zstd)"
        )
    except duckdb.Error as error:
        raise UsageError(f"{path}: cannot be written: {one_line(error)}") from None
    finally:
        con.unregister("arrays")


def _registered(con: Any, table: Table, extra: Mapping[str, Values]) -> str:
    """Make a table's arrays known as ``arrays``; the SELECT that gives its columns."""
    arrays: dict[str, Values] = {}
    parts = []
    for i, column in enumerate(table.described):
        values = table[column.name]
        if column.type == "text":
            # Lone surrogates have no UTF-8: shown as the replacement character.
            arrays[f"c{i}"] = _encodable(values)
            expression = f"c{i}"
        else:
            arrays[f"c{i}"] = np.ma.getdata(values)
            expression = f"c{i}"
            if column.nullable:
                arrays[f"m{i}"] = np.ma.getmaskarray(values)
                expression = f"CASE WHEN m{i} THEN NULL ELSE c{i} END"
        parts.append(f"CAST({expression} AS {SQL_TYPES[column.type]}) AS {named(column.name)}")
    for i, (name, values) in enumerate(extra.items()):
        arrays[f"x{i}"] = values
        parts.append(f"x{i} AS {named(name)}")
    con.register("arrays", arrays)
    return f"SELECT {', '.join(parts)} FROM arrays"


def _encodable(values: Values) -> Values:
    try:
        "".join(v for v in values if v is not None).encode()
    except UnicodeEncodeError:
        out: Values = np.empty(len(values), dtype=object)
        out[:] = [
            None if v is None else v.encode("utf-8", "replace").decode() for v in values.tolist()
        ]
        return out
    return values


def read(paths: Sequence[Path], columns: Iterable[str]) -> dict[str, Values]:
    """Columns of Parquet files, one file after another, rows in their order.

    Numbers where nothing is null come as plain arrays, others masked. Raises ``UnreadableInput``
    where a file is missing or damaged.
    """
    listed = ", ".join(quoted(os.fspath(p)) for p in paths)
    wanted = ", ".join(named(c) for c in columns)
    found: dict[str, Values] = fetched(
        f"SELECT {wanted} FROM read_parquet([{listed}])", os.path.dirname(paths[0])
    )
    return found


def fetched(sql: str, where: str, **arrays: Values) -> dict[str, Values]:
    """The arrays of a SELECT over files of a saved run named ``where`` (for the error)."""
    duckdb = engine()
    try:
        sql.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(where).decode("utf-8", "backslashreplace")
        raise UnreadableInput(
            f"{shown}: a saved run whose path is no UTF-8 text; rename the folder"
        ) from None
    with connection() as con:
        try:
            if arrays:
                con.register("arrays", arrays)
            found: dict[str, Values] = con.execute(sql).fetchnumpy()
            return found
        except duckdb.Error as error:
            raise UnreadableInput(
                f"{where}: is damaged: {one_line(error)}; save the run again"
            ) from None


def one_line(error: BaseException) -> str:
    """The first line of an engine's error, without its kind."""
    text = str(error).strip().split("\n")[0]
    return text.split("Error: ", 1)[-1][:300]


def type_of(kind: str) -> Type:
    """A column's type from the engine's own."""
    if kind == "BOOLEAN":
        return "bool"
    if kind in _INTEGERS:
        return "int"
    return "float" if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL") else "text"


_INTEGERS = frozenset(
    sign + kind
    for sign in ("", "U")
    for kind in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
