"""The explanation as one self-contained page: no script, no remote asset, readable offline.

Every text of the evidence passes ``visible`` and Jinja's escaping, whatever the template does with
it; the page's content policy forbids scripts and any load besides.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from laptime.explanation import Explanation, View
from laptime.ledger.by_lap import P99_NEEDS
from laptime.ledger.ledger import DeviceLedger
from laptime.report import functions, lap_views, numbers, shown
from laptime.report.lap_bars import chart
from laptime.report.palette import colour

_TEMPLATES = Path(__file__).parent / "templates"

_LONGEST_NAME = 240
"""Characters of a kernel name that a table shows; longer ones are cut in the middle."""

_REGIONS = 25
"""Regions shown of each device."""

_FUNCTIONS = 25
"""Host functions shown of each device."""

_LONGEST_WORD = 28
"""The same for cells that should hold a word or two."""


def page(explanation: Explanation, top: int = 50) -> str:
    """The page's text. ``top`` kernels for each rank."""
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
        bound=partial(shown.bound, explanation),
        short=lambda text: numbers.shorten(numbers.visible(text), _LONGEST_WORD),
        name=lambda text: numbers.shorten(numbers.visible(text), _LONGEST_NAME),
    )
    return environment.get_template("explain.html.j2").render(
        verdict=explanation.verdict,
        several=len(explanation.views) > 1,
        ranks=shown.rank_lines(explanation),
        views=[_view(explanation, view, top) for view in explanation.views],
        findings=[
            (shown.finding_head(f, len(explanation.views) > 1), f)
            for f in explanation.judgement.findings
        ],
        none_found=shown.none_found(explanation.judgement),
        silenced=explanation.judgement.silenced,
        clear=shown.cleared(explanation, explanation.judgement.clear),
        abstained=shown.abstained(explanation, explanation.judgement.abstentions),
        sources=explanation.run.sources,
        health=explanation.run.health,
        losses=shown.loss_lines(explanation.run.health),
        p99_laps=P99_NEEDS,
        not_measured=numbers.NOT_MEASURED,
    )


def _shown(value: Any) -> Any:
    """Plain texts made visible; what Jinja has marked as safe (its own markup) is left."""
    return numbers.visible(value) if type(value) is str else value


def _view(explanation: Explanation, view: View, top: int) -> dict[str, Any]:
    lines = shown.kernel_lines(view, top)
    unknown = [k for k in shown.unknown_kernels(view) if k not in lines]
    return {
        "title": shown.timeline_title(view.timeline),
        "source": shown.lap_source(view),
        "dropped": shown.dropped(view),
        "notes": view.ledger.laps.notes,
        "host": shown.host_spread(view.ledger),
        "devices": [_device(explanation, view, d) for d in view.ledger.devices],
        "kernels": lines,
        "unknown": unknown[:top],
        "more_unknown": max(0, len(unknown) - top),
        "kernel_names": len(view.kernels),
    }


def _device(explanation: Explanation, view: View, device: DeviceLedger) -> dict[str, Any]:
    ledger = view.ledger
    return {
        "title": shown.device_title(explanation, device),
        "phrase": shown.counted_phrase(ledger, device),
        "spread": shown.window_spread(view, device),
        "lag": None if device.cpu else shown.lag_ns(ledger, device),
        "cpu": device.cpu,
        "chart": chart(ledger, device),
        "lines": [(line, colour(line.id).fill) for line in shown.account_lines(ledger, device)],
        "notes": device.notes,
        "median": lap_views.median_phrase(view, device),
        "slow": lap_views.slow_lines(view, device),
        "pointer": functions.pointer(view, device),
        "functions": functions.lines(view, device, _FUNCTIONS),
        "functions_note": functions.note(view, device) if device.device in view.functions else "",
        "functions_part": functions.part_title(device),
        "regions": lap_views.region_lines(view, device, _REGIONS),
    }
