"""What a trace shows to be wrong with itself, and files that are traces of something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import laptime
from laptime.report.shown import loss_lines
from tests.evidence_files import kineto_files, kineto_id, needs_evidence


def events(lead_us: int = 10, dur: bool = True) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    for i in range(40):
        args = {"correlation": i + 1}
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1}
        kernel = {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7}
        out.append(call | {"ts": 1000 + i * 100, "dur": 5, "args": args})
        out.append(
            kernel
            | {"ts": 1000 + i * 100 + lead_us, "args": args | {"device": 0, "stream": 7}}
            | ({"dur": 60} if dur or i % 8 else {})
        )
    return out


def read(tmp_path: Path, rows: list[dict[str, Any]]) -> laptime.Run:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": rows}))
    return laptime.open(str(path))


def test_a_sound_trace_has_nothing_to_say(tmp_path: Path) -> None:
    health = read(tmp_path, events()).health
    assert (health.losses, health.warnings) == ([], [])


def test_kernels_without_a_duration_are_a_loss_and_not_counted(tmp_path: Path) -> None:
    run = read(tmp_path, events(dur=False))
    assert [(x.reason, x.count) for x in run.health.losses] == [
        ("device rows without a duration", 5)
    ]
    (total,) = laptime.explain(run).views[0].kernels
    assert (total.count, total.ns) == (35, 35 * 60_000)


@pytest.mark.parametrize("damaged", [1 << 31, 1 << 63, 1 << 70, -1, True, "3", None, [1]])
def test_a_rank_that_no_job_has_is_none(tmp_path: Path, damaged: object) -> None:
    """The run can be kept as tables all the same: their numbers take 64 bits."""
    path = tmp_path / "trace.json"
    facts = {"rank": damaged, "world_size": damaged}
    said = {"distributedInfo": facts, "baseTimeNanoseconds": damaged, "traceEvents": events()}
    path.write_text(json.dumps(said))
    run = laptime.open(str(path))
    (timeline,) = run.timelines
    assert timeline.rank is None
    assert timeline.world_size in (None, 1 << 31)
    (row,) = laptime.sql(run, "select rank, origin_ns from timelines").rows()
    assert row == {"rank": None, "origin_ns": timeline.origin_ns}


def test_a_base_time_beyond_146_years_is_left_out_and_said(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"baseTimeNanoseconds": 1 << 63, "traceEvents": events()}))
    run = laptime.open(str(path))
    assert run.timelines[0].origin_ns == 1_000_000
    assert any("baseTimeNanoseconds lies beyond 146 years" in w for w in run.health.warnings)


def test_events_of_another_tool_are_named(tmp_path: Path) -> None:
    foreign = [{"ph": "X", "cat": "fee", "name": "main", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]
    with pytest.raises(laptime.UnreadableInput, match=r"none of the PyTorch .*found: fee"):
        read(tmp_path, foreign)


@needs_evidence
@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_published_traces_have_neither(path: Path) -> None:
    health = laptime.open(str(path)).health
    assert health.losses == []
    (*said,) = (w for w in health.warnings if "clocks" in w or "clock may" in w)
    assert len(said) == (kineto_id(path) in CLOCKS_DISAGREE), said


CLOCKS_DISAGREE = {"kineto/tracelens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}
"""Its last kernel ends 8.066 us after the hipDeviceSynchronize behind it has returned."""


def test_begins_without_ends_are_told_with_their_place(tmp_path: Path) -> None:
    begin = {"ph": "B", "cat": "cpu_op", "name": "left open", "pid": 1, "tid": 1, "ts": 1000}
    end = {"ph": "E", "cat": "cpu_op", "name": "never begun", "pid": 2, "tid": 2, "ts": 1001}
    rows = [*events(), begin, begin | {"ts": 1500}, end]
    run = read(tmp_path, rows)
    text = (tmp_path / "trace.json").read_bytes()
    assert {(x.reason, x.count, x.offset) for x in run.health.losses} == {
        ("begin without end", 2, text.index(b'{"ph": "B"')),
        ("end without begin", 1, text.index(b'{"ph": "E"')),
    }
    place = text.index(b'{"ph": "B"')
    assert f"begin without end (2, first at byte {place:,})" in "\n".join(loss_lines(run.health))
