"""Collectives of the counted windows: what each is, how long it lasts, how many bytes it has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.causes.exposed_collectives import EXPOSED, _operation
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.work import WorkClass
from laptime.model.rows import I64, Ints, Mask

ELEMENT_BYTES = {
    "double": 8, "float64": 8, "long": 8, "int64": 8, "complexfloat": 8, "float": 4, "float32": 4,
    "int": 4, "int32": 4, "half": 2, "float16": 2, "bfloat16": 2, "short": 2, "int16": 2,
    "byte": 1, "uint8": 1, "char": 1, "int8": 1, "bool": 1, "float8_e4m3fn": 1, "float8_e5m2": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Collectives:
    """``at``: positions in the device's ``Work``; ``kind`` of each ("all_reduce"); ``bytes`` the
    larger of what goes in and out, -1 where the record does not say."""

    view: DeviceView
    at: Ints
    kind: list[str]
    bytes: I64

    def of(self, which: Mask) -> Collectives:
        """Some of them."""
        kinds = [k for k, kept in zip(self.kind, which.tolist(), strict=True) if kept]
        return Collectives(self.view, self.at[which], kinds, self.bytes[which])

    @property
    def rows(self) -> Ints:
        """Rows of the device's activities."""
        work = self.view.work
        return np.zeros(0, dtype=np.int64) if work is None else work.row[self.at]

    @property
    def dur_ns(self) -> I64:
        """How long each lasts."""
        dur: I64 = self.view.case.timeline.rows.dur_ns[self.rows]
        return dur

    @property
    def exposed(self) -> Span:
        """Counted time of the accounts of exposed communication in which any of them runs."""
        work = self.view.work
        if work is None:
            return intervals.EMPTY
        runs = intervals.union(work.start_ns[self.at], work.end_ns[self.at])
        return intervals.intersect(self.view.time_in(*EXPOSED), runs)


def collectives(view: DeviceView) -> Collectives:
    """Every collective that touches the counted windows, in order of its start."""
    work, rows = view.work, view.case.timeline.rows
    if work is None:
        return Collectives(view, np.zeros(0, dtype=np.int64), [], np.zeros(0, dtype=np.int64))
    inside = view.touching(work.start_ns, work.end_ns)
    at = inside[work.klass[inside] == int(WorkClass.COMM)]
    mine = work.row[at]
    said = rows.texts.get("Collective name")
    labels = said.of(mine) if said is not None else [None] * len(mine)
    kinds = []
    for row, label in zip(mine.tolist(), labels, strict=True):
        kernel = view.case.kernel_names.get(int(rows.name[row]))
        own = kernel.operation if kernel is not None and kernel.comm else "collective"
        kinds.append(_operation(label) or own)
    return Collectives(view, at, kinds, _bytes(view, mine))


def _bytes(view: DeviceView, mine: Ints) -> I64:
    """Bytes of each: elements times the size of their type; -1 where either is not recorded."""
    rows = view.case.timeline.rows
    out = np.full(len(mine), -1, dtype=np.int64)
    types = rows.texts.get("dtype")
    counts = [
        rows.ints[k].of(mine, -1) for k in ("In msg nelems", "Out msg nelems") if k in rows.ints
    ]
    if types is None or not counts:
        return out
    elements = np.maximum.reduce(counts)
    for i, dtype in enumerate(types.of(mine)):
        size = ELEMENT_BYTES.get((dtype or "").lower())
        if size is not None and elements[i] >= 0:
            out[i] = elements[i] * size
    return out
