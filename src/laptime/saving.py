"""Save a run: its columns, the text of its arguments, and its documented tables, as Parquet.

The folder appears whole or not at all. Rows are written a slice at a time, so that memory stays
that of the run and one slice.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from laptime.evidence.saved import CODES, IDENTIFIERS, META, SCHEMA, file_of, is_saved
from laptime.evidence.saved_capture import Packed
from laptime.evidence.sealed import Seal, sealed
from laptime.evidence.stored import LocalFile
from laptime.explanation import Explanation
from laptime.model import parquet
from laptime.model.errors import LaptimeError, UsageError
from laptime.model.rows import SLICE_ROWS, Ints
from laptime.model.run import Run
from laptime.model.run_tables import (
    BUILDERS,
    args_slice,
    origin_ns,
    row_ints,
    row_slices,
    row_texts,
    shift_ns,
)
from laptime.model.table import Column, Table
from laptime.tables import EXPLAINED, explained_table

STRINGS = (Column("set", "int", ""), Column("code", "int", ""))
COUNTED = (Column("value", "int", ""),)
SLICED = ("rows", "args", "row_ints", "row_texts")
"""Tables that have files of their own for each timeline."""


def save(explanation: Explanation, to: str | os.PathLike[str], *, replace: bool = False) -> Path:
    """Save an explained run as the folder ``to``; ``replace`` another saved run of that name.

    Raises ``UsageError`` where the folder is there already or cannot be written.
    """
    if not isinstance(explanation, Explanation):
        raise UsageError(
            f"what is saved is an Explanation, not {type(explanation).__name__}: "
            "laptime.save(laptime.explain(...), folder)"
        )
    folder = Path(to)
    _check_free(folder, explanation.run, replace)
    making = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    try:
        making.mkdir(parents=True)
        _write(explanation, making)
        if folder.is_dir():
            shutil.rmtree(folder)
        making.rename(folder)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _check_free(folder: Path, run: Run, replace: bool) -> None:
    if not folder.name or folder.name in (".", ".."):
        raise UsageError(f"{folder}: name a folder to make, such as run.laptime")
    try:
        os.fspath(folder).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(folder).decode("utf-8", "backslashreplace")
        raise UsageError(f"{shown}: is no UTF-8 text; name another folder") from None
    if not os.path.lexists(folder):
        return
    if any(_same(folder, source) for source in run.sources):
        raise UsageError(f"{folder}: is one of the inputs and would be replaced; name another")
    if not is_saved(folder):
        raise UsageError(f"{folder}: exists and is no saved run; name another folder")
    if not replace:
        raise UsageError(f"{folder}: exists; name another folder, or give --replace")


def _same(folder: Path, source: str) -> bool:
    try:
        return os.path.samefile(folder, source)
    except (OSError, ValueError):
        return False


def _write(explanation: Explanation, folder: Path) -> None:
    run = explanation.run
    (folder / "rows").mkdir()
    (folder / "args").mkdir()
    strings = _Strings()
    with parquet.connection() as con:
        timelines = [_timeline(con, folder, run, i, strings) for i in range(len(run.timelines))]
        strings.write(con, folder / "strings.parquet")
        packed = Packed(run)
        counted = Table.of(COUNTED, {"value": packed.values})
        parquet.write(con, counted, folder / "counters.parquet")
        for name in (*EXPLAINED, *BUILDERS):
            if name not in SLICED:
                parquet.write(con, explained_table(explanation, name), folder / f"{name}.parquet")
    from laptime import __version__

    meta = {
        "schema": SCHEMA,
        "laptime": __version__,
        "origin_ns": origin_ns(run),
        "sources": _sources(run),
        "health": {
            "items": run.health.items,
            "losses": [asdict(loss) for loss in run.health.losses],
            "warnings": list(run.health.warnings),
        },
        "timelines": timelines,
        "captures": packed.facts,
    }
    text = json.dumps(sealed(meta, folder), indent=1)
    (folder / META).write_text(text, encoding="utf-8")


def _sources(run: Run) -> list[dict[str, Any]]:
    """Each file that the run was read from, with what tells whether it is still the same."""
    out = []
    for name in dict.fromkeys([*run.sources, *(t.source for t in run.timelines)]):
        entry: dict[str, Any] = {"name": name, "path": None, "identity": None}
        if os.path.isfile(name):
            try:
                entry["identity"] = asdict(LocalFile(name).identity())
                entry["path"] = os.path.realpath(name)
            except LaptimeError:
                pass
        out.append(entry)
    return out


class _Strings:
    """Sets of texts, each kept once however many timelines share it."""

    def __init__(self) -> None:
        self._number: dict[int, int] = {}
        self._sets: list[Sequence[str]] = []

    def number(self, texts: Sequence[str]) -> int:
        """The number of a set of texts."""
        if id(texts) not in self._number:
            self._number[id(texts)] = len(self._sets)
            self._sets.append(texts)
        return self._number[id(texts)]

    def write(self, con: Any, path: Path) -> None:
        """All sets, as bytes: names need not be valid Unicode."""
        sizes = [len(s) for s in self._sets]
        codes = [np.arange(n, dtype=np.int64) for n in sizes] or [np.zeros(0, dtype=np.int64)]
        table = Table.of(
            STRINGS,
            {
                "set": np.repeat(np.arange(len(sizes), dtype=np.int64), sizes),
                "code": np.concatenate(codes),
            },
        )
        texts: Ints = np.empty(sum(sizes), dtype=object)
        texts[:] = [t.encode("utf-8", "surrogatepass") for s in self._sets for t in s]
        parquet.write(con, table, path, {"text": texts})


def _timeline(con: Any, folder: Path, run: Run, number: int, strings: _Strings) -> dict[str, Any]:
    """Write one timeline's rows and arguments; what ``meta.json`` says of it."""
    timeline = run.timelines[number]
    rows = timeline.rows
    read = getattr(rows.read_args, "texts", None)
    slices = 0
    for table in row_slices(run, timeline, SLICE_ROWS):
        part = slice(slices * SLICE_ROWS, slices * SLICE_ROWS + len(table))
        extra = {at: getattr(rows, column)[part] for column, at in CODES.items()}
        path = file_of(folder, "rows", number, slices)
        parquet.write(con, table, path, {**extra, "_phase": rows.phase[part]})
        if read is not None:
            args = args_slice(timeline, part.start, part.stop)
            if len(args):
                parquet.write(con, args, file_of(folder, "args", number, slices))
        slices += 1
    ints, texts = sorted(rows.ints.items()), sorted(rows.texts.items())
    parquet.write(con, row_ints(timeline), folder / f"row_ints-{number:05d}.parquet")
    codes = [s.value for _, s in texts] or [np.zeros(0, dtype=np.int64)]
    parquet.write(
        con,
        row_texts(timeline),
        folder / f"row_texts-{number:05d}.parquet",
        {"_value": np.concatenate(codes)},
    )
    columns = (*CODES, "phase", *IDENTIFIERS)
    return {
        "id": timeline.id,
        "source": timeline.source,
        "rows": len(rows),
        "slices": slices,
        "types": {c: str(getattr(rows, c).dtype) for c in columns if getattr(rows, c) is not None},
        "shift_ns": shift_ns(run, timeline),
        "sets": {
            "names": strings.number(rows.names),
            "categories": strings.number(rows.categories),
        },
        "arguments": {
            "ints": {name: str(s.row.dtype) for name, s in ints},
            "texts": {
                name: [str(s.row.dtype), str(s.value.dtype), strings.number(s.texts)]
                for name, s in texts
            },
        },
        "has_args": read is not None,
        "lanes": [asdict(lane) for lane in timeline.lanes],
        "devices": [{**asdict(d), "properties": dict(d.properties)} for d in timeline.devices],
        "origin_ns": timeline.origin_ns,
        "epoch": timeline.epoch,
        "pid": timeline.pid,
        "rank": timeline.rank,
        "world_size": timeline.world_size,
        "host": timeline.host,
        "vendor": timeline.vendor,
        "facts": dict(timeline.facts),
    }


def saved_tables(folder: Path, meta: Mapping[str, Any]) -> dict[str, list[Path]]:
    """The Parquet files of each table of a saved run."""
    timelines, seal = meta["timelines"], Seal(folder, meta)
    found = {n: [folder / f"{n}.parquet"] for n in (*EXPLAINED, *BUILDERS) if n not in SLICED}
    for name in ("row_ints", "row_texts"):
        found[name] = [folder / f"{name}-{i:05d}.parquet" for i in range(len(timelines))]
    for name in ("rows", "args"):
        files = [
            file_of(folder, name, i, s)
            for i, t in enumerate(timelines)
            for s in range(int(t["slices"]))
        ]
        found[name] = files if name == "rows" else [f for f in files if seal.holds(f)]
    return found
