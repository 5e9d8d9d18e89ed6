"""Causes found by listing their folder, run on every case, and their answers ranked.

A module of this package that defines ``CAUSE`` is a cause; nothing else registers it. A cause that
raises is a fault of laptime, not of the evidence, and is not hidden.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import import_module

from laptime.causes.case import Abstention, Case, Cause, Clear, Finding, Judgement, Outcome
from laptime.causes.limits import UNEXPLAINED_IDLE
from laptime.causes.needs import abstention
from laptime.model.run import Run

COMMUNICATION = "communication"
"""Layer of causes whose time is that of collectives."""

ALONE = "verdict"
"""Layer of causes that speak only where no other cause is found (the healthy verdict)."""
OF_LAPS = "laps"
"""Layer of causes that speak of which laps were recorded, not of what is lost in those counted:
the healthy verdict stands beside them."""


@lru_cache(maxsize=1)
def causes() -> tuple[Cause, ...]:
    """Every cause of the package, by id. Two causes with one id are a fault."""
    import laptime.causes as package

    found: dict[str, Cause] = {}
    for module in pkgutil.iter_modules(package.__path__):
        cause: Cause | None = getattr(
            import_module(f"{package.__name__}.{module.name}"), "CAUSE", None
        )
        if cause is None:
            continue
        if cause.id in found:
            raise RuntimeError(f"two causes have the id {cause.id!r}")
        found[cause.id] = cause
    return tuple(found[i] for i in sorted(found))


def outcome(cause: Cause, case: Case) -> Outcome:
    """One cause's answer on one case: an abstention where a need is missing, else its look.

    A finding on laps that were inferred is no surer than they are.
    """
    missing = [need for need in cause.needs if need not in case.has]
    if missing:
        return abstention(cause.id, missing, case.timeline.rank)
    answer = cause.look(case)
    laps = case.ledger.laps
    if isinstance(answer, Finding) and laps.source == "repetition":
        return replace(answer, confidence=min(answer.confidence, laps.confidence))
    return answer


def judge(run: Run, cases: Sequence[Case], using: Sequence[Cause] | None = None) -> Judgement:
    """Every cause on every case. ``using`` replaces the package's causes (tests)."""
    findings: list[Finding] = []
    silenced: list[Finding] = []
    clear: list[Clear] = []
    abstentions: list[Abstention] = []
    for case in cases:
        answers = [
            (cause, outcome(cause, case)) for cause in (causes() if using is None else using)
        ]
        if any(isinstance(a, Finding) and c.layer not in (ALONE, OF_LAPS) for c, a in answers):
            # Beside a finding, whether all is well is no question: it is neither found, nor
            # explained by what was found, nor ruled out.
            answers = [(c, a) for c, a in answers if c.layer != ALONE or isinstance(a, Abstention)]
        found = [(c, a) for c, a in answers if isinstance(a, Finding)]
        clear += [a for _, a in answers if isinstance(a, Clear)]
        abstentions += [a for _, a in answers if isinstance(a, Abstention)]
        spoken, quiet = _silence(case, found)
        findings += spoken
        silenced += quiet
    return Judgement(
        findings=tuple(sorted(findings, key=rank_key)),
        clear=tuple(clear),
        abstentions=tuple(abstentions),
        silenced=tuple(sorted(silenced, key=rank_key)),
    )


def rank_key(finding: Finding) -> tuple[bool, int, float, str, int]:
    """Order of findings: by bound, largest first, ties by share, then id, then rank.

    Findings carry bounds only. Once some carry a replayed gain, all are to be ranked by the one
    or all by the other: a bound beside a gain would always look larger.
    """
    return (
        finding.bound_ns is None,
        -(finding.bound_ns or 0),
        -(finding.share or 0.0),
        finding.id,
        -1 if finding.rank is None else finding.rank,
    )


def _silence(
    case: Case, found: Sequence[tuple[Cause, Finding]]
) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those that speak and the symptoms that others explain."""
    idle = {d.device: case.ledger.share(d, "idle") or 0.0 for d in case.ledger.devices if not d.cpu}
    spoken: list[Finding] = []
    quiet: list[Finding] = []
    for cause, finding in found:
        explained = sum(
            specific.share or 0.0
            for by, specific in found
            if cause.id in by.silences and specific.device == finding.device
        )
        # Of a CPU-only run nothing is idle, and communication is not idle time: what a symptom
        # shows is its own share.
        own = finding.share or 0.0
        whole = own if cause.layer == COMMUNICATION else idle.get(finding.device or "", own)
        left = whole - explained
        hidden = explained > 0 and left <= UNEXPLAINED_IDLE.value * whole
        (quiet if hidden else spoken).append(finding)
    return spoken, quiet
