from __future__ import annotations

import gzip
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.report import as_json, layout, why
from laptime.report.clock import Clock, FileTime, first_event_ns
from laptime.report.selection import view_of
from tests.builder import SCENARIOS, Variant
from tests.evidence_files import evidence_root
from tests.report import made

PUBLISHED = (
    "kineto/pytorch-kineto/resnet50_num_workers_0/worker0.1623143089861.pt.trace.json.gz",
    "kineto/hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
    "kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz",
)


def at(*starts_ns: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(starts_ns, dtype=np.int64)


@pytest.mark.parametrize(
    ("origin_ns", "base", "starts", "written"),
    [
        (1_623_142_623_460_016_000, None, (0, 2000), "1623142623460018"),
        (1_712_195_495_406_752_867, None, (0, 2000), "1712195495406754.867"),
        (1_752_830_083_332_500_684, 1_751_410_836_000_000_000, (0, 2000), "1419247332502.684"),
        (1_751_410_836_000_001_000, 1_751_410_836_000_000_000, (0, 2001), "3.000"),
        (500, None, (0, 2000), "2.500"),
        (-4_500, None, (0, 2000), "-2.500"),
    ],
)
def test_times_as_the_file_writes_them(
    origin_ns: int, base: int | None, starts: tuple[int, ...], written: str
) -> None:
    rows = replace(made.no_rows(), start_ns=at(*starts))
    facts = {} if base is None else {"baseTimeNanoseconds": base}
    assert FileTime(made.timeline(origin_ns=origin_ns, rows=rows, facts=facts)).ts(2000) == written


def test_the_first_event_of_a_file_is_that_of_all_its_processes() -> None:
    one = made.timeline(rows=replace(made.no_rows(), start_ns=at(7, 5)))
    other = replace(one, id="other", origin_ns=one.origin_ns - 10, rows=one.rows)
    elsewhere = replace(other, source="another.json", origin_ns=0)
    run = replace(made.training().run, timelines=[one, other, elsewhere])
    assert first_event_ns(run, one) == -5
    assert first_event_ns(made.training().run, made.timeline()) is None


def test_why_and_json_count_from_the_same_origin() -> None:
    answer = made.two_ranks()
    assert str(Clock(answer.views).origin_ns) == as_json.explain_object(answer)["origin_ns"]


@pytest.mark.parametrize("base_time", [False, True])
def test_ts_is_found_in_the_text_of_a_built_trace(base_time: bool, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    SCENARIOS["input_no_workers"](Variant(base_time=base_time)).trace.write(path)
    check(path, path.read_text())


@pytest.mark.parametrize("name", PUBLISHED)
def test_ts_is_found_in_the_text_of_a_published_trace(name: str) -> None:
    root = evidence_root()
    if root is None:
        pytest.skip("no evidence files")
    check(root / name, gzip.decompress((root / name).read_bytes()).decode())


def check(path: Path, text: str) -> None:
    """Every event's ``ts`` stands in the text, and --why prints it and a start that agree."""
    answer = explanation_of(open_run(str(path)))
    clock = Clock(answer.views)
    events = 0
    for finding in (*answer.judgement.findings, *answer.judgement.silenced):
        view = view_of(answer, finding)
        assert view is not None
        stream = io.StringIO()
        why.render(answer, layout.console(stream, 400), finding.id)
        for event in finding.events:
            ts = FileTime(view.timeline).ts(event.start_ns)
            assert f'"ts": {ts}' in text  # whole microseconds may be written with .000
            start = f"{clock.start_ns(view, event.start_ns):,} ns"
            assert any(start in x and ts in x for x in stream.getvalue().splitlines())
            events += 1
    assert events or not answer.judgement.findings[0].events
