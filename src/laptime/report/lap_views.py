"""The two further views of a ledger as readers see them: slow laps, and the user's regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.explanation import View
from laptime.ledger.by_lap import Difference
from laptime.ledger.by_region import OUTSIDE
from laptime.ledger.ledger import DeviceLedger
from laptime.report.numbers import duration, many, shorten, visible

_ACCOUNTS = 4
"""Accounts named for one slow lap; the others are summed."""

_LONGEST_NAME = 60
"""Characters of an event's or region's name."""


@dataclass(frozen=True)
class SlowLine:
    """A slow lap: its length, how much more than the median lap, and of what."""

    label: str
    length: str
    more: str
    accounts: str
    device_names: str
    host_names: str


@dataclass(frozen=True)
class RegionLine:
    """A region's mean time per counted window; ``mostly`` names its largest accounts, ``calls`` how
    often it begins in a lap (None where that is not known)."""

    name: str
    ns: float
    share: float | None
    mostly: str
    outside: bool
    calls: float | None = None


def median_phrase(view: View, device: DeviceLedger) -> str | None:
    """The lap that slow ones are held against; None where no spread is known."""
    spread = view.spreads.get(device.device)
    if spread is None or not spread.slow:
        return None
    return f"against the median lap, {visible(spread.median_label)} ({duration(spread.p50_ns)})"


def slow_lines(view: View, device: DeviceLedger) -> list[SlowLine]:
    """The slowest laps, slowest first."""
    spread = view.spreads.get(device.device)
    if spread is None:
        return []
    titles = {a.id: a.title for a in device.leaves}
    return [
        SlowLine(
            visible(lap.label),
            duration(lap.dur_ns),
            _signed(lap.dur_ns - spread.p50_ns),
            _accounts(lap.accounts, titles),
            _names(lap.device_names),
            _names(lap.host_names),
        )
        for lap in spread.slow
    ]


def _signed(ns: int) -> str:
    return duration(ns) if ns < 0 else f"+{duration(ns)}"


def _accounts(accounts: Sequence[Difference], titles: dict[str, str]) -> str:
    """The largest differences, then the rest in one: together the difference in length."""
    ordered = sorted(accounts, key=lambda d: (-abs(d.ns), d.what))
    texts = [f"{titles.get(d.what, d.what)} {_signed(d.ns)}" for d in ordered[:_ACCOUNTS]]
    rest = ordered[_ACCOUNTS:]
    if rest:
        others = many(len(rest), "other account")
        texts.append(f"{others} {_signed(sum(d.ns for d in rest))}")
    return ", ".join(texts)


def _names(names: Sequence[Difference]) -> str:
    return "; ".join(f"{shorten(visible(d.what), _LONGEST_NAME)} {_signed(d.ns)}" for d in names)


def region_lines(view: View, device: DeviceLedger, top: int) -> list[RegionLine]:
    """The longest regions, the rest in one line; all lines sum to the mean counted window."""
    table = view.regions.get(device.device)
    if table is None or not table.laps:
        return []
    titles = {a.id: a.title for a in device.leaves}

    def line(
        name: str,
        ns: int,
        accounts: Sequence[tuple[str, int]],
        members: int = 1,
        count: int | None = None,
    ) -> RegionLine:
        largest = sorted(accounts, key=lambda a: (-a[1], a[0]))[:2]
        mostly = ", ".join(
            f"{titles.get(id_, id_)} {duration(part / table.laps)}" for id_, part in largest
        )
        whole = ns / table.window_ns if table.window_ns else None
        shown = shorten(visible(name), _LONGEST_NAME)
        if members > 1:
            shown += f" ×{members}"
        calls = None if count is None else count / table.laps
        return RegionLine(shown, ns / table.laps, whole, mostly, name == OUTSIDE, calls)

    lines = [
        line(r.name, r.ns, list(r.accounts.items()), r.members, r.count) for r in table.lines[:top]
    ]
    rest = table.lines[top:]
    if rest:
        accounts: dict[str, int] = {}
        for region in rest:
            for id_, ns in region.accounts.items():
                accounts[id_] = accounts.get(id_, 0) + ns
        name = many(len(rest), "other region")
        lines.append(line(name, sum(r.ns for r in rest), list(accounts.items())))
    return lines
