"""Saved runs: the same answer as from the source, without it; damage and changes are said."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import laptime
from laptime import saving
from laptime.evidence.sealed import FILES, SELF, sealed
from laptime.explaining import explanation_of
from laptime.model.errors import CannotTell, LaptimeError, UnreadableInput, UsageError
from laptime.model.run import Run
from laptime.report import as_json
from laptime.saving import save
from tests.builder import SCENARIOS, Variant
from tests.builder.capture import CaptureBuilder, Sampled
from tests.builder.host import MS
from tests.builder.strategies import Item, items
from tests.evidence_files import SKIP_REASON, kineto_files, kineto_id, needs_evidence
from tests.hostile.pieces import events, trace, with_args

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install duckdb")


def answer(run: Run) -> str:
    out = io.StringIO()
    as_json.write(explanation_of(run), out)
    return out.getvalue()


def saved(source: Path, to: Path) -> Run:
    save(explanation_of(laptime.open(source)), to)
    run: Run = laptime.open(to)
    return run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "trace.json"
    path.write_bytes(trace(with_args(secret="ü \x00 \ud800", note=[1, 2])))
    return path


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_scenarios_are_explained_alike(name: str, tmp_path: Path) -> None:
    SCENARIOS[name](Variant()).trace.write(tmp_path / "trace.json")
    again = saved(tmp_path / "trace.json", tmp_path / "run.laptime")
    assert answer(again) == answer(laptime.open(tmp_path / "trace.json"))


@needs_evidence
@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_evidence_is_explained_alike(path: Path, tmp_path: Path) -> None:
    try:
        run = laptime.open(path)
        first = answer(run)
    except LaptimeError as error:
        pytest.skip(str(error))
    save(explanation_of(run), tmp_path / "run.laptime")
    assert answer(laptime.open(tmp_path / "run.laptime")) == first


def test_evidence_reason() -> None:
    assert "LAPTIME_EVIDENCE" in SKIP_REASON


@given(items())
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_trace_is_explained_alike(tmp_path: Path, made: list[Item]) -> None:
    (tmp_path / "t.json").write_bytes(trace(made))
    try:
        first = answer(laptime.open(tmp_path / "t.json"))
    except (CannotTell, UnreadableInput):
        return
    shutil.rmtree(tmp_path / "r", ignore_errors=True)
    assert answer(saved(tmp_path / "t.json", tmp_path / "r")) == first


def test_columns_and_their_types_come_back(source: Path, tmp_path: Path) -> None:
    rows = laptime.open(source).timelines[0].rows
    again = saved(source, tmp_path / "run.laptime").timelines[0].rows
    for name in ("start_ns", "dur_ns", "name", "category", "kind", "lane", "phase", "correlation",
                 "external_id"):  # fmt: skip
        one, two = getattr(rows, name), getattr(again, name)
        assert one.dtype == two.dtype
        assert np.array_equal(one, two)
    assert list(again.names) == list(rows.names)
    assert again.python_id is None
    assert again.ints.keys() == rows.ints.keys()
    for name, sparse in rows.ints.items():
        assert np.array_equal(again.ints[name].row, sparse.row)
        assert np.array_equal(again.ints[name].value, sparse.value)


def test_slices_keep_their_order(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "SLICE_ROWS", 7)
    again = saved(source, tmp_path / "run.laptime")
    assert len(list((tmp_path / "run.laptime" / "rows").iterdir())) == 10
    assert answer(again) == answer(laptime.open(source))
    rows = laptime.open(source).timelines[0].rows
    assert np.array_equal(again.timelines[0].rows.start_ns, rows.start_ns)
    wanted = np.array([69, 3, 3, 40])
    read, kept = rows.read_args, again.timelines[0].rows.read_args
    assert read is not None
    assert kept is not None
    assert kept(wanted) == read(wanted)


def test_arguments_outlive_the_source(source: Path, tmp_path: Path) -> None:
    run = laptime.open(source)
    everything = np.arange(len(run.timelines[0].rows))
    read = run.timelines[0].rows.read_args
    assert read is not None
    first = read(everything)
    again = saved(source, tmp_path / "run.laptime")
    source.unlink()
    kept = again.timelines[0].rows.read_args
    assert kept is not None
    assert kept(everything) == first
    assert first[0] == {"secret": "ü \x00 \ud800", "note": [1, 2]}
    assert not again.health.warnings


def test_opens_without_reading_columns(source: Path, tmp_path: Path) -> None:
    again = saved(source, tmp_path / "run.laptime")
    rows = again.timelines[0].rows
    assert len(rows) == 70
    assert "start_ns" not in rows.__dict__
    assert rows.start_ns is rows.start_ns


def test_opening_loads_no_engine(source: Path, tmp_path: Path) -> None:
    saved(source, tmp_path / "run.laptime")
    code = (
        "import sys, laptime; r = laptime.open(sys.argv[1]); "
        "assert len(r.timelines[0].rows) == 70 and 'duckdb' not in sys.modules"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "run.laptime")]
    assert subprocess.run(command, check=False).returncode == 0


def test_changed_source_is_said(source: Path, tmp_path: Path) -> None:
    saved(source, tmp_path / "run.laptime")
    os.utime(source, ns=(1, 1))
    assert laptime.open(tmp_path / "run.laptime").health.warnings == []
    source.write_bytes(trace(events(3)))
    run = laptime.open(tmp_path / "run.laptime")
    assert run.health.warnings == [
        f"{source}: has changed since this run was saved from it; the saved run holds the earlier "
        "file"
    ]
    assert len(run.timelines[0].rows) == 70


def test_saved_among_others(source: Path, tmp_path: Path) -> None:
    """A folder that holds a saved run and a trace; the meta file by its own name."""
    saved(source, tmp_path / "run.laptime")
    assert len(laptime.open(tmp_path).timelines) == 2
    assert len(laptime.open(tmp_path / "run.laptime" / "meta.json").timelines) == 1


def test_saving_a_saved_run(source: Path, tmp_path: Path) -> None:
    again = saved(source, tmp_path / "a")
    save(explanation_of(again), tmp_path / "b")
    assert answer(laptime.open(tmp_path / "b")) == answer(again)


def test_existing_folders_are_spared(source: Path, tmp_path: Path) -> None:
    explained = explanation_of(laptime.open(source))
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match="exists and is no saved run"):
        save(explained, tmp_path / "mine", replace=True)
    save(explained, tmp_path / "run")
    with pytest.raises(UsageError, match="exists; name another folder, or give --replace"):
        save(explained, tmp_path / "run")
    save(explained, tmp_path / "run", replace=True)
    again = explanation_of(laptime.open(tmp_path / "run"))
    with pytest.raises(UsageError, match="is one of the inputs"):
        save(again, tmp_path / "run", replace=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "run", "trace.json"]


def test_failure_leaves_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving, "_timeline", fail)
    with pytest.raises(UsageError, match="cannot be written: No space left on device"):
        save(explanation_of(laptime.open(source)), tmp_path / "run")
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json"]


def break_text(folder: Path, old: str, new: str) -> None:
    """The folder as if it had been written so."""
    path = folder / "meta.json"
    meta = json.loads(path.read_text().replace(old, new))
    meta = {k: v for k, v in meta.items() if k not in (FILES, SELF)}
    path.write_text(json.dumps(sealed(meta, folder)))


def flip(path: Path, at: float) -> None:
    """One byte of a file, at a share of its length, turned into another."""
    raw = bytearray(path.read_bytes())
    raw[int(at * (len(raw) - 1))] ^= 0x5A
    path.write_bytes(raw)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda f: (f / "meta.json").write_text('{"schema": "laptime.run/1"'), "cannot be read"),
        (lambda f: break_text(f, "laptime.run/1", "laptime.run/9"), "saved as laptime.run/9"),
        (lambda f: break_text(f, '"origin_ns"', '"x"'), "lacks what it must hold"),
        (lambda f: break_text(f, '"rows": 70', '"rows": 71'), "70 rows where 71 were saved"),
        (lambda f: break_text(f, '"lanes": [', '"lanes": [], "x": ['), "points outside"),
        (lambda f: (f / "strings.parquet").unlink(), "is damaged"),
        (lambda f: (f / "strings.parquet").write_bytes(b"PAR1" * 9), "is damaged"),
        (lambda f: shutil.rmtree(f / "rows"), "is damaged"),
    ],
)
def test_damage_is_one_line(damage: object, said: str, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    saved(source, folder)
    damage(folder)  # type: ignore[operator]
    with pytest.raises(UnreadableInput) as error:
        answer(laptime.open(folder))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)


def files_of(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.is_file())


def cut(path: Path, at: float) -> None:
    """A file as far as a share of its length, which is not all of it."""
    path.write_bytes(path.read_bytes()[: int(at * (path.stat().st_size - 1))])


@pytest.mark.parametrize("damage", [flip, cut])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0])
def test_a_damaged_file_is_told_or_makes_no_difference(
    damage: Callable[[Path, float], None], at: float, tmp_path: Path
) -> None:
    """In every file in turn: the answer is the same, or one line says that the run is damaged."""
    SCENARIOS["input_no_workers"](Variant()).trace.write(tmp_path / "trace.json")
    folder = tmp_path / "run"
    expected = answer(saved(tmp_path / "trace.json", folder))
    refused = []
    for path in sorted(f for f in folder.rglob("*") if f.is_file()):
        whole = path.read_bytes()
        damage(path, at)
        try:
            assert answer(laptime.open(folder)) == expected, path
        except LaptimeError as error:
            refused.append((path.name, str(error)))
        path.write_bytes(whole)
    assert not [said for _, said in refused if "\n" in said]
    told = {name for name, _ in refused}
    assert {"meta.json", "strings.parquet", "00000-00000.parquet"} <= told
    assert answer(laptime.open(folder)) == expected


def test_files_of_another_run_are_told(tmp_path: Path) -> None:
    """Of the same scenario, longer: as many rows, other times."""
    for name, scale in (("a", 1), ("b", 2)):
        made = CaptureBuilder()
        for lap in range(4):
            with made.trace.lap_window(lap, made.main):
                made.main.op("aten::mm", scale * 50 * MS)
        made.trace.write(tmp_path / f"{name}.json")
        saved(tmp_path / f"{name}.json", tmp_path / name)
    ours, theirs = tmp_path / "a" / "rows", tmp_path / "b" / "rows"
    shutil.rmtree(ours)
    shutil.copytree(theirs, ours)
    with pytest.raises(UnreadableInput, match=r"rows/00000-00000.parquet is not as it was written"):
        answer(laptime.open(tmp_path / "a"))
    with pytest.raises(UnreadableInput, match="is not as it was written"):
        laptime.sql(tmp_path / "a", "select count(*) from rows")
    assert len(laptime.sql(tmp_path / "a", "select count(*) from laps")) == 1


def test_an_edited_meta_is_told(source: Path, tmp_path: Path) -> None:
    saved(source, tmp_path / "run")
    path = tmp_path / "run" / "meta.json"
    meta = json.loads(path.read_text())
    meta["timelines"][0]["origin_ns"] += 1
    path.write_text(json.dumps(meta))
    with pytest.raises(UnreadableInput, match=r"meta.json is not as it was written"):
        laptime.open(tmp_path / "run")
    del meta["crc32"]
    path.write_text(json.dumps(meta))
    with pytest.raises(UnreadableInput, match=r"meta.json has lost its checksum"):
        laptime.open(tmp_path / "run")


def test_a_run_saved_before_checksums_is_read(source: Path, tmp_path: Path) -> None:
    expected = answer(saved(source, tmp_path / "run"))
    path = tmp_path / "run" / "meta.json"
    meta = {k: v for k, v in json.loads(path.read_text()).items() if k not in (FILES, SELF)}
    path.write_text(json.dumps(meta))
    assert answer(laptime.open(tmp_path / "run")) == expected


def test_arguments_that_are_gone_are_not_none(source: Path, tmp_path: Path) -> None:
    run = saved(source, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "args")
    read = run.timelines[0].rows.read_args
    assert read is not None
    with pytest.raises(UnreadableInput, match=r"args/00000-00000.parquet: no such file"):
        read(np.arange(5))


def test_meta_is_json_of_its_schema(source: Path, tmp_path: Path) -> None:
    saved(source, tmp_path / "run")
    meta = json.loads((tmp_path / "run" / "meta.json").read_text())
    assert meta["schema"] == "laptime.run/1"
    assert meta["sources"][0]["identity"]["size"] == source.stat().st_size


def test_captures_come_back(tmp_path: Path) -> None:
    made = CaptureBuilder(residual_ns=1000, plain_ns=[95 * MS] * 3, items=32)
    made.clock_mark()
    for lap in range(4):
        with made.trace.lap_window(lap, made.main):
            made.main.op("aten::mm", 90 * MS)
            made.pause(made.main.now_ns, 10 * MS)
            made.main.idle(10 * MS)
    made.clock_mark()
    made.processes = [Sampled(100, 1, {"run_ns": 0.75}, "RS", cpus=[0, 1])]
    folder = made.write(tmp_path / "capture")
    first = laptime.open(folder)
    save(explanation_of(first), tmp_path / "run")
    expected = answer(first)
    again = laptime.open(tmp_path / "run")
    assert answer(again) == expected
    was, now = first.timelines[0].capture, again.timelines[0].capture
    assert was is not None
    assert now is not None
    assert now.clock == was.clock
    assert now.run is again.captures[0]
    assert list(now.process.laps) == list(was.process.laps)
    assert was.run.counters is not None
    assert now.run.counters is not None
    assert np.array_equal(now.run.counters.at_ns, was.run.counters.at_ns)
    for pid, process in was.run.counters.processes.items():
        other = now.run.counters.processes[pid]
        assert (other.pid, other.cpus) == (process.pid, process.cpus)
        assert np.array_equal(other.state, process.state)
        assert other.state.dtype == process.state.dtype
        for name, series in process.series.items():
            assert np.array_equal(other.series[name].value, series.value)


def test_a_path_that_is_no_text_is_refused_by_name(source: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"run\xff")
    with pytest.raises(UsageError, match=r"run\\xff: is no UTF-8 text; name another folder"):
        save(explanation_of(laptime.open(source)), odd)
    saved(source, tmp_path / "run")
    (tmp_path / "run").rename(odd)
    with pytest.raises(UnreadableInput, match=r"run\\xff: a saved run whose path is no UTF-8"):
        answer(laptime.open(odd))
