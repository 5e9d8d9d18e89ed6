"""The explanation as one self-contained page: no script, no remote asset, readable offline.

Every text of the evidence passes ``visible`` and Jinja's escaping, whatever the template does with
it; the page's content policy forbids scripts and any load besides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from laptime.causes.case import EventRef, Finding, Judgement
from laptime.explanation import Explanation, View
from laptime.ledger.by_lap import P99_NEEDS
from laptime.ledger.ledger import DeviceLedger
from laptime.report import (
    by_layer,
    flops,
    functions,
    grouped,
    lap_views,
    numbers,
    over_ranks,
    shown,
)
from laptime.report.beside import capture_lines, lone_lines
from laptime.report.clock import Clock, FileTime
from laptime.report.lap_bars import MOST_BARS, chart
from laptime.report.palette import colour
from laptime.report.selection import said_of, view_of, views_of

_TEMPLATES = Path(__file__).parent / "templates"

_LONGEST_NAME = 240
"""Characters of a kernel name that a table shows; longer ones are cut in the middle."""

_LINES = 25
"""Regions and host functions shown of each device, where the page is of one."""

_DETAILED = 8
"""Ranks, and devices of each, that a page shows in full: with the limits below a page stays under
1 MB. What ranges over all ranks is there of all."""

_EVENTS = 10
"""Events shown of a finding; --why has every one that it names."""

_FAMILIES = 16
"""Kernel families shown of each device."""

_LONGEST_WORD = 28
"""The same for cells that should hold a word or two."""


@dataclass(frozen=True)
class _Limits:
    """How much a page shows of each device: less where there are several."""

    kernels: int
    bars: int
    lines: int

    @classmethod
    def of(cls, devices: int, top: int | None) -> _Limits:
        several = min(max(devices, 1), _DETAILED)
        return cls(
            kernels=top if top is not None else 50 if several == 1 else max(20, 100 // several),
            bars=MOST_BARS if several == 1 else max(8, 64 // several),
            lines=_LINES if several == 1 else max(10, 50 // several),
        )


def page(explanation: Explanation, top: int | None = None, rank: int | None = None) -> str:
    """The page's text. ``top`` kernels for each rank (by itself 50 of one, fewer of several);
    ``rank`` limits the page to one."""
    views = views_of(explanation, rank)
    said = said_of(explanation, views)
    grouping = len(views) > 1 and rank is None
    detailed = _detailed(views, said)
    limits = _Limits.of(sum(len(v.ledger.devices) for v in detailed), top)
    layers = by_layer.ruled_out(explanation, said, grouping)
    clock = Clock(explanation.views)
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_shown,
    )
    environment.filters.update(
        duration=numbers.duration,
        share=numbers.share,
        count=numbers.count,
        many=numbers.many,
        calls=functions.calls,
        short=lambda text: numbers.shorten(numbers.visible(text), _LONGEST_WORD),
        name=lambda text: numbers.shorten(numbers.visible(text), _LONGEST_NAME),
    )
    return environment.get_template("explain.html.j2").render(
        verdict=explanation.verdict,
        several=len(explanation.views) > 1,
        grouped=grouping,
        rank=rank,
        noun=grouped.noun(explanation),
        ranks=shown.rank_lines(explanation),
        lap_sources=grouped.lap_sources(explanation),
        tables=[
            (table, [(line, colour(line.id).fill) for line in table.lines])
            for table in (over_ranks.account_tables(explanation) if grouping else ())
        ],
        views=[_view(explanation, view, limits) for view in detailed],
        of_views=len(views),
        findings=[
            (entry, _events(explanation, entry.finding, clock))
            for entry in grouped.entries(explanation, said, grouping)
        ],
        none_found=shown.none_found(said),
        silenced=grouped.silenced(explanation, said, grouping),
        clear=layers,
        cleared=by_layer.number(layers),
        abstained=grouped.not_measured(explanation, said, grouping),
        sources=explanation.run.sources,
        health=explanation.run.health,
        alone=lone_lines(explanation),
        losses=shown.loss_lines(explanation.run.health),
        p99_laps=P99_NEEDS,
        not_measured=numbers.NOT_MEASURED,
    )


def _events(
    explanation: Explanation, finding: Finding, clock: Clock
) -> list[tuple[EventRef, int, str]]:
    """Events with their start after the run's origin, and as the file has it."""
    view = view_of(explanation, finding)
    if view is None or not finding.events:
        return []
    in_file = FileTime(view.timeline)
    return [
        (e, clock.start_ns(view, e.start_ns), in_file.ts(e.start_ns))
        for e in finding.events[:_EVENTS]
    ]


def _detailed(views: Sequence[View], said: Judgement) -> list[View]:
    """The views to show in full: of many, those where a cause is worst, then the first."""
    if len(views) <= _DETAILED:
        return list(views)
    worst = {f.id: f.rank for f in reversed(said.findings)}
    first = [v for v in views if v.timeline.rank is not None and v.timeline.rank in worst.values()]
    chosen = list({id(v): v for v in [*first, *views]}.values())[:_DETAILED]
    return [v for v in views if any(v is c for c in chosen)]


def _shown(value: Any) -> Any:
    """Plain texts made visible; what Jinja has marked as safe (its own markup) is left."""
    return numbers.visible(value) if type(value) is str else value


def _fall_colour(line: flops.FallLine) -> str:
    return colour("compute" if line.level or line.id in flops.OF_COMPUTE else line.id).fill


def _view(explanation: Explanation, view: View, limits: _Limits) -> dict[str, Any]:
    lines = shown.kernel_lines(view, limits.kernels)
    unknown = [k for k in shown.unknown_kernels(view) if k not in lines]
    return {
        "title": shown.timeline_title(view.timeline),
        "source": shown.lap_source(view),
        "dropped": shown.dropped(view),
        "notes": view.ledger.laps.notes,
        "capture": capture_lines(view),
        "host": shown.host_spread(view.ledger),
        "devices": [_device(explanation, view, d, limits) for d in view.ledger.devices[:_DETAILED]],
        "more_devices": max(0, len(view.ledger.devices) - _DETAILED),
        "kernels": lines,
        "unknown": unknown[: limits.kernels],
        "more_unknown": max(0, len(unknown) - limits.kernels),
        "kernel_names": len(view.kernels),
    }


def _functions_note(view: View, device: DeviceLedger, top: int) -> str:
    table = view.functions.get(device.device)
    if table is None:
        return ""
    told = functions.note(view, device)
    cut = len(table.lines) > top
    return f"{told}; the first {top} of {numbers.count(len(table.lines))}" if cut else told


def _device(
    explanation: Explanation, view: View, device: DeviceLedger, limits: _Limits
) -> dict[str, Any]:
    ledger = view.ledger
    return {
        "title": shown.device_title(explanation, device),
        "phrase": shown.counted_phrase(ledger, device),
        "spread": shown.window_spread(view, device),
        "lag": None if device.cpu else shown.lag_ns(ledger, device),
        "cpu": device.cpu,
        "chart": chart(ledger, device, limits.bars),
        "lines": [(line, colour(line.id).fill) for line in shown.account_lines(ledger, device)],
        "notes": device.notes,
        "median": lap_views.median_phrase(view, device),
        "slow": lap_views.slow_lines(view, device),
        "pointer": functions.pointer(view, device),
        "functions": functions.lines(view, device, limits.lines),
        "functions_note": _functions_note(view, device, limits.lines),
        "functions_part": functions.part_title(device),
        "regions": lap_views.region_lines(view, device, limits.lines),
        "fall": [(line, _fall_colour(line)) for line in flops.fall_lines(view, device.device)],
        "fall_note": flops.sentence(view, device.device) or "",
        "families": flops.family_lines(view, device.device)[:_FAMILIES],
        "families_note": flops.note(view, device.device),
    }
