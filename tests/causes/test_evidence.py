"""Causes over published traces: what each must not flag, as its page says, and known answers."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from pathlib import Path

import pytest

from laptime.causes.registry import causes
from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from tests.evidence_files import kineto_files, kineto_id, needs_evidence

pytestmark = needs_evidence

NAMED = re.compile(r"^\s+- ``([^`]+)``: \w", re.MULTILINE)


@lru_cache(maxsize=4)
def explained(path: Path) -> Explanation:
    return explanation_of(open_run(path))


def file_named(prefix: str) -> Path:
    """The evidence file whose path starts as a page has it."""
    hits = [p for p in kineto_files() if kineto_id(p).startswith(prefix)]
    assert len(hits) == 1, prefix
    return hits[0]


def must_not_flag() -> Iterator[tuple[str, str]]:
    for cause in causes():
        page = inspect.getdoc(type(cause)) or ""
        for prefix in NAMED.findall(page.partition("Must not flag")[2]):
            yield cause.id, prefix


def test_every_page_names_two_files() -> None:
    named = list(must_not_flag())
    for cause in causes():
        assert len([1 for i, _ in named if i == cause.id]) >= 2, cause.id


NAMED_PAIRS = sorted(must_not_flag(), key=itemgetter(1))


@pytest.mark.parametrize(("cause_id", "prefix"), NAMED_PAIRS)
def test_forbidden_findings(cause_id: str, prefix: str) -> None:
    judgement = explained(file_named(prefix)).judgement
    assert cause_id not in [f.id for f in judgement.findings]
    answered = {c.id for c in judgement.clear} | {f.id for f in judgement.silenced}
    answered |= {a.id for a in judgement.abstentions}
    # Whether all is well is not asked where something was found.
    assert cause_id in answered or (cause_id == "healthy" and judgement.findings)


@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_every_file_is_judged_within_its_means(path: Path) -> None:
    explanation = explained(path)
    judgement = explanation.judgement
    assert explanation.verdict.endswith(".")
    assert "\n" not in explanation.verdict
    for finding in (*judgement.findings, *judgement.silenced):
        assert finding.sentence.endswith(".")
        assert finding.share is None or 0 <= finding.share <= 1
        if finding.bound_ns is None:
            continue
        view = next(v for v in explanation.views if v.timeline.rank == finding.rank)
        ledger = next(d for d in view.ledger.devices if d.device == finding.device)
        assert 0 < finding.bound_ns <= view.ledger.mean_window_ns(ledger)
        assert finding.events
    for abstention in judgement.abstentions:
        assert abstention.missing
        assert abstention.supply
    spoken = len({f.id for f in judgement.findings} | {f.id for f in judgement.silenced})
    answered = spoken + len(judgement.clear) + len(judgement.abstentions)
    ids = {f.id for f in judgement.findings} | {c.id for c in judgement.clear}
    ids |= {a.id for a in judgement.abstentions}
    assert answered == len(causes()) - (0 if "healthy" in ids else 1)
    assert "healthy" in ids or judgement.findings


def test_resnet50_without_workers_waits_for_input() -> None:
    explanation = explained(file_named("kineto/pytorch-kineto/resnet50_num_workers_0"))
    first = explanation.judgement.findings[0]
    assert first.id == "input-starvation"
    assert first.sentence.startswith(
        "The loader takes 69.3 of each 175 ms lap and leaves the device idle for 59.3 ms; the "
        "other 10.0 ms overlap device work"
    )
    assert "num_workers 0" in first.sentence
    assert first.share == pytest.approx(0.323, abs=0.001)
    assert explanation.verdict.startswith("Waits for input: the loader takes 69.3 of each 175 ms")


def test_resnet50_with_four_workers_does_not() -> None:
    judgement = explained(file_named("kineto/pytorch-kineto/resnet50_num_workers_4")).judgement
    found = [f.id for f in judgement.findings]
    assert found[:2] == ["launch-bound", "unfused-optimizer"]
    assert {"fp32-matmul", "pageable-copies"} < set(found)
    assert "input-starvation" not in found
    why = next(c.why for c in judgement.clear if c.id == "input-starvation")
    assert why.endswith("the device is idle for it 0.5 % of its own time")


def test_the_optimizer_of_resnet50_goes_parameter_by_parameter() -> None:
    """161 tensors, each with two additions and a product: 322 aten::add_ and 161 aten::mul_ lie in
    every mark of the step."""
    judgement = explained(file_named("kineto/pytorch-kineto/resnet50_num_workers_4")).judgement
    found = next(f for f in judgement.findings if f.id == "unfused-optimizer")
    assert found.sentence.startswith(
        "SGD.step launches 483 kernels a lap for single tensors (3 for each of 161): the device "
        "takes 1.31 ms for them and the host 23.1 ms"
    )


def test_counters_without_device_rows() -> None:
    explanation = explained(file_named("kineto/hta/cupti_profiler"))
    assert explanation.verdict.startswith("Cannot tell what the device did; ")
    assert "104 launch calls but no device rows" in explanation.verdict


def test_sets_of_nothing_are_no_dropped_launches() -> None:
    """22 calls of cudaMemsetAsync of 150 to 310 ns: real ones take 3 us and more there."""
    explanation = explained(file_named("kineto/tracelens/h100/gaunernst_bert-small"))
    unhealthy = next(f for f in explanation.judgement.findings if f.id == "unhealthy-trace")
    assert "no activity" not in unhealthy.sentence
    assert "incomplete" not in explanation.verdict


def test_graph_nodes_without_rows_make_the_answer_incomplete() -> None:
    explanation = explained(file_named("kineto/hta/negative_queue_length_values_check"))
    assert "incomplete: 62 % of the time of rank0/gpu0 is unattributed" in explanation.verdict


def test_laps_that_are_not_steady_are_said_to_be() -> None:
    verdict = explained(file_named("kineto/tracelens/mi300/resnet")).verdict
    assert "lap (launch queue filling; no steady lap could be counted)" in verdict


def test_a_lap_whose_ends_are_in_no_window_is_not_healthy() -> None:
    """The device works 34.9 of 47.2 ms: before its first and behind its last kernel nothing runs,
    and the busy share of the time between is not that of the lap."""
    explanation = explained(file_named("kineto/tracelens/h100/Qwen"))
    assert "healthy" not in [f.id for f in explanation.judgement.findings]
    assert "only the device's first to last work in a host lap of 47.2 ms" in explanation.verdict


def test_first_use_is_not_called_synchronisation() -> None:
    """The calls wait 0.2 ms; what follows them until the next launch is first use of libraries."""
    for part in (
        "kineto/hta/critical_path/alexnet",
        "kineto/hta/critical_path/end_to_end/simple_add/input",
    ):
        found = explained(file_named(part)).judgement.findings
        assert "host-sync" not in [f.id for f in found]


def test_exposed_communication_names_its_collectives() -> None:
    explanation = explained(file_named("kineto/param-dlrm-8ranks/worker1_"))
    first = explanation.judgement.findings[0]
    assert first.id == "exposed-collectives"
    assert "5 send_recv 9.39 ms, 3 all_reduce 1.67 ms" in first.sentence


@pytest.mark.parametrize(
    "part",
    ["kineto/tracelens/b200", "kineto/param-dlrm-8ranks/worker7_", "kineto/hta/df_index_resolver",
     "kineto/pytorch-kineto/resnet50_num_workers_4", "kineto/tracelens/h100/gaunernst_bert"],
)  # fmt: skip
def test_gaps_times_their_mean_are_the_time_stated(part: str) -> None:
    """The sentence promises its arithmetic: a reader multiplies."""
    found = explained(file_named(part)).judgement.findings
    finding = next(f for f in found if f.id == "launch-bound")
    told = re.search(r"(\d+) gaps? of mean ([\d.]+) (us|ms)", finding.sentence)
    assert told is not None
    assert finding.bound_ns is not None
    product = int(told[1]) * float(told[2]) * {"us": 1e3, "ms": 1e6}[told[3]]
    assert product == pytest.approx(finding.bound_ns, rel=0.01)
