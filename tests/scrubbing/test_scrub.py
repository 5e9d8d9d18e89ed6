"""Scrubbed copies: explained alike, none of the private words left, broken files let through."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import laptime
from laptime.cli import main
from laptime.evidence.source import Source
from laptime.model.errors import LaptimeError, UnreadableInput, UsageError
from laptime.report.as_json import explain_object
from laptime.saving import save
from laptime.scrubbing.files import scrub
from laptime.scrubbing.names import Names, recognised
from laptime.scrubbing.text import Scrubber
from tests.builder import SCENARIOS, Variant
from tests.evidence_files import kineto_files, kineto_id, needs_evidence
from tests.hostile.pieces import events, header

SECRETS = ("acme", "moonshot", "alice", "vault")


def private() -> list[dict[str, Any]]:
    """The sound events with private words in every place that a trace has for them."""
    made = []
    for i, event in enumerate(events()):
        if event["cat"] == "cpu_op" and i % 2:
            event = {**event, "name": "acme::moonshot_attention"}
        args = {
            **event.get("args", {}),
            "vault_token": "alice 42",
            "note": ["acme", {"vault": "x"}],
        }
        made.append({**event, "args": args})
    host = {"ph": "X", "pid": 10, "tid": 10, "ts": 1_000_300, "dur": 20}
    made += [
        {**host, "cat": "python_function", "name": "/home/alice/moonshot/train.py(12): acme_step"},
        {**host, "cat": "python_function", "name": "nn.Module: MoonshotBlock_0"},
        {**host, "cat": "python_function", "name": "torch/nn/modules/linear.py(130): forward"},
        {**host, "cat": "user_annotation", "name": "acme \\ vault \u00fc"},
        {"ph": "M", "pid": 10, "tid": 10, "name": "thread_name", "args": {"name": "alice_worker"}},
        {"ph": "M", "pid": "acme", "tid": 0, "name": "process_name", "args": {"name": "python3"}},
    ]
    return made


def source_text(**entries: Any) -> bytes:
    more = {
        "hostname": "vault-7.acme.example",
        "traceName": "/data/alice/t.json",
        "acme_key": "vault",
    }
    head = {**header(**more), "distributedInfo": {"rank": 3, "world_size": 8, "backend": "nccl"}}
    return json.dumps({**head, **entries, "traceEvents": private()}).encode()


def scrubbed(text: bytes, names: Names | None = None, piece: int = 1 << 20) -> bytes:
    pieces = (text[i : i + piece] for i in range(0, len(text), piece))
    return b"".join(Scrubber(names or Names()).pieces(pieces))


def alike(path: Path) -> dict[str, Any]:
    """What must not change: everything of the answer that is no name."""
    try:
        told = explain_object(laptime.explain(laptime.open(path)))
    except LaptimeError as error:
        return {"error": type(error).__name__}
    return {
        "ledger": [(r["account"], r["ns"]) for r in told["ledger"]],
        "findings": [(f["id"], f["bound_ns"], f["share"]) for f in told["findings"]],
        "abstentions": [(a["id"], a["missing"]) for a in told["abstentions"]],
        "laps": [(x["start_ns"], x["dur_ns"], x["steady"]) for x in told["laps"]],
        "windows": [(x["start_ns"], x["dur_ns"], x["open"]) for x in told["device_laps"]],
        "kernels": [(k["name"], k["count"], k["ns"]) for k in told["kernels"]],
        "health": (told["health"]["items"], told["health"]["lost"]),
    }


@needs_evidence
@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_evidence_is_explained_alike(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / path.name.removesuffix(".gz")
    copy.write_bytes(b"".join(Scrubber(Names()).pieces(Source(path).chunks())))
    assert alike(copy) == alike(path)


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_scenarios_are_explained_alike(name: str, tmp_path: Path) -> None:
    SCENARIOS[name](Variant(stacks=True)).trace.write(tmp_path / "trace.json")
    scrub(str(tmp_path / "trace.json"), tmp_path / "copy.json")
    assert alike(tmp_path / "copy.json") == alike(tmp_path / "trace.json")


def test_no_private_word_is_left() -> None:
    text = scrubbed(source_text())
    assert not [s for s in SECRETS if s.encode() in text.lower()]
    told = json.loads(text)
    assert told["hostname"] == "host1"
    assert told["distributedInfo"] == {"rank": 3, "world_size": 8, "backend": "nccl"}
    assert told["deviceProperties"] == header()["deviceProperties"]


def test_everything_else_is_kept() -> None:
    """Times, ids, kernels, public names, the order of keys, and how many of each."""
    was = json.loads(source_text())["traceEvents"]
    now = json.loads(scrubbed(source_text()))["traceEvents"]
    assert len(now) == len(was)
    for a, b in zip(was, now, strict=True):
        for key in ("ph", "ts", "dur", "tid", "cat"):
            assert a.get(key) == b.get(key)
        if a.get("cat") in ("kernel", "cuda_runtime"):
            assert a["name"] == b["name"]
        if "correlation" in a.get("args", {}):
            assert a["args"]["correlation"] == b["args"]["correlation"]
    names = [e["name"] for e in now]
    assert "torch/nn/modules/linear.py(130): forward" in names
    assert "aten::mm" in names
    assert sum(n.startswith("/home/zq") or "train.py" in n for n in names) == 1


def test_form_of_names_stays() -> None:
    names = Names()
    frame = names.name("/home/alice/moonshot/model.py(12): acme_block2")
    assert frame.startswith("/zq")
    assert "model.py(12): zq" in frame
    assert frame.endswith("2")
    assert names.name("nn.Module: Moonshot_3").endswith("_3")


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=8))
def test_names_stay_distinct_and_recognised(texts: list[str]) -> None:
    names = Names()
    new = [names.name(t) for t in texts]
    assert len(set(new)) == len(set(texts))
    assert [names.name(t) for t in texts] == new
    assert [recognised(t) for t in texts] == [recognised(n) for n in new]


@pytest.mark.parametrize("piece", [1, 7, 100, 4096])
def test_pieces_do_not_matter(piece: int) -> None:
    text = source_text()
    assert scrubbed(text, piece=piece) == scrubbed(text)


def test_category_behind_the_name() -> None:
    event = {"name": "acme_kernel", "ph": "X", "ts": 1, "dur": 1, "cat": "kernel"}
    other = {"name": "acme_kernel", "ph": "X", "ts": 1, "dur": 1, "cat": "cpu_op"}
    told = json.loads(scrubbed(json.dumps([event, other]).encode()))
    assert told[0] == event
    assert told[1]["name"].startswith("zq")


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.77, 0.99])
def test_truncated_files_pass(share: float, tmp_path: Path) -> None:
    text = source_text()
    (tmp_path / "t.json").write_bytes(text[: int(len(text) * share)])
    scrub(str(tmp_path / "t.json"), tmp_path / "copy.json")
    copy = (tmp_path / "copy.json").read_bytes()
    assert not [s for s in SECRETS if s.encode() in copy.lower()]
    was, now = alike(tmp_path / "t.json"), alike(tmp_path / "copy.json")
    assert now.get("ledger") == was.get("ledger")
    assert now.get("findings") == was.get("findings")


@given(st.integers(0, 20_000), st.binary(max_size=40))
def test_damage_lets_no_word_through_and_ends(at: int, noise: bytes) -> None:
    text = source_text()
    at %= len(text)
    names = Names()
    broken = text[:at] + noise + text[at + len(noise) + 3 :]
    copy = scrubbed(broken, names)
    assert b"moonshot" not in copy.lower()
    # Events behind the damage come through whole.
    assert copy.count(b'"ProfilerStep#') >= text.count(b'"ProfilerStep#') - 2


def test_bytes_that_are_no_text_pass() -> None:
    text = b'[{"ph": "X", "name": "acme \xff\xfe", "cat": "cpu_op", "ts": 1, "dur": 2}]'
    copy = scrubbed(text)
    assert b"\xff\xfe" in copy
    assert b"acme" not in copy
    half = b'[{"ph": "X", "name": "acme \\ud800", "cat": "cpu_op", "ts": 1, "dur": 2}]'
    assert json.loads(scrubbed(half))[0]["name"].endswith("\ud800")


def test_kept_names() -> None:
    text = scrubbed(source_text(), Names(re.compile("^acme::")))
    assert b"acme::moonshot_attention" in text
    assert b"alice" not in text


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".json.zst"])
def test_compression_as_named(suffix: str, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "t.json.gz", "wb") as file:
        file.write(source_text())
    done = scrub(str(tmp_path / "t.json.gz"), tmp_path / f"copy{suffix}", mapping=tmp_path / "m")
    assert b"".join(Source(tmp_path / f"copy{suffix}").chunks()) == scrubbed(source_text())
    told = json.loads((tmp_path / "m").read_text())
    assert told["vault-7.acme.example"] == "host1"
    assert done.replaced["hosts"] == 1
    assert done.damaged == 0


def test_saved_runs(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="duckdb is not installed: pip install duckdb")
    (tmp_path / "alice.json").write_bytes(source_text())
    save(laptime.explain(laptime.open(tmp_path / "alice.json")), tmp_path / "run")
    scrub(str(tmp_path / "run"), tmp_path / "copy")
    assert alike(tmp_path / "copy") == alike(tmp_path / "run")
    for name in (
        "rows",
        "args",
        "row_texts",
        "timelines",
        "lanes",
        "devices",
        "health",
        "findings",
    ):
        for row in laptime.sql(tmp_path / "copy", f"select * from {name}").rows():
            assert not [s for s in SECRETS if s in str(row).lower()], row
    for path in (tmp_path / "copy").rglob("*"):
        if path.is_file():
            assert not [s for s in SECRETS if s.encode() in path.read_bytes().lower()], path


def test_nothing_is_overwritten_or_left(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_bytes(source_text())
    with pytest.raises(UsageError, match="exists; name another file"):
        scrub(str(tmp_path / "t.json"), tmp_path / "t.json")
    with pytest.raises(UsageError, match="is no regular expression"):
        scrub(str(tmp_path / "t.json"), tmp_path / "c.json", keep="(")
    with pytest.raises(UsageError, match="cannot be written"):
        scrub(str(tmp_path / "t.json"), tmp_path / "no" / "c.json")
    with pytest.raises(UsageError, match="a folder; name a trace in it"):
        scrub(str(tmp_path), tmp_path / "c.json")
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(UnreadableInput, match="traces and saved runs can be scrubbed"):
        scrub(str(tmp_path / "x.txt"), tmp_path / "c.json")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.json", "x.txt"]


def test_command_says_what_it_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.json").write_bytes(source_text()[:-30])
    assert main(["scrub", str(tmp_path / "t.json"), "-o", str(tmp_path / "c.json")]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("replaced: 1 host, ")
    assert "1 kernel name, " in out[1]
