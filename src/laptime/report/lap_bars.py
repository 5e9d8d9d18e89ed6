"""The ledger of single laps as stacked bars: geometry in percent, for any drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.report.numbers import duration, share
from laptime.report.palette import colour

MOST_BARS = 32
"""More laps than this are sampled: a page of bars that nobody can tell apart shows nothing."""


@dataclass(frozen=True)
class Stretch:
    """One account's part of a bar; ``at`` and ``width`` in percent of the longest bar."""

    account: str
    title: str
    at: float
    width: float
    fill: str


@dataclass(frozen=True)
class Bar:
    """One window. ``remark`` says why statistics leave it out, if they do."""

    label: str
    length: str
    remark: str
    counted: bool
    stretches: Sequence[Stretch]


@dataclass(frozen=True)
class Legend:
    """One account that the bars show."""

    account: str
    title: str
    fill: str


@dataclass(frozen=True)
class Chart:
    """Bars of one device in order of time, and what was left out."""

    bars: Sequence[Bar]
    legend: Sequence[Legend]
    note: str


def chart(ledger: Ledger, device: DeviceLedger, most: int = MOST_BARS) -> Chart:
    """Bars for the windows of a device, ``most`` of them at most (3 or more)."""
    chosen = _chosen([w.dur_ns for w in device.windows], most)
    longest = max((device.windows[i].dur_ns for i in chosen), default=0)
    laps = {lap.id: lap for lap in ledger.laps.laps}
    counted = ledger.counted(device)
    bars = []
    for i in chosen:
        window = device.windows[i]
        lap = laps.get(window.lap)
        remark = "" if lap is None or lap.steady else lap.why_not or "not steady"
        if window.open:
            remark = f"{remark}, open" if remark else "open"
        label = lap.label if lap else window.lap
        used = bool(counted[i])
        stretches = _stretches(device, i, longest)
        bars.append(Bar(label, duration(window.dur_ns), remark, used, stretches))
    shown = {s.account for bar in bars for s in bar.stretches}
    legend = [Legend(a.id, a.title, colour(a.id).fill) for a in device.leaves if a.id in shown]
    note = ""
    if len(chosen) < len(device.windows):
        note = (
            f"{len(chosen)} of {len(device.windows):,} laps: the longest, the shortest, and evenly "
            "spaced ones between"
        )
    return Chart(bars, legend, note)


def _stretches(device: DeviceLedger, window: int, longest: int) -> list[Stretch]:
    whole = device.windows[window].dur_ns
    found = []
    at = 0
    for leaf, cell in zip(device.leaves, device.ns[window].tolist(), strict=True):
        if not cell:
            continue
        title = f"{leaf.title}: {duration(cell)}, {share(cell / whole)} of this lap"
        left, width = (round(100 * x / longest, 4) for x in (at, cell))
        found.append(Stretch(leaf.id, title, left, width, colour(leaf.id).fill))
        at += cell
    return found


def _chosen(lengths: Sequence[int], most: int) -> list[int]:
    """Indices of the windows to draw, ascending."""
    total = len(lengths)
    if total <= most:
        return list(range(total))
    ends = {
        max(range(total), key=lambda i: (lengths[i], -i)),
        min(range(total), key=lambda i: (lengths[i], i)),
    }
    room = most - len(ends)
    spaced = {round(i * (total - 1) / max(room - 1, 1)) for i in range(room)}
    return sorted(ends | spaced)
