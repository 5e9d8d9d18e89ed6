"""Saved runs: a folder of Parquet files that ``laptime save`` wrote, read column by column.

``meta.json`` says what the folder holds; columns are read when they are first asked for, so that
a run opens in milliseconds whatever its size. The source that it was saved from is not needed;
where it is still there but has changed, that is said.

Files: ``rows/T-S.parquet`` (slice S of timeline T: the documented table, and the codes of names,
categories, kinds and lanes), ``args/T-S.parquet`` (argument text by row), ``row_ints-T.parquet``,
``row_texts-T.parquet``, ``strings.parquet`` (texts by set and code), ``counters.parquet``, and one
file for each further table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from laptime.evidence.argtext import parsed_args
from laptime.evidence.format import Match, Progress
from laptime.evidence.saved_capture import Unpacked
from laptime.evidence.sealed import Seal, check_meta
from laptime.evidence.stored import Identity, LocalFile
from laptime.model import parquet
from laptime.model.errors import LaptimeError, UnreadableInput
from laptime.model.health import Health, Loss
from laptime.model.rows import ABSENT_DUR, I64, Ints, Kind, Mask, Rows, SparseInts, SparseTexts
from laptime.model.run import Device, Lane, Part, Timeline

if TYPE_CHECKING:
    from laptime.evidence.source import Source

SCHEMA = "laptime.run/1"
META = "meta.json"
_MOST_META_BYTES = 1 << 30

IDENTIFIERS = ("correlation", "external_id", "python_id", "python_parent")
CODES = {"name": "_name", "category": "_category", "kind": "_kind", "lane": "_lane"}
"""Columns that index something, and where the rows' files keep them; ``phase`` is ``_phase``."""


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is a saved run."""
    try:
        with open(os.path.join(path, META), "rb") as file:
            return _marked(file.read(256))
    except (OSError, ValueError):
        return False


def _marked(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"laptime.run/' in head[:256]


def file_of(folder: Path, kind: str, timeline: int, slice_number: int) -> Path:
    """The file of one slice of ``rows`` or ``args``."""
    return folder / kind / f"{timeline:05d}-{slice_number:05d}.parquet"


class SavedRows(Rows):
    """Rows whose columns are read from the folder when they are first used."""

    def __init__(self, folder: Path, number: int, facts: Mapping[str, Any], seal: Seal) -> None:
        self._folder = folder
        self._seal = seal
        self._number = number
        self._rows = int(facts["rows"])
        self._slices = int(facts["slices"])
        self._types: Mapping[str, str] = facts["types"]
        self._shift = int(facts["shift_ns"])
        self._sets: Mapping[str, int] = facts["sets"]
        self._arguments: Mapping[str, Any] = facts["arguments"]
        self._lanes = len(facts["lanes"])
        self._like = {}
        self.read_args = (
            SavedArgs(folder, number, self._slices, seal) if facts["has_args"] else None
        )

    def __len__(self) -> int:
        return self._rows

    def _read(self, column: str) -> Ints:
        """One column of every slice, in order."""
        if self._rows == 0:
            return np.zeros(0, dtype=np.int64)
        files = [file_of(self._folder, "rows", self._number, i) for i in range(self._slices)]
        self._seal.check(files)
        values: Ints = parquet.read(files, [column])[column]
        if len(values) != self._rows:
            raise self._damaged(f"{len(values)} rows where {self._rows} were saved")
        return values

    def _damaged(self, what: str) -> UnreadableInput:
        return UnreadableInput(f"{self._folder}: is damaged: {what}; save the run again")

    def _code(self, column: str, most: int) -> Ints:
        """A column that indexes ``most`` things, in the type that it was read with."""
        values = np.ma.getdata(self._read(CODES[column]))
        if len(values) and not (int(values.min()) >= 0 and int(values.max()) < most):
            raise self._damaged(f"column {column} points outside what it names")
        out: Ints = values.astype(self._types[column], copy=False)
        return out

    def _identifier(self, column: str) -> Ints | None:
        if column not in self._types:
            return None
        dtype = np.dtype(self._types[column])
        values = self._read(column)
        out: Ints = np.ma.getdata(values).astype(dtype)
        out[np.ma.getmaskarray(values)] = np.iinfo(dtype).max
        return out

    def _strings(self, number: int) -> list[str]:
        self._seal.check([self._folder / "strings.parquet"])
        found = parquet.fetched(
            "SELECT text FROM read_parquet("
            f"{parquet.quoted(os.fspath(self._folder / 'strings.parquet'))}) "
            f'WHERE "set" = {int(number)} ORDER BY code',
            os.fspath(self._folder),
        )["text"]
        return [bytes(t).decode("utf-8", "surrogatepass") for t in found.tolist()]

    # The fields of Rows, read when first used: a cached property gives way to what it read.

    @cached_property
    def start_ns(self) -> I64:  # type: ignore[override]
        """Start, in the timeline's own clock."""
        start: I64 = np.ma.getdata(self._read("start_ns")).astype(np.int64)
        start -= self._shift
        return start

    @cached_property
    def dur_ns(self) -> I64:  # type: ignore[override]
        """Duration."""
        values = self._read("dur_ns")
        dur: I64 = np.ma.getdata(values).astype(np.int64)
        dur[np.ma.getmaskarray(values)] = ABSENT_DUR
        return dur

    @cached_property
    def names(self) -> Sequence[str]:  # type: ignore[override]
        """Distinct names."""
        return self._strings(self._sets["names"])

    @cached_property
    def categories(self) -> Sequence[str]:  # type: ignore[override]
        """Distinct categories."""
        return self._strings(self._sets["categories"])

    @cached_property
    def name(self) -> Ints:  # type: ignore[override]
        """Index into ``names``."""
        return self._code("name", len(self.names))

    @cached_property
    def category(self) -> Ints:  # type: ignore[override]
        """Index into ``categories``."""
        return self._code("category", len(self.categories))

    @cached_property
    def kind(self) -> Ints:  # type: ignore[override]
        """``Kind``."""
        return self._code("kind", len(Kind))

    @cached_property
    def lane(self) -> Ints:  # type: ignore[override]
        """Index into the timeline's lanes."""
        return self._code("lane", self._lanes)

    @cached_property
    def phase(self) -> Ints:  # type: ignore[override]
        """The phase letter's byte."""
        phase: Ints = np.ma.getdata(self._read("_phase")).astype(self._types["phase"])
        return phase

    @cached_property
    def correlation(self) -> Ints | None:  # type: ignore[override]
        """Correlation ids."""
        return self._identifier("correlation")

    @cached_property
    def external_id(self) -> Ints | None:  # type: ignore[override]
        """External ids."""
        return self._identifier("external_id")

    @cached_property
    def python_id(self) -> Ints | None:  # type: ignore[override]
        """Ids of Python frames."""
        return self._identifier("python_id")

    @cached_property
    def python_parent(self) -> Ints | None:  # type: ignore[override]
        """Ids of callers."""
        return self._identifier("python_parent")

    @cached_property
    def ints(self) -> dict[str, SparseInts]:  # type: ignore[override]
        """Integer arguments."""
        table = self._sparse("row_ints", "value")
        out = {}
        for name, dtype in self._arguments["ints"].items():
            pick = table["argument"] == name
            out[name] = SparseInts(
                self._some_rows(table["row"][pick], dtype), table["value"][pick].astype(np.int64)
            )
        return out

    @cached_property
    def texts(self) -> dict[str, SparseTexts]:  # type: ignore[override]
        """Text arguments."""
        table = self._sparse("row_texts", "_value")
        texts: dict[int, list[str]] = {}
        out = {}
        for name, (dtype, code_type, number) in self._arguments["texts"].items():
            if number not in texts:
                texts[number] = self._strings(number)
            pick = table["argument"] == name
            codes = table["_value"][pick]
            if len(codes) and not (int(codes.min()) >= 0 and int(codes.max()) < len(texts[number])):
                raise self._damaged(f"argument {name} points outside its texts")
            row = self._some_rows(table["row"][pick], dtype)
            out[name] = SparseTexts(row, codes.astype(code_type), texts[number])
        return out

    def _sparse(self, kind: str, value: str) -> dict[str, Any]:
        path = self._folder / f"{kind}-{self._number:05d}.parquet"
        self._seal.check([path])
        found = parquet.read([path], ["row", "argument", value])
        return {name: np.ma.getdata(values) for name, values in found.items()}

    def _some_rows(self, rows: Ints, dtype: str) -> Ints:
        steps: Mask = np.diff(rows) < 0
        if len(rows) and (rows[0] < 0 or rows[-1] >= self._rows or bool(steps.any())):
            raise self._damaged("arguments of rows that are not there")
        out: Ints = rows.astype(dtype)
        return out


class SavedArgs:
    """Reads the kept argument text of given rows; can be called as ``Rows.read_args``."""

    def __init__(self, folder: Path, number: int, slices: int, seal: Seal) -> None:
        self._folder = folder
        self._seal = seal
        self._number = number
        self._slices = slices

    def __call__(self, rows: Ints) -> list[dict[str, Any] | None]:
        """Arguments of ``rows``, in their order; None where there are none."""
        return [None if text is None else parsed_args(text) for text in self.texts(rows)]

    def texts(self, rows: Ints) -> list[bytes | None]:
        """Argument text of ``rows``, in their order."""
        rows = np.asarray(rows, dtype=np.int64)
        files = [file_of(self._folder, "args", self._number, i) for i in range(self._slices)]
        files = [f for f in files if self._seal.holds(f)]
        out: list[bytes | None] = [None] * len(rows)
        if not files or len(rows) == 0:
            return out
        self._seal.check(files)
        listed = ", ".join(parquet.quoted(os.fspath(f)) for f in files)
        found = parquet.fetched(
            f'SELECT "row", args FROM read_parquet([{listed}]) SEMI JOIN arrays USING ("row") '
            f'WHERE "row" BETWEEN {int(rows.min())} AND {int(rows.max())}',
            os.fspath(self._folder),
            row=np.unique(rows),
        )
        text = dict(zip(found["row"].tolist(), found["args"].tolist(), strict=True))
        for i, row in enumerate(rows.tolist()):
            if (known := text.get(row)) is not None:
                out[i] = known.encode()
        return out


class SavedRun:
    """The folder that ``laptime save`` writes, told by the first bytes of its ``meta.json``."""

    id = "saved"
    title = "saved run (a folder written by laptime save)"

    def sniff(self, head: bytes, name: str) -> Match:
        """Recognise the text of ``meta.json``."""
        if _marked(head):
            return Match(1.0, "says that it is a saved run")
        return Match(0.0, "does not say that it is a saved run")

    def read(self, source: Source, progress: Progress | None) -> Part:
        """Read ``meta.json``; everything else is read when it is asked for."""
        path = Path(source.name)
        folder = path.parent
        if not path.is_file():
            raise UnreadableInput(
                f"{source.name}: a saved run is read from a folder of this machine"
            )
        if (source.total_bytes or 0) > _MOST_META_BYTES:
            raise UnreadableInput(f"{folder}: is damaged: {META} is too long; save the run again")
        meta = meta_of(folder)
        try:
            seal = Seal(folder, meta)
            timelines = [
                _timeline(folder, i, facts, seal) for i, facts in enumerate(meta["timelines"])
            ]
            counted = _captures(folder, meta["captures"], seal)
            for timeline, captured in zip(timelines, counted.timelines, strict=True):
                timeline.capture = captured
            said = meta["health"]
            losses = [Loss(**loss) for loss in said["losses"]]
            health = Health(int(said["items"]), losses, [str(w) for w in said["warnings"]])
            health.warnings += changed(meta["sources"])
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
            raise UnreadableInput(
                f"{folder}: is damaged: {META} lacks what it must hold; save the run again"
            ) from None
        name = os.fspath(folder)
        return Part(name, self.id, timelines, health, captures=counted.captures)


def meta_of(folder: Path) -> dict[str, Any]:
    """What ``meta.json`` says. Raises ``UnreadableInput`` where it is damaged or of another day."""
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise UnreadableInput(
            f"{folder}: is damaged: {META} cannot be read; save the run again"
        ) from None
    schema = meta.get("schema") if isinstance(meta, dict) else None
    if schema != SCHEMA:
        raise UnreadableInput(
            f"{folder}: was saved as {str(schema)[:40]}, and this version reads {SCHEMA}; save the "
            "run again"
        )
    check_meta(folder, meta)
    found: dict[str, Any] = meta
    return found


def _timeline(folder: Path, number: int, facts: Mapping[str, Any], seal: Seal) -> Timeline:
    return Timeline(
        id=facts["id"],
        source=facts["source"],
        rows=SavedRows(folder, number, facts, seal),
        lanes=[Lane(**lane) for lane in facts["lanes"]],
        devices=[Device(**device) for device in facts["devices"]],
        origin_ns=int(facts["origin_ns"]),
        **{k: facts[k] for k in ("epoch", "pid", "rank", "world_size", "host", "vendor", "facts")},
    )


def _captures(folder: Path, facts: Mapping[str, Any], seal: Seal) -> Unpacked:
    """The counters; their file is only opened where there are any."""
    values: Ints = np.zeros(0, dtype=np.int64)
    if facts["runs"]:
        seal.check([folder / "counters.parquet"])
        values = np.ma.getdata(parquet.read([folder / "counters.parquet"], ["value"])["value"])
    return Unpacked(facts, values)


def changed(sources: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each source that is still there and is no longer what was saved."""
    found = []
    for source in sources:
        path, was = source.get("path"), source.get("identity")
        if not path or not was or not os.path.isfile(path):
            continue
        try:
            now = LocalFile(path).identity()
        except LaptimeError:
            continue
        if not Identity(**was).same_as(now):
            found.append(
                f"{source['name']}: has changed since this run was saved from it; the saved run "
                "holds the earlier file"
            )
    return found


FORMAT = SavedRun()
