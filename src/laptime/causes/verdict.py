"""One sentence for a whole run, with its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Finding, Judgement, Need
from laptime.causes.launches import device_unseen
from laptime.causes.limits import HEALTHY_BUSY, LARGER_THAN_FOUND, UNATTRIBUTED_SHARE
from laptime.causes.needs import uncaptured
from laptime.causes.registry import causes
from laptime.causes.view import DeviceView, device_views

COMPUTING = ("compute", "compute_with_comm", "operators")
"""Accounts in which something is computed."""


def verdict(judgement: Judgement, cases: Sequence[Case]) -> str:
    """The first finding, or that the run is healthy, or what cannot be told and why.

    Names the largest account without computation where it is much larger than every finding's
    share, one lap where a finding rests on no more, the causes that could not be judged where none
    was found, and ends with "incomplete" where more than the budget of time is unattributed.
    """
    views = [view for case in cases for view in device_views(case)]
    first = judgement.findings[0] if judgement.findings else None
    if first is None or first.share is None:
        told = _without_cause(cases, views, first)
    else:
        healthy = first.id == "healthy"
        told = first.sentence if healthy else wording.sentence_after(first.title, first.sentence)
        told = told.rstrip(".") + _window_of(first, views) + _rests_on(first, views)
        where = [*_on_device(first, views), *_elsewhere(first, judgement, len(cases))]
        told += f" ({'; '.join(where)})" if where else ""
        told += _larger(judgement, views, first.rank)
    unjudged = _not_judged(judgement, cases)
    if (first is None or first.bound_ns is None) and unjudged:
        told += f"; not judged: {wording.listed(unjudged, most=4)}"
    return f"{_doubtful(cases)}{told}{_incomplete(views)}."


def _doubtful(cases: Sequence[Case]) -> str:
    """Said first where files do not look like those of one job: it changes what all else means."""
    doubts = len(cases[0].run.health.doubts) if cases else 0
    if not doubts:
        return ""
    reasons = wording.counted(doubts, "reason")
    return f"These files may not be of one job ({reasons}, under Evidence). "


def _not_judged(judgement: Judgement, cases: Sequence[Case]) -> list[str]:
    """Ids of the causes that could not be judged on some timeline, those of kernels last: they ask
    how well busy time is used, which no verdict on waiting depends on.

    Those that only a device has are left out where no device was used, and those that only a
    capture shows where there is none: nobody asked for them.
    """
    unseen = any(device_unseen(case) for case in cases)
    of_kernels = {c.id for c in causes() if c.layer == "kernels"}
    ids = {
        a.id
        for a in judgement.abstentions
        if (unseen or Need.GPU_ROWS.value not in a.missing)
        and not any(uncaptured(case.run, a) for case in cases)
    }
    return sorted(ids, key=lambda i: (i in of_kernels, i))


def _without_cause(
    cases: Sequence[Case], views: Sequence[DeviceView], evidence: Finding | None
) -> str:
    """No cause with a share: how busy the device was, and what the rest was, as far as known."""
    but = ""
    if evidence is not None:
        but = f"; {evidence.sentence[:1].lower()}{evidence.sentence[1:].rstrip('.')}"
    if any(device_unseen(case) for case in cases):
        return f"Cannot tell what the device did{but}"
    if not views:
        return f"Cannot tell where the time went: no lap with device or thread time{but}"
    view = min(views, key=_worked)
    told = "The owning thread is inside operators" if view.ledger.cpu else "Device busy"
    told += f" {wording.percent(_worked(view))} of {view.lap}{_sliver(view)}"
    if view.share(view.time_in(*COMPUTING)) >= HEALTHY_BUSY.value:
        return f"{told}, no cause found{but}"
    share, title = _largest_other(view)
    if share > 0 and view.ledger.cpu:
        told += (
            f"; the largest part outside them is {title} ({wording.percent(share)}), which no "
            "cause explains; other threads are not counted"
        )
    elif share > 0:
        told += (
            f"; the largest part that computes nothing is {title} ({wording.percent(share)}), "
            "which no cause explains"
        )
    return told + but


def _sliver(view: DeviceView) -> str:
    """Says so where the window counted is open and spans too little of its lap on the host."""
    return f", which {view.open_in}" if view.open_in else ""


def _view_of(finding: Finding, views: Sequence[DeviceView]) -> DeviceView | None:
    """The device that a finding is about."""
    for view in views:
        if view.device == finding.device and view.case.timeline.rank == finding.rank:
            return view
    return None


def _window_of(finding: Finding, views: Sequence[DeviceView]) -> str:
    """The same of the device that a finding is about."""
    view = _view_of(finding, views)
    return f"; that lap {view.open_in}" if view is not None and view.open_in else ""


def _rests_on(finding: Finding, views: Sequence[DeviceView]) -> str:
    """Says so where a finding rests on one lap: its figures may be those of that lap alone."""
    view = _view_of(finding, views)
    if view is None or view.laps > 1:
        return ""
    if view.case.ledger.laps.source == "window":
        return "; from the whole recording taken as one lap"
    steady = {lap.id for lap in view.case.ledger.laps.steady}
    return f"; from one {'steady ' if view.counted[0].lap in steady else ''}lap"


def _worked(view: DeviceView) -> float:
    return view.share(view.time_in("operators" if view.ledger.cpu else "busy"))


def _largest_other(view: DeviceView) -> tuple[float, str]:
    """Share and title of the largest account in which nothing is computed."""
    shares = [
        (view.share(view.time_in(leaf.id)), leaf.title.lower())
        for leaf in view.ledger.leaves
        if leaf.id not in COMPUTING
    ]
    return max(shares, key=lambda s: s[0], default=(0.0, ""))


def _larger(judgement: Judgement, views: Sequence[DeviceView], rank: int | None) -> str:
    """An account without computation that is much larger than anything that was found, named."""
    found = max((f.share or 0.0 for f in judgement.findings if f.rank == rank), default=0.0)
    mine = [v for v in views if v.case.timeline.rank == rank]
    share, title = max((_largest_other(v) for v in mine), default=(0.0, ""))
    if share <= LARGER_THAN_FOUND.value * found:
        return ""
    return f"; larger than what was found: {title} ({wording.percent(share)})"


def _on_device(first: Finding, views: Sequence[DeviceView]) -> list[str]:
    """Which device the first finding is about, where its timeline has several."""
    view = _view_of(first, views)
    devices = 0 if view is None else len(view.case.ledger.devices)
    return [f"{first.device}, one of {devices} devices"] if devices > 1 else []


def _elsewhere(first: Finding, judgement: Judgement, timelines: int) -> list[str]:
    """On how many other timelines the same was found, where a run has several."""
    if timelines < 2:
        return []
    same = sum(f.id == first.id for f in judgement.findings)
    where = f"rank {first.rank}" if first.rank is not None else "the worst of its timelines"
    return [where, f"found on {same} of {timelines}"]


def _incomplete(views: Sequence[DeviceView]) -> str:
    """Names the worst device whose unattributed time is above the budget."""
    shares = [(v.share(v.time_in("unattributed")), v.device) for v in views]
    share, device = max(shares, default=(0.0, ""), key=lambda s: s[0])
    if share <= UNATTRIBUTED_SHARE.value:
        return ""
    return f"; incomplete: {wording.percent(share)} of the time of {device} is unattributed"
