"""What the server answers: typed results with the figures of the JSON contract, bounded in size.

Every list has a limit and says how many items it left out; every text has one too. Times are
integer nanoseconds; ``None`` is "not measured".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from laptime.causes.case import Abstention, Clear, Finding, Outcome
from laptime.causes.registry import causes
from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger
from laptime.mcp.results import (
    AccountTime,
    CauseAnswer,
    CausesAnswer,
    DeviceTime,
    Event,
    ExplainAnswer,
    Found,
    NotJudged,
    Reason,
    RuledOut,
    RunAnswer,
    TimelineLaps,
    WhyAnswer,
)
from laptime.model.errors import UsageError
from laptime.report.clock import Clock
from laptime.report.selection import said_of, view_of, views_of

T = TypeVar("T")
S = TypeVar("S")

TEXT = 600
"""Characters of a text of the evidence (kernel names of templates run to thousands)."""
BYTES = 32_000
"""Most bytes of JSON of one list of an answer."""


class Bounded:
    """Fills the lists of one answer and counts what was left out, by the list's name."""

    def __init__(self, most_bytes: int = BYTES) -> None:
        """``most_bytes`` is the limit of each list, in JSON."""
        self._most_bytes = most_bytes
        self.left_out: dict[str, int] = {}

    def filled(
        self, name: str, items: Sequence[S], most: int, made: Callable[[S], T], skip: int = 0
    ) -> list[T]:
        """At most ``most`` items from ``skip`` on, and never more than the bytes allow."""
        out: list[T] = []
        size = 0
        for item in items[skip : skip + most]:
            one = made(item)
            size += len(json.dumps(one, default=vars))
            if out and size > self._most_bytes:
                break
            out.append(one)
        left = len(items) - skip - len(out)
        if left > 0:
            self.left_out[name] = left
        return out

    def texts(self, name: str, items: Iterable[str], most: int = 20) -> list[str]:
        """The first texts, each cut."""
        return self.filled(name, list(items), most, text)


def text(value: str, most: int = TEXT) -> str:
    """A text of the evidence, cut to a length that an answer can hold."""
    return value if len(value) <= most else f"{value[: most - 1]}…"


def run_answer(answer: Explanation) -> RunAnswer:
    """What was read: processes, laps, devices, and what is wrong with it."""
    to, run = Bounded(), answer.run
    return RunAnswer(
        sources=to.texts("sources", run.sources, 50),
        timelines=to.filled("timelines", answer.views, 64, _laps),
        devices=to.texts("devices", [d.id for d in run.devices], 64),
        items=run.health.items,
        items_lost=run.health.lost,
        warnings=to.texts("warnings", run.health.warnings),
        left_out=to.left_out,
    )


def explain_answer(answer: Explanation, rank: int | None) -> ExplainAnswer:
    """Verdict, ledger and causes, of one rank where ``rank`` names it."""
    to = Bounded()
    views = _views(answer, rank)
    said = said_of(answer, views)
    devices = [(v, d) for v in views for d in v.ledger.devices]
    return ExplainAnswer(
        verdict=text(answer.verdict, 2000),
        laps=to.filled("laps", views, 16, _laps),
        devices=to.filled("devices", devices, 16, lambda p: _device(answer, *p)),
        findings=to.filled("findings", said.findings, 24, _found),
        ruled_out=to.filled("ruled_out", said.clear, 64, _ruled_out),
        not_judged=to.filled("not_judged", said.abstentions, 64, _not_judged),
        warnings=to.texts("warnings", answer.run.health.warnings),
        left_out=to.left_out,
    )


def why_answer(
    answer: Explanation, cause: str, rank: int | None, most: int, skip: int
) -> WhyAnswer:
    """Everything said of one cause. ``most`` and ``skip`` page through each finding's events.

    Raises ``UsageError`` for an id that was not judged here.
    """
    to, clock = Bounded(), Clock(answer.views)
    said = said_of(answer, _views(answer, rank))
    everything: list[Outcome] = [
        *said.findings,
        *said.silenced,
        *said.clear,
        *said.abstentions,
    ]
    about = [one for one in everything if one.id == cause]
    if not about:
        known = ", ".join(sorted({one.id for one in everything})) or "none was judged"
        raise UsageError(f"{text(cause, 80)}: no such cause in this run; known: {known}")
    quiet = {id(f) for f in said.silenced}

    def reason(one: Outcome) -> Reason:
        if isinstance(one, Clear):
            return _plain_reason("ruled out", one.rank, one.why)
        if isinstance(one, Abstention):
            missing = f"missing {'; '.join(one.missing)}; {one.supply}"
            return _plain_reason("not judged", one.rank, missing)
        outcome = "silenced by a finding that explains it" if id(one) in quiet else "found"
        return _reason(answer, one, outcome, clock, to, most, skip)

    return WhyAnswer(
        id=cause,
        origin_ns=str(clock.origin_ns),
        said=to.filled("said", about, 16, reason),
        left_out=to.left_out,
    )


def causes_answer(cause: str | None) -> CausesAnswer:
    """The catalogue, or one page of it. Raises ``UsageError`` for an unknown id."""
    found = [c for c in causes() if cause in (None, c.id)]
    if not found:
        known = ", ".join(c.id for c in causes())
        raise UsageError(f"{text(str(cause), 80)}: no such cause; known: {known}")
    return CausesAnswer(
        [
            CauseAnswer(
                id=c.id,
                title=c.title,
                layer=c.layer,
                needs=[n.value for n in c.needs],
                silences=list(c.silences),
                page=None if cause is None else type(c).__doc__,
            )
            for c in found
        ]
    )


def _views(answer: Explanation, rank: int | None) -> list[View]:
    views = views_of(answer, rank)
    if not views:
        known = sorted({v.timeline.rank for v in answer.views if v.timeline.rank is not None})
        listed = ", ".join(map(str, known)) or "none is labelled"
        raise UsageError(f"rank {rank}: no such rank in this run; known: {listed}")
    return views


def _laps(view: View) -> TimelineLaps:
    laps = view.ledger.laps
    lengths = sorted(int(lap.dur_ns) for lap in laps.laps if lap.steady)
    return TimelineLaps(
        timeline=text(view.timeline.id),
        rank=view.timeline.rank,
        laps=len(laps.laps),
        steady=len(lengths),
        source=laps.source,
        confidence=_ratio(laps.confidence),
        median_ns=lengths[len(lengths) // 2] if lengths else None,
    )


def _device(answer: Explanation, view: View, device: DeviceLedger) -> DeviceTime:
    ledger = view.ledger
    name = next((d.name for d in answer.run.devices if d.id == device.device), None)
    accounts: list[AccountTime] = []
    for leaf in device.leaves:
        mean = ledger.mean_ns(device, leaf.id)
        if not mean and leaf.id != "unattributed":
            continue
        share = ledger.share(device, leaf.id)
        accounts.append(
            AccountTime(
                leaf.id,
                leaf.title,
                round(mean),
                None if share is None else _ratio(share),
                list(device.merged.get(leaf.id, ())),
            )
        )
    return DeviceTime(
        device=device.device,
        name=name,
        rank=view.timeline.rank,
        cpu=device.cpu,
        windows=len(device.windows),
        counted_windows=int(ledger.counted(device).sum()),
        mean_window_ns=round(ledger.mean_window_ns(device)),
        accounts=accounts,
        notes=[text(n) for n in list(device.notes)[:10]],
    )


def _found(finding: Finding) -> Found:
    return Found(
        id=finding.id,
        title=finding.title,
        sentence=text(finding.sentence, 2000),
        share=None if finding.share is None else _ratio(finding.share),
        bound_ns=finding.bound_ns,
        rank=finding.rank,
        device=finding.device,
        confidence=_ratio(finding.confidence),
        next_step=[text(s) for s in finding.next_step],
    )


def _ruled_out(clear: Clear) -> RuledOut:
    return RuledOut(clear.id, clear.rank, text(clear.why))


def _not_judged(said: Abstention) -> NotJudged:
    return NotJudged(said.id, said.rank, list(said.missing), text(said.supply))


def _plain_reason(outcome: str, rank: int | None, said: str) -> Reason:
    return Reason(outcome, rank, None, text(said), None, None, [], [], [], None)


def _reason(
    answer: Explanation,
    finding: Finding,
    outcome: str,
    clock: Clock,
    to: Bounded,
    most: int,
    skip: int,
) -> Reason:
    view = view_of(answer, finding)
    named = finding.events_in_all

    def event(one: Any) -> Event:
        assert view is not None
        start = clock.start_ns(view, one.start_ns)
        return Event(text(one.name, 300), text(one.lane, 120), start, int(one.dur_ns))

    events = finding.events if view is not None else ()
    return Reason(
        outcome=outcome,
        rank=finding.rank,
        device=finding.device,
        text=text(finding.sentence, 2000),
        formula=text(finding.formula, 2000),
        bound_ns=finding.bound_ns,
        why=[text(w) for w in finding.why],
        next_step=[text(s) for s in finding.next_step],
        events=to.filled("events", events, most, event, skip),
        events_in_all=len(finding.events) if named is None else named,
    )


def _ratio(value: float) -> float:
    return round(float(value), 6)
