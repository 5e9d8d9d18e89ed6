"""Reader of PyTorch profiler traces (Kineto/Chrome trace JSON), 2021 to today."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import laptime._native as _native
from laptime.evidence import (
    kineto_checks,
    kineto_clocks,
    kineto_lanes,
    kineto_processes,
    kineto_words,
)
from laptime.evidence.args import ArgReader
from laptime.evidence.format import Match, Progress
from laptime.model.errors import UnreadableInput
from laptime.model.health import Health, Loss
from laptime.model.rows import (
    ABSENT_DUR,
    API_CALLS,
    DEVICE_WORK,
    HOST_KINDS,
    Ints,
    Kind,
    Rows,
    SparseInts,
    SparseTexts,
    slices,
)
from laptime.model.run import Part, Timeline

if TYPE_CHECKING:
    from laptime.evidence.source import Source

MOST_DUR_NS = 1 << 53
"""104 days: what no row of a profiler lasts, and the most that JSON's readers hold exactly."""

EPOCH_AFTER_NS = 10**18
"""Time stamps beyond this (2001 in epoch nanoseconds) can only be epoch time."""
MOST_BASE_NS = (1 << 62) - 1
"""A header's base time beyond 146 years is damage, as an event's time is."""
MOST_RANKS = 1 << 31
"""More ranks than a job has: a header that says more is damaged."""

FACTS = (
    "schemaVersion",
    "distributedInfo",
    "displayTimeUnit",
    "record_shapes",
    "with_stack",
    "with_modules",
    "with_flops",
    "profile_memory",
    "cuda_runtime_version",
    "cuda_driver_version",
    "cupti_version",
    "hip_runtime_version",
    "hip_driver_version",
    "roctracer_version",
    "trace_id",
    "traceName",
    "baseTimeNanoseconds",
)

HOST_KEYS = ("hostname", "host_name")
"""Header entries that name the host: today's, and the one that some sites add."""


class KinetoTrace:
    """Kineto/Chrome trace JSON: object or list root, any layout, whole or damaged."""

    id = "kineto"
    title = "PyTorch profiler trace (Kineto/Chrome JSON)"

    def sniff(self, head: bytes, name: str) -> Match:
        """Recognise the text by its first bytes."""
        text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not text.startswith((b"{", b"[")):
            return Match(0.0, "does not start as JSON")
        if b'"traceEvents"' in head or b'"schemaVersion"' in head:
            # Not 1: a file that says what it is may quote these.
            return Match(0.99, "has Kineto's top-level keys")
        if b'"ph"' in head:
            return Match(0.9, "has trace events")
        if ".trace.json" in name or ".pt.trace" in name:
            return Match(0.5, "is JSON and named as a trace")
        if text.startswith(b"{") and b'"deviceProperties"' in head:
            return Match(0.9, "has Kineto's device properties")
        return Match(0.1, "is JSON")

    def read(self, source: Source, progress: Progress | None) -> Part:
        """Stream the source once into columns."""
        scanner = _native.Scanner()
        report_at = 0
        for chunk in source.chunks():
            scanner.feed(chunk)
            if progress is not None and source.read_bytes >= report_at:
                progress(source.name, source.read_bytes, source.total_bytes)
                report_at = source.read_bytes + (4 << 20)
        scan = scanner.finish()
        if scan.root == "none":
            raise UnreadableInput(
                f"{source.name}: is not a JSON trace; give the file that torch.profiler exported"
            )
        health = Health(items=scan.items)
        health.losses += [Loss(r, n, source.name, at) for at, r, n in scan.losses]
        health.losses += list(source.losses)
        head = _head(scan.head, health, source.name)
        if len(scan.start_ns) == 0:
            _refuse_without_rows(scan, head, source)
        absurd = scan.dur_ns > MOST_DUR_NS
        if absurd.any():
            scan.dur_ns[absurd] = ABSENT_DUR
            reason = "duration of more than 104 days"
            health.losses.append(Loss(reason, int(absurd.sum()), source.name))
        return Part(source.name, self.id, _timelines(scan, head, source, health), health)


def _refuse_without_rows(scan: _native.ScanResult, head: Mapping[str, Any], source: Source) -> None:
    """Raise where there are no rows because of damage, or because this is no trace at all.

    An undamaged trace without rows (metadata only, say) is read: it is just empty.
    """
    lost = [(x.offset or 0, x.reason) for x in source.losses] or [
        (offset, reason) for offset, reason, _ in scan.losses
    ]
    if lost:
        offset, reason = min(lost)
        raise UnreadableInput(
            f"{source.name}: holds no whole trace event ({reason}, at byte {offset} of its text); "
            "copy or record it again"
        )
    if scan.items == 0 and not any(k in head for k in (*FACTS, "deviceProperties")):
        raise UnreadableInput(
            f"{source.name}: holds no trace events; give the file that torch.profiler exported"
        )


def _head(entries: Iterable[tuple[str, bytes, int]], health: Health, name: str) -> dict[str, Any]:
    """Top-level keys parsed; one that cannot be parsed is counted as lost."""
    head: dict[str, Any] = {}
    for key, raw, offset in entries:
        try:
            head[key] = json.loads(raw.decode("utf-8", "replace"), strict=False)
        except (ValueError, RecursionError):
            health.losses.append(Loss(f"top-level key {key[:40]!r} is damaged", 1, name, offset))
    return head


def _timelines(
    scan: _native.ScanResult, head: Mapping[str, Any], source: Source, health: Health
) -> list[Timeline]:
    kind = kineto_words.kinds(scan.category, scan.categories, scan.name, scan.names, scan.phase)
    unknown = sorted(
        c
        for i, c in enumerate(scan.categories)
        if c
        and c not in kineto_words.CATEGORIES
        and ((scan.category == i) & (scan.phase == 88)).any()
    )
    if unknown:
        health.warnings.append(
            "categories that laptime does not know, kept as other rows: " + ", ".join(unknown[:8])
        )
    distributed = head.get("distributedInfo")
    distributed = distributed if isinstance(distributed, dict) else {}
    rank = _rank(distributed, source.name)
    world = _number(distributed.get("world_size"), 1, MOST_RANKS)
    host = next((head[k] for k in HOST_KEYS if isinstance(head.get(k), str)), None)
    prefix = f"rank{rank}/" if rank is not None else ""
    thread_names = kineto_lanes.thread_names(scan.meta)
    lanes = kineto_lanes.canonical(scan.lanes, scan.lane, kind, thread_names, prefix=prefix)
    if lanes.excess is not None:
        kind[lanes.excess] = Kind.OTHER
        reason = f"row of a device past the first {kineto_lanes.MOST_DEVICES}"
        health.losses.append(Loss(reason, len(lanes.excess), source.name))
    base = _number(head.get("baseTimeNanoseconds"), -MOST_BASE_NS, MOST_BASE_NS)
    if base is None and isinstance(head.get("baseTimeNanoseconds"), int):
        health.warnings.append(
            f"{source.name}: baseTimeNanoseconds lies beyond 146 years and is left out: the times "
            "are not on the epoch"
        )
    shift = _shift(scan, kind)
    start_ns = scan.start_ns
    start_ns -= shift
    origin = shift + (base or 0)
    rows = Rows(
        start_ns=start_ns,
        dur_ns=scan.dur_ns,
        name=scan.name,
        names=scan.names,
        category=scan.category,
        categories=scan.categories,
        kind=kind,
        lane=lanes.lane,
        phase=scan.phase,
        correlation=scan.correlation,
        external_id=scan.external_id,
        python_id=scan.python_id,
        python_parent=scan.python_parent,
        ints={k: SparseInts(r, v) for k, (r, v) in scan.int_args.items()},
        texts={k: SparseTexts(r, v, scan.texts) for k, (r, v) in scan.text_args.items()},
    )
    if scan.args_offset is not None and scan.args_length is not None:
        rows.read_args = ArgReader(source, scan.args_offset, scan.args_length)
    kineto_checks.check(rows, source.name, health)
    foreign = kineto_checks.unknown_categories(rows)
    if foreign and not health.losses:
        raise UnreadableInput(
            f"{source.name}: holds trace events, but none of the PyTorch profiler's categories "
            f"(found: {', '.join(foreign[:6])}); give the file that torch.profiler exported"
        )
    device_list = kineto_lanes.devices(
        head.get("deviceProperties"), lanes.ordinals, prefix, host, rank
    )
    api_names = [scan.names[i] for i in rows.names_used(*API_CALLS)]
    pid = _owner(rows, lanes.lanes)
    facts = {k: head[k] for k in FACTS if k in head}
    facts["device_properties"] = head.get("deviceProperties")
    timeline = Timeline(
        id=f"rank{rank}" if rank is not None else source.name,
        source=source.name,
        rows=rows,
        lanes=lanes.lanes,
        devices=device_list,
        origin_ns=origin,
        epoch=origin > EPOCH_AFTER_NS,
        pid=pid,
        rank=rank,
        world_size=world,
        host=host,
        vendor=kineto_words.vendor(api_names, [d.name or "" for d in device_list]),
        facts=facts,
    )
    timelines = kineto_processes.split(timeline, health)
    for one in timelines:
        process = f", process {one.pid}" if len(timelines) > 1 else ""
        kineto_clocks.check(one, source.name + process, health)
    return timelines


def _number(said: object, least: int, most: int) -> int | None:
    """An integer of the header inside its bounds; None for anything else, which says nothing."""
    if not isinstance(said, int) or isinstance(said, bool):
        return None
    return said if least <= said <= most else None


def _rank(distributed: Mapping[str, Any], name: str) -> int | None:
    """Rank from the header first, the file's name second."""
    rank = _number(distributed.get("rank"), 0, MOST_RANKS - 1)
    if rank is not None:
        return rank
    found = re.search(r"(?:^|[^a-z])rank[-_ ]?(\d{1,7})(?:\D|$)", name.rsplit("/", 1)[-1].lower())
    return int(found.group(1)) if found else None


def _shift(scan: _native.ScanResult, kind: Ints) -> int:
    """The text's time that becomes zero: the first real row (metadata may use another clock)."""
    real = np.zeros(256, dtype=np.bool_)
    real[[int(k) for k in (*DEVICE_WORK, *HOST_KINDS)]] = True
    earliest = []
    for part in slices(len(kind)):
        start = scan.start_ns[part][real[kind[part]]]
        if len(start):
            earliest.append(int(start.min()))
    if earliest:
        return min(earliest)
    return int(scan.start_ns.min()) if len(scan.start_ns) else 0


def _owner(rows: Rows, lanes: list[Any] | Any) -> int | str | None:
    """The process that the rows belong to: the pid with most host rows."""
    counts = rows.count_by_lane(len(lanes), Kind.CPU_OP, *API_CALLS)
    if not counts.any():
        counts = rows.count_by_lane(len(lanes), *HOST_KINDS)
    if not counts.any():
        return None
    by_pid: dict[Any, int] = {}
    for lane, count in zip(lanes, counts.tolist(), strict=True):
        by_pid[lane.pid] = by_pid.get(lane.pid, 0) + count
    pid: int | str | None = max(by_pid, key=lambda p: (by_pid[p], str(p)))
    return pid


FORMAT = KinetoTrace()
