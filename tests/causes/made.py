"""Hand-made cases: rows, segments and windows written down one by one, without the ledger's code.

A cause is judged on what it is given. Times are milliseconds in, nanoseconds inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from laptime.causes.case import OF_A_CAPTURE, Case, Need
from laptime.kernels.names import KernelName
from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS, DEVICE_PARENTS
from laptime.ledger.ledger import DeviceLedger, Ledger, Segments
from laptime.ledger.work import Work, WorkClass
from laptime.model.health import Health, Loss
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import Kind, Rows, SparseInts
from laptime.model.run import Device, Lane, Run, Timeline

MS = 1_000_000
THREAD, STREAM, SIDE = 0, 1, 2
V100 = {"computeMajor": 7, "computeMinor": 0, "numSms": 80, "warpSize": 32}
A100 = {"computeMajor": 8, "computeMinor": 0, "numSms": 108, "warpSize": 32}
ALL_NEEDS = frozenset(Need) - OF_A_CAPTURE


class Made:
    """A timeline of ``laps`` equal laps on one device, to which rows and accounts are added."""

    def __init__(
        self,
        lap_ms: float = 100.0,
        laps: int = 4,
        cpu: bool = False,
        device_name: str | None = "NVIDIA A100-SXM4-80GB",
        properties: dict[str, Any] | None = None,
        vendor: str | None = "nvidia",
        fill: str | None = None,
        source: str = "mark",
        rank: int | None = None,
        host_ms: float | None = None,
        open_window: bool = False,
    ) -> None:
        self.host_ns = round((lap_ms if host_ms is None else host_ms) * MS)
        self.open_window = open_window
        self.lap_ns, self.laps, self.cpu = round(lap_ms * MS), laps, cpu
        self.fill = fill or ("operators" if cpu else "compute")
        self.vendor, self.source, self.rank = vendor, source, rank
        self.losses: list[Loss] = []
        self.without: set[str] = set()
        self.rows: list[tuple[Kind, str, int, int, int]] = []
        self.bytes: dict[int, int] = {}
        self.work: list[tuple[int, WorkClass, int, int]] = []
        self.segments: list[tuple[int, int, str]] = []
        self.decoded: dict[str, KernelName] = {}
        self.device = Device(
            "gpu0", 0, device_name, properties=A100 if properties is None else properties
        )

    def each(self) -> Iterator[float]:
        """Start of each lap, in ms."""
        for i in range(self.laps):
            yield i * self.lap_ns / MS

    def row(self, kind: Kind, name: str, at_ms: float, dur_ms: float, lane: int = THREAD) -> int:
        self.rows.append((kind, name, round(at_ms * MS), round(dur_ms * MS), lane))
        return len(self.rows) - 1

    def op(self, name: str, at_ms: float, dur_ms: float, lane: int = THREAD) -> int:
        return self.row(Kind.CPU_OP, name, at_ms, dur_ms, lane)

    def mark(self, name: str, at_ms: float, dur_ms: float, lane: int = THREAD) -> int:
        return self.row(Kind.ANNOTATION, name, at_ms, dur_ms, lane)

    def call(self, name: str, at_ms: float, dur_ms: float) -> int:
        return self.row(Kind.RUNTIME, name, at_ms, dur_ms)

    def activity(
        self,
        name: str,
        at_ms: float,
        dur_ms: float,
        call: int = -1,
        lane: int = STREAM,
        klass: WorkClass | None = None,
        size: int | None = None,
        decoded: KernelName | None = None,
    ) -> int:
        copy = name.startswith("Mem")
        kind = Kind.MEMCPY if copy else Kind.KERNEL
        row = self.row(kind, name, at_ms, dur_ms, lane)
        if klass is None:
            klass = WorkClass.COPY if copy else WorkClass.COMPUTE
        self.work.append((row, klass, call, lane))
        if size is not None:
            self.bytes[row] = size
        if decoded is not None:
            self.decoded[name] = decoded
        return row

    def account(self, name: str, at_ms: float, to_ms: float) -> None:
        self.segments.append((round(at_ms * MS), round(to_ms * MS), name))

    def case(self, has: frozenset[Need] = ALL_NEEDS) -> Case:
        rows = self._rows()
        timeline = Timeline(
            id="made",
            source="made.json",
            rows=rows,
            lanes=[
                Lane(1, 1, "python"),
                Lane(0, 7, None, None if self.cpu else "gpu0", 7),
                Lane(0, 20, None, None if self.cpu else "gpu0", 20),
            ],
            devices=[] if self.cpu else [self.device],
            origin_ns=0,
            rank=self.rank,
            vendor=self.vendor,
        )
        run = Run([timeline], Health(losses=self.losses), ["made.json"])
        name_of = {n: i for i, n in enumerate(rows.names)}
        return Case(
            run=run,
            timeline=timeline,
            ledger=self._ledger(),
            work={} if self.cpu else {"gpu0": self._work(rows)},
            kernel_names={name_of[n]: k for n, k in self.decoded.items()},
            has=has,
        )

    def _rows(self) -> Rows:
        names = sorted({r[1] for r in self.rows})
        index = {n: i for i, n in enumerate(names)}
        sized = sorted(self.bytes)
        return Rows(
            start_ns=np.array([r[2] for r in self.rows], dtype=np.int64),
            dur_ns=np.array([r[3] for r in self.rows], dtype=np.int64),
            name=np.array([index[r[1]] for r in self.rows], dtype=np.int32),
            names=names,
            category=np.zeros(len(self.rows), dtype=np.int16),
            categories=["x"],
            kind=np.array([int(r[0]) for r in self.rows], dtype=np.uint8),
            lane=np.array([r[4] for r in self.rows], dtype=np.int32),
            phase=np.full(len(self.rows), ord("X"), dtype=np.uint8),
            correlation=np.arange(1, len(self.rows) + 1, dtype=np.uint64),
            ints={
                "bytes": SparseInts(
                    np.array(sized, dtype=np.int64),
                    np.array([self.bytes[r] for r in sized], dtype=np.int64),
                )
            },
        )

    def _work(self, rows: Rows) -> Work:
        order = sorted(self.work, key=lambda w: (self.rows[w[0]][2], -self.rows[w[0]][3], w[0]))
        row = np.array([w[0] for w in order], dtype=np.int64)
        call = np.array([w[2] for w in order], dtype=np.int64)
        start = rows.start_ns[row]
        known = call >= 0
        called, enqueued = start.copy(), start.copy()
        called[known] = rows.start_ns[call[known]]
        enqueued[known] = np.minimum(rows.end_ns(call[known]), start[known])
        # Correlation ties an activity to its call, as in a recorded trace.
        assert rows.correlation is not None
        rows.correlation[row[known]] = rows.correlation[call[known]]
        return Work(
            device="gpu0",
            row=row,
            start_ns=start,
            end_ns=rows.end_ns(row),
            klass=np.array([int(w[1]) for w in order], dtype=np.int8),
            lane=np.array([w[3] for w in order], dtype=np.int64),
            call_row=call,
            called_ns=called,
            enqueued_ns=enqueued,
            thread=np.where(known, THREAD, -1),
        )

    def _ledger(self) -> Ledger:
        tree = CPU_ACCOUNTS if self.cpu else DEVICE_ACCOUNTS
        leaves = [a for a in tree if a.id not in DEVICE_PARENTS and a.id not in self.without]
        if not self.cpu and "idle" not in {s[2] for s in self.segments}:
            leaves = [a for a in leaves if a.id != "idle"]
        column = {a.id: j for j, a in enumerate(leaves)}
        device = "thread 1" if self.cpu else "gpu0"
        end = self.lap_ns * self.laps
        cuts = sorted(
            {0, end, *(s for s, _, _ in self.segments), *(e for _, e, _ in self.segments)}
        )
        starts, ends, account = [], [], []
        for low, high in pairwise(cuts):
            named = [a for s, e, a in self.segments if s <= low and high <= e]
            starts.append(low)
            ends.append(high)
            account.append(column[named[0] if named else self.fill])
        windows = [
            DeviceLap(device, f"lap{i}", i * self.lap_ns, self.lap_ns, self.open_window)
            for i in range(self.laps)
        ]
        ns = np.zeros((self.laps, len(leaves)), dtype=np.int64)
        for i, w in enumerate(windows):
            for s, e, j in zip(starts, ends, account, strict=True):
                ns[i, j] += max(0, min(e, w.end_ns) - max(s, w.start_ns))
        laps = Laps(
            laps=[Lap(w.lap, w.lap, i * self.host_ns, self.host_ns) for i, w in enumerate(windows)],
            by_device=windows,
            source=self.source,
            mark="ProfilerStep",
            confidence=1.0,
            owner_lane=THREAD,
        )
        segments = Segments(
            np.array(starts, dtype=np.int64),
            np.array(ends, dtype=np.int64),
            np.array(account, dtype=np.int8),
        )
        one = DeviceLedger(device, self.cpu, leaves, tree, windows, ns, segments, {})
        return Ledger("made", laps, [one])
