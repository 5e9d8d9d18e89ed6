"""What of an explanation is about one rank."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes.case import Abstention, Clear, Finding, Judgement
from laptime.explanation import Explanation, View


def views_of(explanation: Explanation, rank: int | None) -> list[View]:
    """The timelines of a rank; all where ``rank`` is None."""
    return [v for v in explanation.views if rank is None or v.timeline.rank == rank]


def said_of(explanation: Explanation, views: Sequence[View]) -> Judgement:
    """What was said of the given timelines, in the same order."""
    if len(views) == len(explanation.views):
        return explanation.judgement
    said = explanation.judgement

    def theirs(item: Finding | Clear | Abstention) -> bool:
        return any(belongs(item, v) for v in views)

    return Judgement(
        [f for f in said.findings if theirs(f)],
        [c for c in said.clear if theirs(c)],
        [a for a in said.abstentions if theirs(a)],
        [f for f in said.silenced if theirs(f)],
    )


def belongs(said: Finding | Clear | Abstention, view: View) -> bool:
    """Whether something said of a rank is about this view; unlabelled, it is about every one."""
    device = said.device if isinstance(said, Finding) else None
    if device is not None:
        return any(d.device == device for d in view.ledger.devices)
    return said.rank is None or said.rank == view.timeline.rank


def view_of(explanation: Explanation, finding: Finding) -> View | None:
    """The view whose clock a finding's events are in."""
    return next((v for v in explanation.views if belongs(finding, v)), None)
