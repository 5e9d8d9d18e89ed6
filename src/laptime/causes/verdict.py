"""One sentence for a whole run, with its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Finding, Judgement
from laptime.causes.limits import UNATTRIBUTED_SHARE
from laptime.causes.view import DeviceView, device_views


def verdict(judgement: Judgement, cases: Sequence[Case]) -> str:
    """The first finding, or that the run is healthy, or what cannot be told and why.

    Ends with "incomplete" where more than the budget of time is unattributed.
    """
    views = [view for case in cases for view in device_views(case)]
    first = judgement.findings[0] if judgement.findings else None
    if first is None or (first.bound_ns is None and first.share is None):
        told = _without_cause(views, first)
    else:
        title = "" if first.id == "healthy" else first.title
        told = wording.sentence_after(title, first.sentence) if title else first.sentence
        told = told.rstrip(".") + _elsewhere(first, judgement, len(cases))
    return f"{told}{_incomplete(views)}."


def _without_cause(views: Sequence[DeviceView], evidence: Finding | None) -> str:
    """No cause with a cost: what the largest part of the time is, as far as it is known."""
    suffix = f"; {_joined(evidence)}" if evidence is not None else ""
    if not views:
        return f"Cannot tell where the time went: no lap with device or thread time{suffix}"
    view = min(views, key=_worked)
    accounts = [
        (view.share(view.time_in(leaf.id)), leaf)
        for leaf in view.ledger.leaves
        if leaf.parent != "busy" and leaf.id not in ("operators", "busy")
    ]
    what = "Inside operators" if view.ledger.cpu else "Device busy"
    told = f"{what} {wording.percent(_worked(view))} of {_lap(view)}"
    share, largest = max(accounts, key=lambda a: a[0], default=(0.0, None))
    if largest is not None and share > 0:
        told += (
            f"; the largest other part is {largest.title.lower()} ({wording.percent(share)}), "
            "which no cause explains"
        )
    return told + suffix


def _joined(evidence: Finding) -> str:
    return evidence.sentence[:1].lower() + evidence.sentence[1:].rstrip(".")


def _lap(view: DeviceView) -> str:
    lap = wording.time(view.lap_ns)
    if view.case.ledger.laps.source == "window":
        return f"the {lap} recording"
    return f"each {lap} lap" if view.laps > 1 else f"the one {lap} lap counted"


def _worked(view: DeviceView) -> float:
    return view.share(view.time_in("operators" if view.ledger.cpu else "busy"))


def _elsewhere(first: Finding, judgement: Judgement, timelines: int) -> str:
    """On how many other timelines the same was found, where a run has several."""
    if timelines < 2:
        return ""
    same = sum(f.id == first.id for f in judgement.findings)
    where = f"rank {first.rank}" if first.rank is not None else "the worst of its timelines"
    return f" ({where}; found on {same} of {timelines})"


def _incomplete(views: Sequence[DeviceView]) -> str:
    """Names the worst device whose unattributed time is above the budget."""
    shares = [(v.share(v.time_in("unattributed")), v.device) for v in views]
    share, device = max(shares, default=(0.0, ""), key=lambda s: s[0])
    if share <= UNATTRIBUTED_SHARE.value:
        return ""
    return f"; incomplete: {wording.percent(share)} of the time of {device} is unattributed"
