"""The explanation as one JSON object, schema ``laptime.explain/1`` (``explain-1.schema.json``).

The order of everything follows the explanation, so that equal explanations give equal bytes.
Choices that the schema leaves to the writer:

- ``origin_ns`` is the earliest start of any lap or device window; every ``start_ns`` is relative to
  it (negative for an event before it) and below 2**53, which JavaScript holds exactly.
- Ids of laps and devices are those of the run; where two processes use one id for different laps,
  it becomes ``<timeline>/<id>``.
- ``ledger`` holds the leaves with time: an account without a row has 0 ns in that window.
- ``ranks`` are the known rank labels; null where a process has none.
- ``health.warnings`` also says each loss, with its place, and what the laps and ledger note; of
  several timelines, whose note it is.
- Limited to one rank, everything but ``schema``, ``verdict``, ``origin_ns`` and the run's own part
  of ``health`` is that rank's; the ids of its laps are those of the whole answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from laptime.causes.case import EventRef, Finding
from laptime.explanation import Explanation, KernelTotal, View
from laptime.report.beside import capture_json
from laptime.report.clock import Clock
from laptime.report.flops import flops_json, waterfall_json
from laptime.report.numbers import count
from laptime.report.selection import said_of, view_of, views_of

SCHEMA = "laptime.explain/1"

Json = dict[str, Any]


def explain_object(explanation: Explanation, rank: int | None = None) -> Json:
    """The whole object, of plain dicts, lists, texts and numbers; ``rank`` limits it to one.

    Raises ``CannotTell`` where the laps of the run lie more than 2**53 ns (104 days) apart.
    """
    return {k: list(v) if isinstance(v, Iterator) else v for k, v in _entries(explanation, rank)}


def write(explanation: Explanation, to: IO[str], rank: int | None = None) -> None:
    """Write the object: ASCII only, one line for each item of a list, a newline at the end."""
    before = "{\n"
    for key, value in _entries(explanation, rank):
        to.write(f'{before}"{key}": ')
        if isinstance(value, Iterator):
            _write_list(value, to)
        else:
            to.write(_dumps(value))
        before = ",\n"
    to.write("\n}\n")


def _write_list(items: Iterator[Json], to: IO[str]) -> None:
    """One line for each item, each made as it is written: there may be millions."""
    before = "[\n"
    for item in items:
        to.write(f"{before}  {_dumps(item)}")
        before = ",\n"
    to.write("\n]" if before == ",\n" else "[]")


def _entries(explanation: Explanation, rank: int | None) -> Iterator[tuple[str, Any]]:
    """The entries of the object in their order; long lists as iterators."""
    clock = Clock(explanation.views)
    lap_id = _lap_names(explanation.views)
    # Origin and lap names are the whole run's, so that answers for single ranks can be joined.
    views = views_of(explanation, rank)
    judgement = said_of(explanation, views)
    # What can raise is made before anything is given out: never half an object.
    laps = [lap for v in views for lap in _laps(v, clock, lap_id)]
    device_laps = [lap for v in views for lap in _device_laps(v, clock, lap_id)]
    findings = [_finding(explanation, f, clock) for f in judgement.findings]
    yield "schema", SCHEMA
    yield "verdict", explanation.verdict
    yield "origin_ns", str(clock.origin_ns)
    yield "ranks", _unique([v.timeline.rank for v in views])
    yield "devices", iter(_devices(views))
    yield "laps", iter(laps)
    yield "device_laps", iter(device_laps)
    yield "accounts", iter(_accounts(views))
    yield "ledger", (row for v in views for row in _ledger(v, lap_id))
    yield "findings", iter(findings)
    yield (
        "abstentions",
        iter(
            {"id": a.id, "missing": list(a.missing), "supply": a.supply, "rank": a.rank}
            for a in judgement.abstentions
        ),
    )
    yield "clear", iter({"id": c.id, "why": c.why, "rank": c.rank} for c in judgement.clear)
    yield "silenced", iter(_silenced(f) for f in judgement.silenced)
    yield "health", _health(explanation, views)
    yield "kernels", _kernels(views)
    yield "functions", (row for v in views for row in _functions(v))
    yield "capture", iter(capture_json(views))
    yield "waterfall", (row for v in views for row in waterfall_json(v))
    yield "flops", iter([row for v in views for row in flops_json(v)])


def _dumps(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _unique(values: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _lap_names(views: Sequence[View]) -> Callable[[View, str], str]:
    owners: dict[str, int] = {}
    for view in views:
        for lap in view.ledger.laps.laps:
            owners[lap.id] = owners.get(lap.id, 0) + 1

    def name(view: View, lap: str) -> str:
        return lap if owners.get(lap, 0) <= 1 else f"{view.timeline.id}/{lap}"

    return name


def _devices(views: Sequence[View]) -> list[Json]:
    found: dict[str, Json] = {}
    for view in views:
        for d in view.timeline.devices:
            found.setdefault(
                d.id, {"id": d.id, "rank": d.rank, "host": d.host, "name": d.name, "uuid": d.uuid}
            )
        owner = view.timeline
        for entry in view.ledger.devices:
            blank = {"rank": owner.rank, "host": owner.host, "name": None, "uuid": None}
            found.setdefault(entry.device, {"id": entry.device, **blank})
    return list(found.values())


def _laps(view: View, clock: Clock, lap_id: Callable[[View, str], str]) -> Iterator[Json]:
    laps = view.ledger.laps
    for lap in laps.laps:
        yield {
            "id": lap_id(view, lap.id),
            "rank": view.timeline.rank,
            "label": lap.label,
            "steady": bool(lap.steady),
            "source": laps.source,
            "confidence": _ratio(laps.confidence),
            "start_ns": clock.start_ns(view, lap.start_ns),
            "dur_ns": int(lap.dur_ns),
        }


def _device_laps(view: View, clock: Clock, lap_id: Callable[[View, str], str]) -> Iterator[Json]:
    for device in view.ledger.devices:
        for w in device.windows:
            yield {
                "device": device.device,
                "lap": lap_id(view, w.lap),
                "start_ns": clock.start_ns(view, w.start_ns),
                "dur_ns": int(w.dur_ns),
                "open": bool(w.open),
            }


def _accounts(views: Sequence[View]) -> list[Json]:
    """Every account of the trees, once; those of devices before those of threads."""
    found: dict[str, Json] = {}
    devices = [d for v in views for d in v.ledger.devices]
    for device in sorted(devices, key=lambda d: d.cpu):
        for a in device.tree:
            row = found.setdefault(
                a.id, {"id": a.id, "parent": a.parent, "title": a.title, "merged": False}
            )
            row["merged"] = row["merged"] or bool(device.merged.get(a.id))
    return list(found.values())


def _ledger(view: View, lap_id: Callable[[View, str], str]) -> Iterator[Json]:
    for device in view.ledger.devices:
        table = device.ns.tolist()
        for window, row in zip(device.windows, table, strict=True):
            lap = lap_id(view, window.lap)
            for leaf, ns in zip(device.leaves, row, strict=True):
                if ns:
                    yield {"device": device.device, "lap": lap, "account": leaf.id, "ns": ns}


def _finding(explanation: Explanation, finding: Finding, clock: Clock) -> Json:
    view = view_of(explanation, finding)
    return {
        "id": finding.id,
        "title": finding.title,
        "sentence": finding.sentence,
        "share": None if finding.share is None else _ratio(finding.share),
        "bound_ns": None if finding.bound_ns is None else round(finding.bound_ns),
        "gain": None,
        "rank_by": "share" if finding.bound_ns is None else "bound",
        "events": [_event(e, view, clock) for e in finding.events] if view else [],
        "remedies": list(finding.remedies),
        "confidence": _ratio(finding.confidence),
        "rank": finding.rank,
        "device": finding.device,
        "formula": finding.formula,
        "why": list(finding.why),
        "next_step": list(finding.next_step),
    }


def _silenced(finding: Finding) -> Json:
    return {
        "id": finding.id,
        "rank": finding.rank,
        "device": finding.device,
        "share": None if finding.share is None else _ratio(finding.share),
        "bound_ns": None if finding.bound_ns is None else round(finding.bound_ns),
    }


def _event(event: EventRef, view: View, clock: Clock) -> Json:
    return {
        "name": event.name,
        "lane": event.lane,
        "rank": view.timeline.rank,
        "start_ns": clock.start_ns(view, event.start_ns),
        "dur_ns": int(event.dur_ns),
    }


def _ratio(value: float) -> float:
    """A ratio at six decimals: more would be noise, and would differ between machines."""
    return round(float(value), 6)


def _health(explanation: Explanation, views: Sequence[View]) -> Json:
    health = explanation.run.health
    said = list(health.warnings)
    said += [
        f"lost: {loss.source}: {loss.reason} ({count(loss.count)}"
        + (f", first at byte {loss.offset}" if loss.offset is not None else "")
        + ")"
        for loss in health.losses
    ]
    for view in views:
        whose = _whose(explanation, view)
        said += [f"{whose}{note}" for note in view.ledger.laps.notes]
        for device in view.ledger.devices:
            mine = f"{device.device}: " if len(view.ledger.devices) > 1 else whose
            said += [f"{mine}{note}" for note in device.notes]
    return {"items": int(health.items), "lost": int(health.lost), "warnings": _unique(said)}


def _whose(explanation: Explanation, view: View) -> str:
    """Whose a note is, where a run has several timelines: the rank, else the timeline."""
    if len(explanation.views) < 2:
        return ""
    rank = view.timeline.rank
    same = sum(v.timeline.rank == rank for v in explanation.views)
    return f"rank {rank}: " if rank is not None and same == 1 else f"{view.timeline.id}: "


def _functions(view: View) -> Iterator[Json]:
    """Python functions of each device's threads, most self time first."""
    for device, table in view.functions.items():
        for line in table.lines:
            yield {
                "device": device,
                "thread": str(view.timeline.lanes[line.lane].tid),
                "name": line.name,
                "caller": line.caller,
                "laps": table.laps,
                "self_ns": line.self_ns,
                "idle_ns": line.idle_ns,
                "outside_ops_ns": line.outside_ns,
                "count": line.count,
            }


def _kernels(views: Sequence[View]) -> Iterator[Json]:
    """Each name once, summed over the run, longest first."""
    for total in _kernel_totals(views):
        d = total.decoded
        yield {
            "name": d.name,
            "library": d.library,
            "operation": d.operation,
            "dtype": d.dtype,
            "count": int(total.count),
            "ns": int(total.ns),
        }


def _kernel_totals(views: Sequence[View]) -> Sequence[KernelTotal]:
    if len(views) == 1:
        return views[0].kernels
    found: dict[str, KernelTotal] = {}
    for view in views:
        for k in view.kernels:
            had = found.get(k.decoded.name)
            found[k.decoded.name] = k if had is None else _added(had, k)
    return sorted(found.values(), key=lambda k: (-k.ns, k.decoded.name))


def _added(a: KernelTotal, b: KernelTotal) -> KernelTotal:
    return KernelTotal(a.decoded, a.count + b.count, a.ns + b.ns)
