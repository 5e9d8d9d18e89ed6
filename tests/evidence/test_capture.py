"""Captured runs: folders read whole, torn or killed, on one clock with their counters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.evidence.registry import open_run
from laptime.explaining import explanation_of
from laptime.model.counters import Clock, Series
from laptime.model.errors import UnreadableInput
from laptime.model.rows import Kind
from tests.builder.capture import OFFSET_NS, CaptureBuilder, Sampled
from tests.builder.host import MS


def built(residual_ns: int = 0, laps: int = 4, late_ns: tuple[int, ...] = ()) -> CaptureBuilder:
    """Laps of 100 ms on one thread: 90 ms of operators, a pause of 10 ms that no row covers."""
    made = CaptureBuilder(
        residual_ns=residual_ns, late_ns=late_ns, plain_ns=[95 * MS] * 3, items=32
    )
    made.clock_mark()
    for lap in range(laps):
        with made.trace.lap_window(lap, made.main):
            made.main.op("aten::mm", 90 * MS)
            made.pause(made.main.now_ns, 10 * MS)
            made.main.idle(10 * MS)
    made.clock_mark()
    made.processes = [
        Sampled(100, 1, {"run_ns": 0.75, "wait_ns": 0.125}, "RS", cpus=[0, 1]),
        Sampled(200, 100, {"run_ns": 0.5}, absent=frozenset({"wait_ns"})),
    ]
    return made


def test_laps_and_collections_of_the_probe_are_the_ledgers(tmp_path: Path) -> None:
    answer = explanation_of(open_run(built().write(tmp_path)))
    (view,) = answer.views
    (thread,) = view.ledger.devices
    assert [lap.label for lap in view.ledger.laps.laps] == [f"laptime.lap#{n}" for n in range(3, 7)]
    assert [w.dur_ns for w in thread.windows] == [100 * MS] * 4
    assert thread.window_ns("gc").tolist() == [10 * MS] * 4
    assert thread.window_ns("operators").tolist() == [90 * MS] * 4


def test_clock_marks_are_no_work_of_the_program(tmp_path: Path) -> None:
    (timeline,) = open_run(built().write(tmp_path)).timelines
    rows = timeline.rows
    marks = rows.names_matching(lambda n: n.startswith("laptime.clock/"))
    assert set(rows.kind[marks[rows.name]].tolist()) == {int(Kind.OTHER)}


def test_of_marks_at_one_end_the_least_delayed_counts(tmp_path: Path) -> None:
    made = built(residual_ns=7_000, late_ns=(300_000, 20_000))
    (timeline,) = open_run(made.write(tmp_path)).timelines
    assert timeline.capture is not None
    clock = timeline.capture.clock
    assert clock is not None
    assert clock.mono_ns == (made.marked[0], made.marked[1])
    assert clock.residual_ns == 7_000


def test_counters_lie_on_the_traces_clock(tmp_path: Path) -> None:
    run = open_run(built(residual_ns=400_000).write(tmp_path))
    (timeline,) = run.timelines
    assert timeline.capture is not None
    clock = timeline.capture.clock
    assert clock is not None
    assert clock.residual_ns == 400_000
    assert not [w for w in run.health.warnings if "drift" in w]
    at = np.array([clock.mono_ns[0], clock.mono_ns[1]])
    assert clock.to_trace(at).tolist() == list(clock.trace_ns)
    assert timeline.origin_ns + clock.trace_ns[0] == clock.mono_ns[0] + OFFSET_NS
    counters = timeline.capture.run.counters
    assert counters is not None
    assert counters.period_ns == 50 * MS
    span = (np.array([clock.mono_ns[0]]), np.array([clock.mono_ns[0] + 123 * MS]))
    main, other = counters.processes[100], counters.processes[200]
    assert main.increase("run_ns", span) == pytest.approx(0.75 * 123 * MS, abs=1)
    assert other.increase("wait_ns", span) is None
    assert main.cpus == (0, 1)
    assert bytes(main.state[:4]) == b"RSRS"


def test_a_drift_above_a_millisecond_is_told(tmp_path: Path) -> None:
    run = open_run(built(residual_ns=2_500_000).write(tmp_path))
    assert any("drift apart by 2.50 ms" in w for w in run.health.warnings)


def test_the_folder_is_one_source_however_it_is_named(tmp_path: Path) -> None:
    folder = built().write(tmp_path / "one")
    for where in (folder, folder / "capture.json", tmp_path):
        run = open_run(where)
        assert run.sources == [str(folder / "capture.json")]
        assert len(run.timelines) == 1
        assert len(run.captures) == 1


def test_torn_last_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = built().write(tmp_path)
    host, laps = folder / "host.jsonl", folder / "p100" / "laps.jsonl"
    whole = len(host.read_text().splitlines())
    host.write_text(host.read_text()[:-20])
    laps.write_text(laps.read_text() + '{"n": 7, "sta')
    run = open_run(folder)
    assert [(x.reason, x.count, Path(x.source).name) for x in run.health.losses] == [
        ("line is torn or no JSON object", 1, "host.jsonl"),
        ("line is torn or no JSON object", 1, "laps.jsonl"),
    ]
    counters = run.captures[0].counters
    assert counters is not None
    assert len(counters.at_ns) == whole - 1
    assert len(run.captures[0].processes[0].laps) == 7


def test_a_killed_window_is_told_and_the_laps_before_it_are_there(tmp_path: Path) -> None:
    made = built()
    made.of_process = {"state": "recording"}
    made.said = {"signal": 9, "exit_code": None}
    folder = made.write(tmp_path)
    (folder / "p100" / "trace.json.gz").unlink()
    run = open_run(folder)
    assert run.timelines == []
    assert [x.reason for x in run.health.losses] == [
        "window of process 100 was lost: it ended while recording (the program was ended by signal "
        "9)"
    ]
    assert [lap.dur_ns for lap in run.captures[0].processes[0].of_phase("plain")] == [95 * MS] * 3


def test_the_programs_own_profile_is_taken_and_placed_by_the_wall_clock(tmp_path: Path) -> None:
    made = built()
    made.marked = []
    made.trace.rows = [r for r in made.trace.rows if not r.name.startswith("laptime.clock")]
    folder = made.write(tmp_path / "cap")
    theirs = tmp_path / "theirs.json.gz"
    shutil.move(folder / "p100" / "trace.json.gz", theirs)
    process = json.loads((folder / "p100" / "process.json").read_text())
    process.update(
        state="given_up", reason="the program's own profiler ran", user_trace=str(theirs)
    )
    (folder / "p100" / "process.json").write_text(json.dumps(process))
    (timeline,) = open_run(folder).timelines
    assert timeline.source == str(theirs)
    assert timeline.capture is not None
    assert timeline.capture.clock is not None
    assert timeline.capture.clock.residual_ns is None
    first = timeline.capture.process.of_phase("recorded")[0].start_ns
    assert timeline.capture.clock.to_trace(np.array([first]))[0] == 0


HOSTILE = ["[1]", "null", '{"t": true}', '{"t": -1, "procs": 3}', "{" * 9000, "\x00", '{"t":1e9}']


@pytest.mark.parametrize("bad", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_lines_lose_themselves_only(bad: str, tmp_path: Path) -> None:
    folder = built().write(tmp_path)
    for name in ("host.jsonl", "p100/laps.jsonl", "p100/events.jsonl"):
        path = folder / name
        path.write_text(path.read_text() + bad + "\n")
    run = open_run(folder)
    assert len(run.timelines) == 1
    assert run.captures[0].counters is not None


def test_a_process_without_its_description_is_a_loss(tmp_path: Path) -> None:
    folder = built().write(tmp_path)
    (folder / "p100" / "process.json").write_text("{")
    run = open_run(folder)
    assert run.timelines == []
    assert [x.reason for x in run.health.losses] == ["holds no whole JSON object"]


def test_a_capture_json_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "capture.json").write_text('{"schema": "other"}')
    with pytest.raises(UnreadableInput):
        open_run(tmp_path / "capture.json")


@given(
    st.integers(0, 10**15),
    st.integers(1, 10**10),
    st.integers(-(10**6), 10**6),
    st.lists(st.integers(0, 10**15), min_size=1, max_size=9),
)
def test_the_clock_there_and_back_is_the_same_within_a_nanosecond(
    start: int, length: int, drift: int, times: list[int]
) -> None:
    clock = Clock((start, start + length + 10**7), (5, 5 + length + 10**7 + drift))
    mono = np.array(times, dtype=np.int64)
    back = clock.to_mono(clock.to_trace(mono))
    assert np.abs(back - mono).max() <= 1
    assert np.abs(clock.to_trace(mono) - (mono - start + 5)).max() <= abs(drift)


@given(st.lists(st.tuples(st.integers(1, 10**9), st.integers(0, 10**9)), min_size=2, max_size=9))
def test_growth_of_adjoining_stretches_adds_up(steps: list[tuple[int, int]]) -> None:
    at = np.cumsum([s for s, _ in steps])
    series = Series(at, np.cumsum([v for _, v in steps]))
    low, high = int(at[0]), int(at[-1])
    middle = (low + high) // 2

    def growth(a: int, b: int) -> float:
        found = series.increase((np.array([a]), np.array([b])))
        assert found is not None
        return found

    assert growth(low, high) == sum(v for _, v in steps[1:])
    assert growth(low, middle) + growth(middle, high) == pytest.approx(growth(low, high))
    assert series.increase((np.array([low - 1]), np.array([high]))) is None
    assert series.increase((np.array([low]), np.array([high + 1]))) is None
