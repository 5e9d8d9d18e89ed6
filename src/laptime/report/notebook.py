"""The explanation as a notebook shows it: the verdict, ledgers and causes, in a few kilobytes.

No script, no style sheet and no link, so that it is kept by every notebook's sanitizer and costs
little in a saved notebook; ``html.page`` is the whole report. Every text of the evidence passes
``visible`` and Jinja's escaping.
"""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger
from laptime.report import grouped, shown
from laptime.report.numbers import duration, share, visible
from laptime.report.palette import colour
from laptime.report.selection import said_of

DEVICES = 4
ENTRIES = 8


def fragment(explanation: Explanation) -> str:
    """The HTML fragment, with the first ``DEVICES`` ledgers and ``ENTRIES`` causes."""
    views = explanation.views
    said = said_of(explanation, views)
    several = len(views) > 1
    devices = [(v, d) for v in views for d in v.ledger.devices]
    entries = grouped.entries(explanation, said, several)
    environment = Environment(
        loader=PackageLoader("laptime.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    return environment.get_template("notebook.html.j2").render(
        verdict=explanation.verdict,
        devices=[_device(explanation, *one) for one in devices[:DEVICES]],
        devices_left=max(0, len(devices) - DEVICES),
        entries=entries[:ENTRIES],
        entries_left=max(0, len(entries) - ENTRIES),
        none_found=shown.none_found(said),
        folded=(
            ("Ruled out", grouped.ruled_out(explanation, said, several)),
            ("Not measured", grouped.not_measured(explanation, said, several)),
        ),
    )


def _device(explanation: Explanation, view: View, device: DeviceLedger) -> dict[str, Any]:
    lines = shown.account_lines(view.ledger, device)
    measured = shown.window_spread(view, device) is not None
    return {
        "title": shown.device_title(explanation, device),
        "counted": shown.counted_phrase(view.ledger, device),
        "lines": [
            {
                "depth": line.depth,
                "title": line.title,
                "time": duration(line.ns),
                "share": share(line.share),
                "percent": None if line.share is None else round(100 * line.share, 1),
                "fill": colour(line.id).fill,
            }
            for line in lines
        ]
        if measured
        else [],
    }


def _shown(value: object) -> object:
    return visible(value) if type(value) is str else value
