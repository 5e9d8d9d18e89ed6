"""Formats are found, files and folders become one run, and what is skipped is said."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib
import numpy as np
import pytest

from laptime.evidence import registry
from laptime.evidence.format import Match, Progress
from laptime.evidence.join import joined
from laptime.evidence.lookalike import looks_like
from laptime.evidence.natural import natural
from laptime.evidence.registry import identify, open_run
from laptime.evidence.source import Source
from laptime.model.errors import UnreadableInput, UsageError
from laptime.model.health import Health, Loss
from laptime.model.rows import Rows
from laptime.model.run import Device, Lane, Part, Timeline


def rows() -> Rows:
    none = np.zeros(0, dtype=np.int64)
    return Rows(none, none, none, [], none, [], none, none, none)


def timeline(
    source: str, rank: int | None, world: int | None = None, devices: Sequence[str] = ("gpu0",)
) -> Timeline:
    return Timeline(
        id=f"rank{rank}" if rank is not None else source,
        source=source,
        rows=rows(),
        lanes=[Lane(None, None, device=d, stream=7) for d in devices] + [Lane(1, 2)],
        devices=[Device(d, i, rank=rank) for i, d in enumerate(devices)],
        origin_ns=0,
        rank=rank,
        world_size=world,
    )


@dataclass
class Toy:
    """A format of the tests: JSON of one rank."""

    id: str = "toy"
    title: str = "toy trace"

    def sniff(self, head: bytes, name: str) -> Match:
        if head.startswith(b'{"toy"'):
            return Match(1.0, "toy")
        return Match(0.1 if head.startswith(b"{") else 0.0, "JSON")

    def read(self, source: Source, progress: Progress | None) -> Part:
        text = b"".join(source.chunks())
        if progress is not None:
            progress(source.name, source.read_bytes, source.total_bytes)
        try:
            rank = json.loads(text).get("toy")
        except ValueError:
            raise UnreadableInput(f"{source.name}: is not whole") from None
        health = Health(items=1, losses=list(source.losses))
        return Part(source.name, self.id, [timeline(source.name, rank)], health)


@pytest.fixture(autouse=True)
def only_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "formats", lambda: (Toy(),))


def toy(path: Path, rank: int | None) -> Path:
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(gzip.compress(json.dumps({"toy": rank}).encode()))
    return path


def test_one_file_with_progress(tmp_path: Path) -> None:
    path = toy(tmp_path / "a.json.gz", 3)
    seen: list[tuple[str, int, int | None]] = []
    run = open_run(str(path), progress=lambda *a: seen.append(a))
    assert [t.rank for t in run.timelines] == [3]
    assert run.sources == [str(path)]
    assert run.health.items == 1
    assert seen == [(str(path), path.stat().st_size, path.stat().st_size)]


def test_folder_reads_one_level_below_in_natural_order(tmp_path: Path) -> None:
    toy(tmp_path / "n10.json.gz", None)
    toy(tmp_path / "n9.json.gz", None)
    toy(tmp_path / "sub" / "r.json.gz", 0)
    toy(tmp_path / ".hidden.json.gz", 8)
    (tmp_path / "config.json").write_text('{"lr": 1}')
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "broken.json").write_text('{"toy": ')
    run = open_run(tmp_path)
    assert [Path(t.source).name for t in run.timelines] == [
        "r.json.gz",
        "n9.json.gz",
        "n10.json.gz",
    ]
    said = "\n".join(run.health.warnings)
    assert "config.json: looks like JSON without trace events" in said
    assert "notes.txt: looks like plain text" in said
    assert "broken.json: is not whole" in said
    assert "2 of the files say no rank" in run.health.warnings[3]
    assert len(run.health.warnings) == 4


def test_folder_reads_what_is_named_as_a_trace_down_to_three_levels(tmp_path: Path) -> None:
    toy(tmp_path / "a.json.gz", 0)
    toy(tmp_path / "host" / "two" / "b.json.gz", 1)
    (tmp_path / "host" / "two" / "notes.txt").write_text("hello")
    toy(tmp_path / "host" / "two" / "three" / "c.JSON", 2)
    toy(tmp_path / "host" / "two" / "three" / "weights.bin", 9)
    toy(tmp_path / "host" / "two" / "three" / "four" / "d.json.gz", 3)
    (tmp_path / "host" / "loop").symlink_to(tmp_path)
    (tmp_path / ".cache").mkdir()
    run = open_run(tmp_path)
    assert [t.rank for t in run.timelines] == [0, 1, 2]
    four = tmp_path / "host" / "two" / "three" / "four"
    said = [w.removeprefix(f"{tmp_path}: ") for w in run.health.warnings]
    assert said[0].startswith("2 files two or more levels below, not named as traces")
    assert said[1].startswith(f"1 folder more than 3 levels below not looked into ({four})")
    assert len(said) == 2


def test_evidence_below_the_deepest_level_is_not_said_to_be_none(tmp_path: Path) -> None:
    toy(tmp_path / "1" / "2" / "3" / "4" / "a.json.gz", 0)
    deep = tmp_path / "1" / "2" / "3" / "4"
    with pytest.raises(UnreadableInput, match=r"1 folder more than 3 levels .* name them") as said:
        open_run(tmp_path)
    assert str(deep) in str(said.value)
    assert [t.rank for t in open_run(deep).timelines] == [0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root lists every folder")
def test_a_closed_folder_below_is_skipped_and_said(tmp_path: Path) -> None:
    toy(tmp_path / "a.json.gz", 0)
    (tmp_path / "shut").mkdir(mode=0)
    run = open_run(tmp_path)
    assert [t.rank for t in run.timelines] == [0]
    assert "shut: cannot be listed" in run.health.warnings[0]


def test_folder_without_evidence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="holds no evidence, nor any file"):
        open_run(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(UnreadableInput, match=r"holds no evidence; for example .*plain text"):
        open_run(tmp_path)


def test_named_files_must_be_readable(tmp_path: Path) -> None:
    good = toy(tmp_path / "a.json.gz", 0)
    bad = tmp_path / "b.json"
    bad.write_text('{"toy": ')
    with pytest.raises(UnreadableInput, match=r"b\.json: is not whole"):
        open_run([good, bad])
    with pytest.raises(UsageError, match="no such file"):
        open_run([good, tmp_path / "absent"])
    with pytest.raises(UsageError, match="no file given"):
        open_run([])
    run = open_run([good, good, tmp_path / "a.json.gz"])
    assert len(run.timelines) == 1
    assert run.health.warnings == [f"{good}: named twice; read once"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the toy format reaches workers by fork")
def test_processes_give_the_same_run(tmp_path: Path) -> None:
    for rank in (2, 0, 1):
        toy(tmp_path / f"r{rank}.json.gz", rank)
    (tmp_path / "broken.json").write_text('{"toy": ')
    one = open_run(tmp_path, n_jobs=1)
    seen: list[int] = []
    with joblib.parallel_config(backend="multiprocessing"):
        many = open_run(tmp_path, n_jobs=3, progress=lambda _, done, total: seen.append(done))
    assert [t.id for t in many.timelines] == [t.id for t in one.timelines]
    assert [t.rank for t in many.timelines] == [0, 1, 2]
    assert many.sources == one.sources
    assert many.health == one.health
    assert len(seen) == 4
    assert seen == sorted(seen)


def test_conflicts_are_recorded_and_ids_stay_unique(tmp_path: Path) -> None:
    a, b = timeline("a", 1, world=4), timeline("b", 1, world=2, devices=("gpu0", "gpu1"))
    c = timeline("c", None)
    parts = [Part(t.source, "toy", [t], Health(warnings=["same"])) for t in (c, b, a)]
    run = joined(parts)
    assert [t.id for t in run.timelines] == ["rank1", "rank1#2", "c#3"]
    assert [d.id for d in run.devices] == ["gpu0", "gpu0#2", "gpu1#2", "gpu0#3"]
    assert [lane.device for lane in run.timelines[1].lanes] == ["gpu0#2", "gpu1#2", None]
    assert run.health.warnings == [
        "3 files (c, b, a): same",
        "rank 1 appears in 2 files: a, b; each is kept and reported by itself",
        "files disagree on the number of ranks (2 in b; 4 in a); are they of one job?",
        "1 of the files says no rank (c) where others do; are they of one job?",
    ]


def test_a_warning_of_one_file_of_several_names_it() -> None:
    said = {"a": ["odd", "a: told"], "b": ["b: told", "b, process 3: late"]}
    parts = [
        Part(name, "toy", [timeline(name, i, 2, (f"g{i}",))], Health(warnings=said[name]))
        for i, name in enumerate("ab")
    ]
    assert joined(parts).health.warnings == [
        "a: odd",
        "2 files (a, b): told",
        "b, process 3: late",
    ]
    assert joined(parts[:1]).health.warnings == ["odd", "a: told"]


def test_missing_ranks_are_said() -> None:
    parts = [Part(f"f{r}", "toy", [timeline(f"f{r}", r, 4, (f"g{r}",))], Health()) for r in (0, 2)]
    assert joined(parts).health.warnings == ["2 of 4 ranks have no file: 1, 3"]


def test_losses_of_all_parts_are_kept() -> None:
    parts = [Part(s, "toy", [], Health(items=2, losses=[Loss("x", 1, s)])) for s in "ab"]
    run = joined(parts)
    assert (run.health.items, run.health.lost) == (4, 2)


def test_natural_order() -> None:
    names = ["r10", "r9", "r1b", "r1a", "r01", "a"]
    assert sorted(names, key=natural) == ["a", "r01", "r1a", "r1b", "r9", "r10"]


def test_identify() -> None:
    found = identify(b'{"toy": 1}', "x")
    assert found is not None
    assert found[1].confidence == 1.0
    assert identify(b"text", "x") is None


@pytest.mark.parametrize(
    ("head", "name", "says"),
    [
        (b"SQLite format 3\0....", "report.sqlite", "sqlite"),
        (b"\x01\x02\0", "x.nsys-rep", "Nsight Systems report"),
        (b"NVR\0", "x.ncu-rep", "Nsight Compute"),
        (b"\n<!DOCTYPE html><html>", "trace.json", "HTML page"),
        (b"\x80\x04\x95", "snapshot.pickle", "pickle"),
        (bytes(4096), "trace.json", "zero bytes"),
        (b"host:1:1 [0] NCCL INFO Bootstrap", "log", "NCCL log"),
        (b"version https://git-lfs.github.com/spec/v1", "t.json", "git lfs pull"),
        (b'{"a": 1}', "t.json", "JSON without trace events"),
        (b"  \n", "t.json", "white space"),
        (b"a\0b", "t", "binary data"),
        (b"hello", "t", "plain text"),
    ],
)
def test_unknown_formats_are_described(tmp_path: Path, head: bytes, name: str, says: str) -> None:
    assert says in looks_like(head, name)


def test_unknown_format_names_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text("hello")
    with pytest.raises(UnreadableInput, match="looks like plain text; laptime reads: toy trace"):
        open_run(tmp_path / "t.json")
