"""Every number in a finding's sentence stands in what ``--why`` prints beside the sentence.

A share may stand as the finding's share or bound does; a mean must be there as a mean, beside the
totals that it comes from. Digits inside names of the evidence are names, not numbers.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import laptime
from laptime.causes.case import Finding
from laptime.explanation import Explanation
from laptime.report import layout, why
from laptime.report.shown import finding_head
from tests.evidence_files import kineto_files, kineto_id, needs_evidence

_NUMBER = re.compile(r"(?<![\w.:])\d[\d,]*(?:\.\d+)?(?![\w:]*\w)")


def numbers(told: str) -> set[str]:
    """The numbers of a text, without digits that belong to a word, a path or a name."""
    return {n.replace(",", "") for n in _NUMBER.findall(told)}


def rebuilt(answer: Explanation, finding: Finding) -> set[str]:
    """The numbers of all that ``--why`` prints of a finding but its head and sentence."""
    stream = io.StringIO()
    why.render(answer, layout.console(stream, 1000), finding.id, finding.rank)
    printed = stream.getvalue()
    for said in (finding_head(finding), finding.sentence):
        printed = printed.replace(said, "")
    found = numbers(printed)
    for share in (finding.share, _share_of_bound(answer, finding)):
        if share is not None:
            found |= {f"{100 * share:.0f}", f"{100 * share:.1f}"}
    return found


def _share_of_bound(answer: Explanation, finding: Finding) -> float | None:
    for view in answer.views:
        for device in view.ledger.devices:
            if device.device == finding.device and finding.bound_ns is not None:
                return finding.bound_ns / view.ledger.mean_window_ns(device)
    return None


def missing(answer: Explanation) -> dict[str, set[str]]:
    """By cause, the numbers of its sentence that nothing else gives."""
    out: dict[str, set[str]] = {}
    for finding in answer.judgement.findings:
        left = numbers(finding.sentence) - rebuilt(answer, finding)
        if left:
            out.setdefault(f"{finding.id}: {finding.sentence}", set()).update(left)
    return out


@needs_evidence
@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_sentences_of_published_traces(path: Path) -> None:
    assert missing(laptime.explain(path)) == {}


def test_numbers_are_told_from_names() -> None:
    told = "Takes 59.3 of each 1,750 ms lap (34 %): sm90_gemm_64x64, train.py:42 and gpu0"
    assert numbers(told) == {"59.3", "1750", "34"}
