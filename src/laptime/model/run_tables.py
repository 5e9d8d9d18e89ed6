"""Documented tables of a run as it was read: rows, timelines, lanes, devices, health, losses.

``start_ns`` of every table is relative to one origin, the earliest ``origin_ns`` of the run's
timelines (table ``timelines``), so that tables can be joined and times of ranks compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from laptime.model.errors import CannotTell, UsageError
from laptime.model.rows import SLICE_ROWS, Ints, Kind, present
from laptime.model.run import Run, Timeline
from laptime.model.table import Column, Layout, Table, concatenated

TIMELINE = Column("timeline", "text", "Id of the process's timeline (table timelines).")
RANK = Column("rank", "int", "Rank label; null where the evidence does not tell.", True)
START = Column("start_ns", "int", "Start, after the run's origin (table timelines).")

ROWS = Layout(
    "rows",
    "Every event of the evidence, in file order.",
    (
        TIMELINE,
        Column("row", "int", "Number of the row in its timeline, from 0."),
        RANK,
        START,
        Column("dur_ns", "int", "Duration; null where the evidence gives none.", True),
        Column("name", "text", "Name as recorded."),
        Column("kind", "text", "What it is, under one word for every vendor and year."),
        Column("category", "text", "The evidence's own category."),
        Column("lane", "int", "Number of its lane in the timeline (table lanes)."),
        Column("pid", "text", "Process of a host row; null on a device.", True),
        Column("thread", "text", "Thread of a host row; null on a device.", True),
        Column("device", "text", "Device of a device row (table devices).", True),
        Column("stream", "int", "Stream of a device row.", True),
        Column("correlation", "int", "Ties a launch call to its device work.", True),
        Column("external_id", "int", "Ties an operator to its launch calls.", True),
        Column("python_id", "int", "Id of a Python frame.", True),
        Column("python_parent", "int", "Id of the frame that called it.", True),
    ),
)
ROW_INTS = Layout(
    "row_ints",
    "Integer arguments of events that laptime uses (bytes, graph ids, ...).",
    (
        TIMELINE,
        Column("row", "int", "The event (rows.row)."),
        Column("argument", "text", "Name of the argument, as laptime calls it."),
        Column("value", "int", "Its value."),
    ),
)
ROW_TEXTS = Layout(
    "row_texts",
    "Text arguments of events that laptime uses (collective names, groups, ...).",
    (
        TIMELINE,
        Column("row", "int", "The event (rows.row)."),
        Column("argument", "text", "Name of the argument, as laptime calls it."),
        Column("value", "text", "Its value."),
    ),
)
ARGS = Layout(
    "args",
    "Argument text of the events that have arguments, as recorded (JSON).",
    (
        TIMELINE,
        Column("row", "int", "The event (rows.row)."),
        Column("args", "text", "The text; args->>'$.\"External id\"' gives a value."),
    ),
)
TIMELINES = Layout(
    "timelines",
    "One process each.",
    (
        TIMELINE,
        RANK,
        Column("source", "text", "File it was read from."),
        Column("pid", "text", "Process id.", True),
        Column("host", "text", "Host name.", True),
        Column("world_size", "int", "Ranks of the job.", True),
        Column("vendor", "text", "Maker of the accelerator.", True),
        Column("epoch", "bool", "Whether origin_ns is epoch time (else the file's own clock)."),
        Column("origin_ns", "int", "Its zero. The least of all is the origin of every start_ns."),
        Column("rows", "int", "Number of its rows."),
    ),
)
LANES = Layout(
    "lanes",
    "Rows that events happen on: CPU threads and GPU streams.",
    (
        TIMELINE,
        Column("lane", "int", "Number of the lane in its timeline."),
        Column("pid", "text", "Process of a thread.", True),
        Column("thread", "text", "Thread id.", True),
        Column("name", "text", "Name of the thread.", True),
        Column("device", "text", "Device of a stream.", True),
        Column("stream", "int", "Number of the stream.", True),
    ),
)
DEVICES = Layout(
    "devices",
    "Accelerators that rows mention.",
    (
        Column("device", "text", "Id, unique in the run."),
        TIMELINE,
        Column("ordinal", "int", "The evidence's own number."),
        RANK,
        Column("host", "text", "Host name.", True),
        Column("name", "text", "Name as the driver gives it.", True),
        Column("uuid", "text", "The driver's uuid.", True),
    ),
)
HEALTH = Layout(
    "health",
    "What the reading was like: one row for each measure or warning.",
    (
        Column("what", "text", "items, lost or warning."),
        Column("count", "int", "How many items; null for a warning.", True),
        Column("text", "text", "The warning's sentence.", True),
    ),
)
LOSSES = Layout(
    "losses",
    "What the evidence should have held and does not.",
    (
        Column("source", "text", "File."),
        Column("reason", "text", "What was lost."),
        Column("count", "int", "How many items."),
        Column("offset", "int", "First place in the uncompressed text.", True, "bytes"),
    ),
)


def origin_ns(run: Run) -> int:
    """The zero of every table's ``start_ns``: the earliest of the timelines' origins."""
    return min((t.origin_ns for t in run.timelines), default=0)


def shift_ns(run: Run, timeline: Timeline) -> int:
    """What is added to a timeline's own times. Raises ``CannotTell`` past 64 bits."""
    shift = timeline.origin_ns - origin_ns(run)
    if shift >= 1 << 62:
        raise CannotTell(
            f"{timeline.source}: its clock lies too far from the other files'; read them one by one"
        )
    return shift


def text_or_none(value: Any) -> str | None:
    """A value as text; None stays None."""
    return None if value is None else str(value)


def row_slices(run: Run, timeline: Timeline, most: int = SLICE_ROWS) -> Iterator[Table]:
    """The table ``rows`` of one timeline, at most ``most`` rows at a time."""
    rows, lanes = timeline.rows, timeline.lanes
    names = _objects(rows.names)
    categories = _objects(rows.categories)
    kinds = _objects([k.name.lower() for k in Kind])
    pid = _objects([text_or_none(lane.pid) for lane in lanes])
    thread = _objects([text_or_none(lane.tid) for lane in lanes])
    device = _objects([lane.device for lane in lanes])
    stream = np.ma.MaskedArray(
        np.array([lane.stream or 0 for lane in lanes], dtype=np.int64),
        mask=np.array([lane.stream is None for lane in lanes], dtype=np.bool_),
    )
    shift = shift_ns(run, timeline)
    for at in range(0, len(rows), most):
        part = slice(at, min(at + most, len(rows)))
        n = part.stop - part.start
        dur, lane = rows.dur_ns[part], rows.lane[part]
        yield Table.of(
            ROWS.columns,
            {
                "timeline": _same(timeline.id, n),
                "row": np.arange(part.start, part.stop, dtype=np.int64),
                "rank": _same_int(timeline.rank, n),
                "start_ns": rows.start_ns[part] + shift,
                "dur_ns": np.ma.MaskedArray(dur, mask=dur < 0),
                "name": names[rows.name[part]],
                "kind": kinds[rows.kind[part]],
                "category": categories[rows.category[part]],
                "lane": lane,
                "pid": pid[lane],
                "thread": thread[lane],
                "device": device[lane],
                "stream": stream[lane],
                "correlation": _identifier(rows.correlation, part),
                "external_id": _identifier(rows.external_id, part),
                "python_id": _identifier(rows.python_id, part),
                "python_parent": _identifier(rows.python_parent, part),
            },
        )


def row_ints(timeline: Timeline) -> Table:
    """The table ``row_ints`` of one timeline."""
    tables = [
        Table.of(
            ROW_INTS.columns,
            {
                "timeline": _same(timeline.id, len(sparse.row)),
                "row": sparse.row,
                "argument": _same(name, len(sparse.row)),
                "value": sparse.value,
            },
        )
        for name, sparse in sorted(timeline.rows.ints.items())
    ]
    return concatenated(ROW_INTS.columns, tables)


def row_texts(timeline: Timeline) -> Table:
    """The table ``row_texts`` of one timeline."""
    tables = [
        Table.of(
            ROW_TEXTS.columns,
            {
                "timeline": _same(timeline.id, len(sparse.row)),
                "row": sparse.row,
                "argument": _same(name, len(sparse.row)),
                "value": _objects(sparse.texts)[sparse.value],
            },
        )
        for name, sparse in sorted(timeline.rows.texts.items())
    ]
    return concatenated(ROW_TEXTS.columns, tables)


def args_slice(timeline: Timeline, first: int, end: int) -> Table:
    """The table ``args`` of some rows of one timeline."""
    read = getattr(timeline.rows.read_args, "texts", None)
    texts = [] if read is None else read(np.arange(first, end))
    held = [
        (timeline.id, first + i, text.decode("utf-8", "replace"))
        for i, text in enumerate(texts)
        if text is not None
    ]
    return Table.from_rows(ARGS.columns, held)


def _objects(texts: Sequence[Any]) -> Ints:
    out: Ints = np.empty(len(texts), dtype=object)
    out[:] = texts
    return out


def _same(text: str, n: int) -> Ints:
    out: Ints = np.full(n, text, dtype=object)
    return out


def _same_int(value: int | None, n: int) -> Ints:
    out: Ints = np.ma.MaskedArray(np.full(n, value or 0, dtype=np.int64), mask=value is None)
    return out


def _identifier(column: Ints | None, part: slice) -> Ints:
    if column is None:
        return _same_int(None, part.stop - part.start)
    here = column[part]
    known = present(here)
    out: Ints = np.ma.MaskedArray(np.where(known, here, 0).astype(np.int64), mask=~known)
    return out


def _rows(run: Run) -> Table:
    return concatenated(ROWS.columns, [s for t in run.timelines for s in row_slices(run, t)])


def _timelines(run: Run) -> Table:
    return Table.from_rows(
        TIMELINES.columns,
        [
            (
                t.id,
                t.rank,
                t.source,
                text_or_none(t.pid),
                t.host,
                t.world_size,
                t.vendor,
                t.epoch,
                t.origin_ns,
                len(t.rows),
            )
            for t in run.timelines
        ],
    )


def _lanes(run: Run) -> Table:
    return Table.from_rows(
        LANES.columns,
        [
            (t.id, i, text_or_none(x.pid), text_or_none(x.tid), x.name, x.device, x.stream)
            for t in run.timelines
            for i, x in enumerate(t.lanes)
        ],
    )


def _devices(run: Run) -> Table:
    return Table.from_rows(
        DEVICES.columns,
        [
            (d.id, t.id, d.ordinal, d.rank, d.host, d.name, d.uuid)
            for t in run.timelines
            for d in t.devices
        ],
    )


def _health(run: Run) -> Table:
    found: list[tuple[str, int | None, str | None]] = [
        ("items", run.health.items, None),
        ("lost", run.health.lost, None),
    ]
    found += [("warning", None, warning) for warning in run.health.warnings]
    return Table.from_rows(HEALTH.columns, found)


def _losses(run: Run) -> Table:
    return Table.from_rows(
        LOSSES.columns, [(x.source, x.reason, x.count, x.offset) for x in run.health.losses]
    )


def _all(layout: Layout, make: Callable[[Timeline], Table]) -> Callable[[Run], Table]:
    return lambda run: concatenated(layout.columns, [make(t) for t in run.timelines])


BUILDERS: Mapping[str, tuple[Layout, Callable[[Run], Table]]] = {
    "rows": (ROWS, _rows),
    "row_ints": (ROW_INTS, _all(ROW_INTS, row_ints)),
    "row_texts": (ROW_TEXTS, _all(ROW_TEXTS, row_texts)),
    "args": (ARGS, _all(ARGS, lambda t: args_slice(t, 0, len(t.rows)))),
    "timelines": (TIMELINES, _timelines),
    "lanes": (LANES, _lanes),
    "devices": (DEVICES, _devices),
    "health": (HEALTH, _health),
    "losses": (LOSSES, _losses),
}
"""Tables of a run by name: what each is, and how it is made."""


def run_table(run: Run, name: str) -> Table:
    """A table of the run by name. Raises ``UsageError`` for a name that no table has."""
    if name not in BUILDERS:
        raise UsageError(f"no table {name!r} of a run; tables: {', '.join(BUILDERS)}")
    return BUILDERS[name][1](run)
