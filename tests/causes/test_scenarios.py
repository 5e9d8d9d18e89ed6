"""Causes over built traces, read and accounted for by the product: the promised finding comes
first, none that is forbidden comes at all, and deleting rows never makes a cause appear."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laptime.causes.case import Judgement
from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from tests.builder.kineto import kineto_text
from tests.builder.scenarios import SCENARIOS
from tests.builder.variant import Variant
from tests.builder.without import KINDS, without


def explained(folder: Path, text: str) -> Explanation:
    path = folder / "trace.json"
    path.write_text(text)
    return explanation_of(open_run(path))


def found(judgement: Judgement) -> list[str]:
    return [f.id for f in judgement.findings]


@pytest.mark.parametrize("name", SCENARIOS)
def test_promised_and_forbidden_findings(name: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name](None)
    judgement = explained(tmp_path, kineto_text(scenario.trace)).judgement
    if scenario.first is not None:
        assert found(judgement)[:1] == [scenario.first]
    assert not scenario.forbidden & set(found(judgement))


@pytest.mark.parametrize("name", SCENARIOS)
def test_deleting_rows_finds_no_new_cause(name: str, tmp_path: Path) -> None:
    text = kineto_text(SCENARIOS[name](None).trace)
    whole = explained(tmp_path, text).judgement
    known = {*found(whole), *(f.id for f in whole.silenced), "unhealthy-trace"}
    items = json.loads(text, strict=False)["traceEvents"]
    new = {}
    for kind in KINDS:
        if any(KINDS[kind](item) for item in items):
            shorter = explained(tmp_path, without(text, kind)).judgement
            new[kind] = set(found(shorter)) - known
    assert {kind: ids for kind, ids in new.items() if ids} == {}


def test_a_recorder_that_hides_the_cause_does_not_make_a_run_healthy(tmp_path: Path) -> None:
    amd = Variant(vendor="amd", device_name="AMD Instinct MI300X", compute_capability=(9, 4))
    for variant, others in ((amd, ["exposed-copies"]), (Variant(calls=False), [])):
        text = kineto_text(SCENARIOS["pageable_copies"](variant).trace)
        explanation = explained(tmp_path, text)
        assert found(explanation.judgement) == others
        assert "pageable-copies" in {a.id for a in explanation.judgement.abstentions}
        if not others:
            assert "computes nothing is exposed copies (4" in explanation.verdict
            assert "not judged: " in explanation.verdict


def test_sentences_state_what_was_built(tmp_path: Path) -> None:
    def sentence(name: str) -> str:
        text = kineto_text(SCENARIOS[name](None).trace)
        return explained(tmp_path, text).judgement.findings[0].sentence

    assert "leaves the device idle" in sentence("input_no_workers")
    assert "59.6 of each 69.6 ms lap (86 %)" in sentence("input_no_workers")
    assert "15.6 of each 25.6 ms lap (61 %)" in sentence("input_slow_workers")
    assert sentence("pageable_copies").startswith(
        "Copies from pageable memory (1 a lap, 101 MB) hold the host in their calls for 17.2 of "
        "each 18.1 ms lap; the device copies alone for 8.00 ms"
    )
    assert "for 3.04 of each 13.0 ms lap (23 %): cudaStreamSynchronize once a lap" in sentence(
        "host_sync_each_lap"
    )
    assert "5.20 of each 8.00 ms lap (65 %)" in sentence("launch_bound")
    assert "400 gaps of mean 13.0 us and 400 kernels of mean 3.00 us a lap" in sentence(
        "launch_bound"
    )
    assert "5.00 of each 15.0 ms lap (33 %): 1 all_reduce 5.00 ms" in sentence("exposed_all_reduce")
    assert "at most 17.5 ms of it could go" in sentence("fp32_sgemm")
    assert sentence("healthy").startswith("Device busy 99.8 % of each 20.0 ms lap")
