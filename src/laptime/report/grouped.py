"""What causes said of several ranks, one entry for each cause.

Only grouped: least, median and most over ranks, ranks named. Nothing is claimed across ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.causes.case import SUPPLY, Abstention, Clear, Finding, Judgement, Need
from laptime.causes.needs import lacking, uncaptured
from laptime.explanation import Explanation
from laptime.report import shown
from laptime.report.numbers import NOT_MEASURED, count, duration, many, share, visible
from laptime.report.ranges import over, phrase, variants

_STEPS = 4
"""Next steps of one cause; those of the worst rank first."""

_RANGES = 10
"""Ranges of ranks that are listed; JSON has every rank."""

_VARIANTS = 3
"""Texts of one cause that differ in more than figures; the rest are counted."""


@dataclass(frozen=True)
class Entry:
    """A cause found: head, sentence ("" where it is among the rows), labelled rows. ``finding`` is
    the one whose formula and events stand for it: of several ranks, that of the worst."""

    head: str
    sentence: str
    rows: Sequence[tuple[str, str]]
    finding: Finding


def entries(explanation: Explanation, said: Judgement, grouped: bool) -> list[Entry]:
    """The findings, most costly first; ``grouped``: each cause once, over all ranks."""
    if not grouped:
        return [_single(explanation, f) for f in said.findings]
    by_id: dict[str, list[Finding]] = {}
    for finding in said.findings:
        by_id.setdefault(finding.id, []).append(finding)
    return [_group(explanation, members) for members in by_id.values()]


def _single(explanation: Explanation, finding: Finding) -> Entry:
    rows = [("costs", shown.bound(explanation, finding))]
    rows += [("why", visible(why)) for why in finding.why]
    rows += [("next", visible(step)) for step in finding.next_step]
    rows += _confidence([finding])
    head = shown.finding_head(finding, device=shown.device_meant(explanation, finding))
    return Entry(head, visible(finding.sentence), rows, finding)


def _group(explanation: Explanation, members: Sequence[Finding]) -> Entry:
    """The findings of one cause; the judgement's order has the worst rank first."""
    worst = members[0]
    title = f"{visible(worst.title)} ({worst.id}), {whose(explanation, members)}"
    bounds = over(f.bound_ns for f in members if f.bound_ns is not None)
    shares = over(f.share for f in members if f.share is not None)
    if shares is None and bounds is None:
        # Nothing to rank by: no rank is the worst, and what each one says is told.
        said = variants([(f, visible(f.sentence)) for f in members])
        rows = [(_who(explanation, fs) or "found", text) for fs, text in said[:_VARIANTS]]
        if len(said) > _VARIANTS:
            others = [f for fs, _ in said[_VARIANTS:] for f in fs]
            rows.append(("others", f"{_who(explanation, others)}: --rank N shows them"))
    else:
        name = _name(worst)
        device = shown.device_meant(explanation, worst)
        if device and device != name:
            name += f" ({device})"
        if len(members) > 1:
            title += f", worst by {'share' if bounds is None else 'bound'}: {name}"
        rows = [(name, visible(worst.sentence))]
        rows += [(name, visible(why)) for why in worst.why]
    figures = []
    if shares is not None:
        figures.append(("share", f"of the lap: {phrase(shares, share)}"))
    figures.append(("costs", _costs(explanation, members)))
    steps = list(dict.fromkeys(visible(s) for f in members for s in f.next_step))
    rows += [("next", step) for step in steps[:_STEPS]]
    if len(steps) > _STEPS:
        rows.append(("next", f"and {many(len(steps) - _STEPS, 'step')} more of other ranks"))
    return Entry(title, "", [*figures, *rows, *_confidence(members)], worst)


def _costs(explanation: Explanation, members: Sequence[Finding]) -> str:
    bounds = over(f.bound_ns for f in members if f.bound_ns is not None)
    if bounds is None:
        return f"{NOT_MEASURED}: no bound can be stated"
    each = "" if all(shown.of_one_window(explanation, f) for f in members) else " a lap"
    kind = "a bound, not a gain" if len(members) == 1 else "bounds, not gains"
    without = len(members) - bounds.number
    rest = f"; {NOT_MEASURED} on {count(without)}" if without else ""
    return f"at most {phrase(bounds, duration)}{each} ({kind}){rest}"


def _confidence(members: Sequence[Finding]) -> list[tuple[str, str]]:
    found = over(f.confidence for f in members)
    if found is None or found.least >= 1:
        return []
    return [("confidence", f"{phrase(found, '{:.2f}'.format)} (of the laps it is counted in)")]


def silenced(explanation: Explanation, said: Judgement, grouped: bool) -> str:
    """The causes that others explain, in one line; "" where there is none."""
    by_id: dict[str, list[Finding]] = {}
    for finding in said.silenced:
        by_id.setdefault(finding.id, []).append(finding)
    return ", ".join(
        f"{visible(members[0].title)} ({id_}{_on(explanation, members, grouped)})"
        for id_, members in by_id.items()
    )


@dataclass(frozen=True)
class Cleared:
    """A cause looked for and not there: on which ranks ("" of one timeline alone), and the figures
    that show it."""

    id: str
    on: str
    why: str


def cleared(explanation: Explanation, said: Judgement, grouped: bool) -> list[Cleared]:
    """What was ruled out, each cause once or, of ranks that differ, once for each text."""
    by_id: dict[str, list[Clear]] = {}
    for clear in said.clear:
        by_id.setdefault(clear.id, []).append(clear)
    if not grouped:
        return [Cleared(c.id, "", visible(c.why)) for clears in by_id.values() for c in clears]
    found: list[Cleared] = []
    for id_, clears in by_id.items():
        texts = variants([(c, visible(c.why)) for c in clears])
        for members, text in texts[:_VARIANTS]:
            found.append(Cleared(id_, whose(explanation, members), text))
        others = [c for members, _ in texts[_VARIANTS:] for c in members]
        if others:
            rest = "ruled out too, by other figures: --rank N shows them"
            found.append(Cleared(id_, whose(explanation, others), rest))
    return found


def ruled_out(explanation: Explanation, said: Judgement, grouped: bool) -> list[tuple[str, str]]:
    """The same as lines: (cause and ranks, figures)."""
    return [
        (f"{c.id}, {c.on}" if c.on else c.id, c.why) for c in cleared(explanation, said, grouped)
    ]


def not_measured(explanation: Explanation, said: Judgement, grouped: bool) -> list[tuple[str, str]]:
    """Causes that could not be judged, with what would supply what is missing.

    Those that lack rows of a device are one line: no single mend would bring one of them back. So
    are those that only a capture shows, where the evidence is traces alone.
    """
    by_text: dict[tuple[str, str, str], list[Abstention]] = {}
    deviceless: dict[str, list[Abstention]] = {}
    captureless: set[str] = set()
    for a in said.abstentions:
        if uncaptured(explanation.run, a):
            captureless.add(a.id)
            continue
        if Need.GPU_ROWS.value in a.missing:
            deviceless.setdefault(a.id, []).append(a)
            continue
        by_text.setdefault((a.id, lacking(a), a.supply), []).append(a)
    lines = []
    if deviceless:
        longest = max(deviceless.values(), key=len)
        names, supply = ", ".join(sorted(deviceless)), SUPPLY[Need.GPU_ROWS]
        on = _on(explanation, longest, grouped)
        lines.append((f"no device rows{on}", f"{names} not judged; {supply}"))
    # Causes that lack the same on the same ranks are one line: one flag brings them all back.
    alike: dict[tuple[str, str, str], list[str]] = {}
    for (id_, missing, supply), members in by_text.items():
        on = _on(explanation, members, grouped)
        alike.setdefault((missing, supply, on), []).append(id_)
    for (missing, supply, on), ids in alike.items():
        told = f"missing {visible(missing)}; {visible(supply)}"
        lines.append((f"{', '.join(ids)}{on}", told))
    if captureless:
        lines.append(("not judged without a capture (laptime run)", ", ".join(sorted(captureless))))
    return lines


def notes(explanation: Explanation) -> list[tuple[str, str]]:
    """What laps and ledgers of the ranks note, alike ones together: (ranks, note)."""
    said = [
        (view.timeline, visible(note))
        for view in explanation.views
        for note in dict.fromkeys(
            [*view.ledger.laps.notes, *(n for d in view.ledger.devices for n in d.notes)]
        )
    ]
    return [(whose(explanation, members), text) for members, text in variants(said)]


def lap_sources(explanation: Explanation) -> list[tuple[str, str]]:
    """How the laps of the ranks were found, alike ones together: (ranks, how)."""
    said = [(v.timeline, shown.lap_source(v)) for v in explanation.views]
    return [(whose(explanation, members), text) for members, text in variants(said)]


def noun(explanation: Explanation) -> str:
    """What the timelines of a run are called: ranks where each has a label."""
    labelled = all(v.timeline.rank is not None for v in explanation.views)
    return "ranks" if labelled else "processes"


def whose(explanation: Explanation, members: Sequence[shown.Ranked]) -> str:
    """On how many ranks, and which ("all 8 ranks", "3 of 8 ranks (0, 4-5)")."""
    total, what = len(explanation.views), noun(explanation)
    if len(members) == total:
        return f"both {what}" if total == 2 else f"all {count(total)} {what}"
    told = f"{count(len(members))} of {count(total)} {what}"
    ranks = [m.rank for m in members if m.rank is not None]
    return f"{told} ({listed(ranks)})" if len(ranks) == len(members) else told


def _on(explanation: Explanation, members: Sequence[shown.Ranked], grouped: bool) -> str:
    """The same behind an id."""
    return f", {whose(explanation, members)}" if grouped else ""


def _who(explanation: Explanation, members: Sequence[Finding]) -> str:
    """The ranks alone ("ranks 0, 4-5"); "" where it is all of them."""
    if len(members) == len(explanation.views):
        return ""
    ranks = [f.rank for f in members if f.rank is not None]
    if len(ranks) < len(members):
        if len(members) == 1:
            return "1 rank" if noun(explanation) == "ranks" else "1 process"
        return f"{count(len(members))} {noun(explanation)}"
    return f"rank{'s' if len(ranks) > 1 else ''} {listed(ranks)}"


def _name(finding: Finding) -> str:
    if finding.rank is not None:
        return f"rank {finding.rank}"
    return visible(finding.device) if finding.device else "worst"


def listed(ranks: Sequence[int]) -> str:
    """Ranks in order, neighbours as ranges ("0, 2-5, 7"); of very many, the first ones."""
    parts: list[list[int]] = []
    for rank in sorted(set(ranks)):
        if parts and rank == parts[-1][-1] + 1:
            parts[-1].append(rank)
        else:
            parts.append([rank])
    told = ", ".join(str(p[0]) if len(p) == 1 else f"{p[0]}-{p[-1]}" for p in parts[:_RANGES])
    rest = sum(len(p) for p in parts[_RANGES:])
    return f"{told} and {count(rest)} more" if rest else told
