"""The definitions of the evidence's truth file, computed from laptime's columns only.

Each function follows one definition of ``truth.json`` and answers in its terms: microseconds with
three decimals, made from integer nanoseconds at the very end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from laptime._native import Scanner, ScanResult
from laptime.evidence.registry import open_run
from laptime.evidence.source import Source
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind
from laptime.model.run import Run, Timeline

X = ord("X")
SHAPE_KEYS = frozenset({"Input Dims", "Input dims", "Shapes"})


def us(ns: int) -> float:
    """Microseconds at the three decimals that the truth file prints; exact below 2**53 ns."""
    return round(int(ns) / 1000, 3)


def scanned(path: Path) -> ScanResult:
    """The file as the native scanner sees it: flows and phases are not in the rows."""
    scanner = Scanner()
    for chunk in Source(path).chunks():
        scanner.feed(chunk)
    return scanner.finish()


@dataclass(frozen=True)
class Measured:
    """One file, with the truth file's quantities."""

    run: Run
    scan: ScanResult

    @cached_property
    def timeline(self) -> Timeline:
        assert len(self.run.timelines) == 1
        return self.run.timelines[0]

    @cached_property
    def args(self) -> list[dict[str, Any] | None]:
        """Arguments of every row, from the text by way of the columns' offsets."""
        rows = self.timeline.rows
        if rows.read_args is None:
            return [None] * len(rows)
        return rows.read_args(np.arange(len(rows)))

    def x_of(self, *kinds: Kind) -> Ints:
        rows = self.timeline.rows
        found = rows.of_kind(*kinds)
        chosen: Ints = found[rows.phase[found] == X]
        return chosen

    # counts

    def events(self) -> int:
        return self.run.health.items

    def x_events_by_category(self) -> dict[str, int]:
        rows = self.timeline.rows
        counts = np.bincount(rows.category[rows.phase == X], minlength=len(rows.categories))
        return {c: n for c, n in zip(rows.categories, counts.tolist(), strict=True) if n}

    def phases(self) -> dict[str, int]:
        before = "events_by_phase:"
        counters = self.scan.counters.items()
        return {k.removeprefix(before): n for k, n in counters if k.startswith(before) and n}

    def flow_events(self) -> dict[str, int]:
        found: dict[str, int] = {}
        pairs = np.stack((self.scan.flow_category, self.scan.flow_phase.astype(np.uint16)))
        kinds, counts = np.unique(pairs, axis=1, return_counts=True)
        for category, phase, n in zip(*kinds.tolist(), counts.tolist(), strict=True):
            found[f"{self.scan.categories[category]}:{chr(phase)}"] = n
        return found

    # steps

    @cached_property
    def step_rows(self) -> Ints:
        rows = self.timeline.rows
        named = rows.names_matching(lambda n: n.startswith("ProfilerStep"))
        host = np.array([c != "gpu_user_annotation" for c in rows.categories], dtype=np.bool_)
        found = np.flatnonzero(named[rows.name] & host[rows.category] & (rows.phase == X))
        return found[np.argsort(rows.start_ns[found], kind="stable")]

    def steps(self) -> list[dict[str, Any]]:
        rows = self.timeline.rows
        return [
            {"name": rows.name_of(r), "dur_us": us(int(rows.dur_ns[r]))}
            for r in self.step_rows.tolist()
        ]

    def step_mean_us(self) -> float | None:
        dur = self.timeline.rows.dur_ns[self.step_rows]
        return round(int(dur.sum()) / len(dur) / 1000, 3) if len(dur) else None

    def step_median_us(self) -> float | None:
        dur = self.timeline.rows.dur_ns[self.step_rows]
        return round(float(np.median(dur)) / 1000, 3) if len(dur) else None

    @cached_property
    def step_windows(self) -> Span:
        rows = self.timeline.rows
        return intervals.union(rows.start_ns[self.step_rows], rows.end_ns(self.step_rows))

    # device work

    def by_device(self, of: Ints) -> dict[str | None, Ints]:
        lanes = self.timeline.lanes
        device = [lanes[lane].device for lane in self.timeline.rows.lane[of].tolist()]
        return {d: of[[e == d for e in device]] for d in dict.fromkeys(device)}

    def union_of(self, of: Ints) -> Span:
        return intervals.union(self.timeline.rows.start_ns[of], self.timeline.rows.end_ns(of))

    def unions(self, of: Ints) -> dict[str | None, Span]:
        return {d: self.union_of(rows) for d, rows in self.by_device(of).items()}

    def union_us(self, of: Ints) -> float:
        return us(sum(intervals.total(span) for span in self.unions(of).values()))

    def sum_us(self, of: Ints) -> float:
        return us(int(np.maximum(self.timeline.rows.dur_ns[of], 0).sum()))

    @cached_property
    def kernels(self) -> Ints:
        return self.x_of(Kind.KERNEL)

    @cached_property
    def work(self) -> Ints:
        return self.x_of(Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)

    def streams_with_kernels(self) -> int:
        lanes = self.timeline.lanes
        used = np.unique(self.timeline.rows.lane[self.kernels]).tolist()
        return len({(lanes[i].device, lanes[i].stream) for i in used})

    def gpu_busy_inside_steps_us(self) -> float:
        spans = self.unions(self.work).values()
        return us(sum(intervals.total(intervals.intersect(s, self.step_windows)) for s in spans))

    def gpu_span_us(self) -> float:
        rows = self.timeline.rows
        return us(int(rows.end_ns(self.kernels).max() - rows.start_ns[self.kernels].min()))

    def kernels_named(self, *words: str) -> Ints:
        named = self.timeline.rows.names_matching(lambda n: any(w in n.lower() for w in words))
        return self.kernels[named[self.timeline.rows.name[self.kernels]]]

    @cached_property
    def nccl(self) -> Ints:
        return self.kernels_named("nccl", "rccl")

    def nccl_exposed_us(self) -> float:
        cover = self.unions(self.kernels[~np.isin(self.kernels, self.nccl)])
        return us(
            sum(
                intervals.total(intervals.subtract(span, cover.get(device, intervals.EMPTY)))
                for device, span in self.unions(self.nccl).items()
            )
        )

    def memcpy(self) -> dict[str, dict[str, Any]]:
        rows = self.timeline.rows
        found: dict[str, dict[str, Any]] = {}
        of = self.x_of(Kind.MEMCPY, Kind.MEMSET)
        size = rows.ints["bytes"].of(of, -1) if "bytes" in rows.ints else np.full(len(of), -1)
        for row, n in zip(of.tolist(), size.tolist(), strict=True):
            name = rows.name_of(row)
            key = "Memset" if name.startswith("Memset") else name.removeprefix("Memcpy ")
            entry = found.setdefault(key, {"count": 0, "us": 0})
            entry["count"] += 1
            entry["us"] += int(rows.dur_ns[row])
            if key != "Memset" and n >= 0:
                entry["bytes"] = entry.get("bytes", 0) + n
        for entry in found.values():
            entry["us"] = us(entry["us"])
        return found

    # the loader

    @cached_property
    def loader_rows(self) -> Ints:
        rows = self.timeline.rows
        named = rows.names_matching(lambda n: "DataLoader" in n and "__next__" in n)
        device = np.array([c == "gpu_user_annotation" for c in rows.categories], dtype=np.bool_)
        of = np.flatnonzero(named[rows.name] & (rows.phase == X) & ~device[rows.category])
        return of[np.argsort(rows.start_ns[of], kind="stable")]

    def dataloader_next(self) -> dict[str, Any]:
        dur = self.timeline.rows.dur_ns[self.loader_rows].tolist()
        return {"count": len(dur), "total_us": us(sum(dur)), "each_us": [us(d) for d in dur]}

    def dataloader_per_step_us(self) -> list[float]:
        rows, loader = self.timeline.rows, self.union_of(self.loader_rows)
        starts, ends = rows.start_ns[self.step_rows], rows.end_ns(self.step_rows)
        return [us(n) for n in intervals.by_window(loader, starts, ends).tolist()]

    # what the file has

    def has(self) -> dict[str, Any]:
        rows = self.timeline.rows
        flows, category = self.flow_events(), self.x_events_by_category()
        x = rows.phase == X
        kernel = set(self.kernels.tolist())
        keys = [(i, a) for i, a in enumerate(self.args) if a and x[i]]
        distributed = self.timeline.facts.get("distributedInfo") or {}
        memory = rows.names_matching(lambda n: n == "[memory]")
        return {
            "ac2g_flows": flows.get("ac2g:s", 0) + flows.get("ac2g:f", 0),
            "old_async_flows": flows.get("async:s", 0) + flows.get("async:f", 0),
            "cuda_sync": category.get("cuda_sync", 0),
            "python_function": category.get("python_function", 0),
            "ops_with_shapes": sum(1 for _, a in keys if not SHAPE_KEYS.isdisjoint(a)),
            "ops_with_call_stack": sum(1 for _, a in keys if "Call stack" in a),
            "kernels_with_process_group": sum(
                1 for i, a in keys if i in kernel and any(k.startswith("Process Group ") for k in a)
            ),
            "pg_config": "pg_config" in distributed,
            "memory_instants": int((memory[rows.name] & (rows.phase == ord("i"))).sum()),
        }

    def header(self) -> dict[str, Any]:
        """The header entries that the truth file keeps, as the timeline's facts hold them."""
        t, facts = self.timeline, self.timeline.facts
        listed = facts.get("device_properties") or []
        distributed = facts.get("distributedInfo") or {}
        out: dict[str, Any] = {
            "gpu": list(dict.fromkeys(d.get("name") for d in listed)),
            "device_count": len(listed),
            "rank": t.rank,
            "world_size": t.world_size,
        }
        kept = ("backend", "pg_count", "nccl_version")
        out.update({k: distributed[k] for k in kept if k in distributed})
        out.update({k: v for k, v in facts.items() if not isinstance(v, list | dict)})
        return out


def measured(path: Path) -> Measured:
    """Read one file."""
    return Measured(open_run(path), scanned(path))
