"""Several processes in one file: each is told as if it stood alone."""

from __future__ import annotations

import collections
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

import laptime
from laptime.evidence import kineto_processes
from laptime.evidence.kineto_processes import MOST_PROCESSES, split
from laptime.model.health import Health
from laptime.model.rows import DEVICE_WORK as WORK
from laptime.model.rows import Kind
from laptime.model.run import Timeline
from laptime.report.shown import device_title
from tests.evidence_files import evidence_root, needs_evidence


@needs_evidence
def test_two_merged_ranks_have_the_ledgers_of_the_two(tmp_path: Path) -> None:
    root = evidence_root()
    assert root is not None
    files = sorted((root / "kineto/param-dlrm-8ranks").glob("*.gz"))[:2]
    traces = [json.loads(gzip.decompress(f.read_bytes())) for f in files]
    merged = tmp_path / "merged.json"
    merged.write_text(
        json.dumps(
            {
                "deviceProperties": traces[0]["deviceProperties"],
                "traceEvents": [e for t in traces for e in t["traceEvents"]],
            }
        )
    )
    both = laptime.explain(laptime.open(str(merged)))
    alone = [laptime.explain(laptime.open(str(f))) for f in files]
    assert len(both.views) == 2
    assert any("holds 2 processes" in w for w in both.run.health.warnings)
    found = {str(v.timeline.pid): v.ledger.devices[0] for v in both.views}
    for one in alone:
        wanted = one.views[0].ledger.devices[0]
        got = found[str(one.views[0].timeline.pid)]
        assert [leaf.id for leaf in got.leaves] == [leaf.id for leaf in wanted.leaves]
        assert got.ns.tolist() == wanted.ns.tolist()
        assert [w.dur_ns for w in got.windows] == [w.dur_ns for w in wanted.windows]


def test_a_single_profiler_row_on_another_pid_is_no_process(tmp_path: Path) -> None:
    def op(pid: int, ts: int) -> dict[str, object]:
        return {
            "ph": "X",
            "cat": "cpu_op",
            "name": "aten::mm",
            "pid": pid,
            "tid": pid,
            "ts": ts,
            "dur": 5,
        }

    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [op(7, 10 * i) for i in range(9)] + [op(0, 3)]}))
    assert len(laptime.open(str(path)).timelines) == 1


def launches(
    pid: int, ids: range, first_us: float, every_us: float, device: int = 0, stream: int = 7
) -> list[dict[str, Any]]:
    """Launch calls of a process, each with its kernel 10 us later."""
    out: list[dict[str, Any]] = []
    for n, i in enumerate(ids):
        at = first_us + n * every_us
        call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "dur": 5}
        kernel = {"ph": "X", "cat": "kernel", "name": f"of_{pid}", "pid": device, "dur": 8}
        args = {"device": device, "stream": stream, "correlation": i}
        out.append(call | {"pid": pid, "tid": pid, "ts": at, "args": {"correlation": i}})
        out.append(kernel | {"tid": stream, "ts": at + 10, "args": args})
    return out


def read(tmp_path: Path, events: list[dict[str, Any]]) -> laptime.Run:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return laptime.open(str(path))


def kernels(timeline: Timeline) -> dict[str, int]:
    """How many kernels a timeline has, by name."""
    names = [timeline.rows.name_of(r) for r in timeline.rows.of_kind(Kind.KERNEL).tolist()]
    return dict(collections.Counter(names))


@pytest.mark.parametrize("second_ids", [range(1, 41), range(1, 21), range(500, 540)])
def test_two_processes_on_one_device_have_a_part_of_it_each(
    tmp_path: Path, second_ids: range
) -> None:
    """Ids that are the same, some of the same, and others."""
    first = launches(100, range(1, 41), 1000, 100)
    run = read(tmp_path, first + launches(200, second_ids, 1050, 100))
    name = run.sources[0]
    assert run.health.losses == []
    assert run.health.warnings == [
        f"{name}: holds 2 processes (100, 200): each is a timeline of its own",
        f"{name}: gpu0 is used by 2 processes: another process's work shows as idle time",
    ]
    assert [kernels(t) for t in run.timelines] == [{"of_100": 40}, {"of_200": len(second_ids)}]
    assert [[(d.id, d.ordinal, d.pid) for d in t.devices] for t in run.timelines] == [
        [("gpu0/pid100", 0, 100)],
        [("gpu0/pid200", 0, 200)],
    ]
    for timeline, pid in zip(run.timelines, (100, 200), strict=True):
        on = {timeline.lanes[x].device for x in timeline.rows.lane[timeline.rows.of_kind(*WORK)]}
        assert on == {f"gpu0/pid{pid}"}
    answer = laptime.explain(run)
    assert [v.ledger.devices[0].device for v in answer.views] == ["gpu0/pid100", "gpu0/pid200"]
    assert [device_title(answer, v.ledger.devices[0]) for v in answer.views] == [
        "gpu0, process 100",
        "gpu0, process 200",
    ]


def test_processes_in_step_on_devices_of_their_own(tmp_path: Path) -> None:
    """Equal ids at almost equal times, half of the kernels behind the other's call: ids that only
    one process has tell whose the devices are."""
    run = read(
        tmp_path,
        launches(100, range(1, 101), 1000, 100, device=0)
        + launches(200, range(20, 121), 1005 - 1900, 100, device=1),
    )
    assert [kernels(t) for t in run.timelines] == [{"of_200": 101}, {"of_100": 100}]
    assert [[d.id for d in t.devices] for t in run.timelines] == [["gpu1"], ["gpu0"]]
    assert not any("is used by" in w for w in run.health.warnings)


def test_a_stray_id_makes_no_second_user(tmp_path: Path) -> None:
    """A kernel whose own call is not recorded has the id of a call of another process."""
    stray = launches(100, range(900, 901), 3000, 1)[1:]
    stray_call = launches(200, range(900, 901), 2000, 1, device=1)[:1]
    run = read(
        tmp_path,
        launches(100, range(1, 41), 1000, 100)
        + launches(200, range(501, 530), 1050, 100, device=1)
        + stray
        + stray_call,
    )
    assert [kernels(t) for t in run.timelines] == [{"of_100": 41}, {"of_200": 29}]
    assert [[d.id for d in t.devices] for t in run.timelines] == [["gpu0"], ["gpu1"]]


def many(pids: int, each: int = 6) -> list[dict[str, Any]]:
    """A trace of many processes: the first has most launches, the last fewest."""
    out: list[dict[str, Any]] = []
    for p in range(pids):
        out += launches(10_000 + p, range(p * 99 + 1, p * 99 + each + (p < 70)), 1000 + p, 50)
    return out


def test_processes_past_the_64th_are_lost_and_said(tmp_path: Path) -> None:
    run = read(tmp_path, many(100))
    name = run.sources[0]
    assert [t.pid for t in run.timelines] == [10_000 + p for p in range(64)]
    for timeline in run.timelines:
        assert kernels(timeline) == {f"of_{timeline.pid}": 6}
        assert len(timeline.rows) == 12
    lost = 2 * (6 * 6 + 30 * 5)
    assert [(x.reason, x.count) for x in run.health.losses] == [
        ("row of a process past the 64 with most rows", lost)
    ]
    assert sum(len(t.rows) for t in run.timelines) + lost == run.health.items
    assert run.health.warnings[1] == (
        f"{name}: of its 100 processes the 64 with most rows are read; 36 others ({lost} rows) "
        "are left out"
    )
    assert "gpu0 is used by 100 processes" in run.health.warnings[2]


def test_many_processes_cost_what_their_rows_cost(tmp_path: Path) -> None:
    """Four times the rows and processes: a cost by their product would be sixteen times."""

    def seconds(pids: int) -> float:
        timeline = laptime_timeline(tmp_path, many(pids))
        best = 1e9
        for _ in range(3):
            begun = time.process_time()
            assert len(split(timeline, Health())) == MOST_PROCESSES
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(4000) < 8 * seconds(1000)


def laptime_timeline(tmp_path: Path, events: list[dict[str, Any]]) -> Timeline:
    """The file as one timeline, before its processes are told apart."""
    path = tmp_path / "whole.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kineto_processes, "split", lambda timeline, health: [timeline])
        return laptime.open(str(path)).timelines[0]
