"""Every number in a finding's sentence stands in what ``--why`` prints beside the sentence.

A share may stand as the finding's share or bound does; a mean must be there as a mean, beside the
totals that it comes from. Digits inside names of the evidence are names, not numbers.
"""

from __future__ import annotations

import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


SMALL = 150_000
"""Bytes of a packed trace that is read in the variants too."""


def without(path: Path, tmp_path: Path, left_out: Callable[[dict[str, Any]], bool]) -> Path:
    """The trace without the events that are left out."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    trace = json.loads(text)
    trace["traceEvents"] = [e for e in trace["traceEvents"] if not left_out(e)]
    out = tmp_path / "trace.json"
    out.write_text(json.dumps(trace))
    return out


DEVICE = {
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "cuda_runtime",
    "cuda_driver",
}


@needs_evidence
@pytest.mark.parametrize(
    "left_out",
    [
        lambda e: str(e.get("cat", "")).lower() in DEVICE,
        lambda e: "annotation" in str(e.get("cat", "")).lower(),
        lambda e: str(e.get("cat", "")).lower() == "cpu_op",
    ],
    ids=["no device", "no marks", "no operators"],
)
def test_sentences_of_parts_of_published_traces(
    left_out: Callable[[dict[str, Any]], bool], tmp_path: Path
) -> None:
    for path in kineto_files():
        if path.stat().st_size > SMALL:
            continue
        try:
            answer = laptime.explain(without(path, tmp_path, left_out))
        except laptime.UnreadableInput:
            continue
        assert missing(answer) == {}, path.name


def test_numbers_are_told_from_names() -> None:
    told = "Takes 59.3 of each 1,750 ms lap (34 %): sm90_gemm_64x64, train.py:42 and gpu0"
    assert numbers(told) == {"59.3", "1750", "34"}
