"""The MCP server: the figures of the JSON contract, bounded answers, nothing but local reading."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import laptime
from laptime.explaining import explanation_of
from laptime.mcp.answers import BYTES, TEXT, Bounded, text
from laptime.mcp.runs import Asked, Runs
from laptime.model.errors import UsageError
from laptime.report.as_json import explain_object
from laptime.saving import save
from laptime.tables import LAYOUTS
from tests.hostile.pieces import events, trace

pytest.importorskip("mcp", reason="the MCP SDK is not installed: pip install 'mcp>=2'")

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver import MCPServer

from laptime.mcp.server import server

Json = dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("mcp")
    (made / "trace.json").write_bytes(trace(events(8)))
    return made


def ask(of: MCPServer | StdioServerParameters, *calls: tuple[str, Json]) -> list[Any]:
    """The results of the calls, in one connection."""

    async def asked() -> list[Any]:
        async with Client(of) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(asked())


def value(result: Any) -> Json:
    assert not result.is_error, result.content
    found: Json = result.structured_content
    # The text that models read is the same object.
    assert json.loads(result.content[0].text) == found
    return found


def fault(result: Any) -> str:
    assert result.is_error
    (said,) = result.content
    assert "\n" not in said.text
    words: str = said.text
    return words


def test_tools_say_what_they_take_and_give() -> None:
    async def listed() -> Sequence[Any]:
        async with Client(server()) as client:
            return (await client.list_tools()).tools

    tools = {t.name: t for t in asyncio.run(listed())}
    assert sorted(tools) == ["causes", "explain", "open", "sql", "tables", "why"]
    for tool in tools.values():
        assert tool.description
        assert tool.output_schema["type"] == "object"
        assert tool.annotations.read_only_hint
    assert tools["explain"].input_schema["required"] == ["path"]


def test_explain_has_the_figures_of_the_contract(folder: Path) -> None:
    path = str(folder / "trace.json")
    said = value(*ask(server(), ("explain", {"path": path})))
    answer = explanation_of(laptime.open(path))
    contract = explain_object(answer)
    assert said["verdict"] == contract["verdict"]
    assert [f["id"] for f in said["findings"]] == [f["id"] for f in contract["findings"]]
    for mine, theirs in zip(said["findings"], contract["findings"], strict=True):
        assert mine == {k: theirs[k] for k in mine}
    assert [(c["id"], c["why"]) for c in said["ruled_out"]] == [
        (c["id"], c["why"]) for c in contract["clear"]
    ]
    assert [a["id"] for a in said["not_judged"]] == [a["id"] for a in contract["abstentions"]]
    (device,) = said["devices"]
    ledger = answer.views[0].ledger
    counted = [bool(c) for c in ledger.counted(ledger.devices[0])]
    assert device["counted_windows"] == sum(counted)
    laps = [lap["lap"] for lap, c in zip(contract["device_laps"], counted, strict=True) if c]
    for account in device["accounts"]:
        total = sum(
            row["ns"]
            for row in contract["ledger"]
            if row["lap"] in laps and row["account"] == account["account"]
        )
        assert account["mean_ns"] == round(total / len(laps))
    sums = sum(a["mean_ns"] for a in device["accounts"])
    assert abs(sums - device["mean_window_ns"]) <= len(device["accounts"])  # rounding
    compute = next(a for a in device["accounts"] if a["account"] == "compute")
    assert compute["share"] == pytest.approx(
        compute["mean_ns"] / device["mean_window_ns"], abs=2e-6
    )
    assert said["left_out"] == {}


def test_why_pages_through_the_events(folder: Path) -> None:
    path = str(folder / "trace.json")
    whole, first, rest = (
        value(r)
        for r in ask(
            server(),
            ("why", {"path": path, "cause": "input-starvation", "events": 100}),
            ("why", {"path": path, "cause": "input-starvation", "events": 2}),
            ("why", {"path": path, "cause": "input-starvation", "events": 100, "skip": 2}),
        )
    )
    contract = explain_object(laptime.explain(path))
    (finding,) = [f for f in contract["findings"] if f["id"] == "input-starvation"]
    (said,) = whole["said"]
    assert said["outcome"] == "found"
    assert said["formula"] == finding["formula"]
    assert [(e["start_ns"], e["dur_ns"]) for e in said["events"]] == [
        (e["start_ns"], e["dur_ns"]) for e in finding["events"]
    ]
    assert len(first["said"][0]["events"]) == 2
    assert first["left_out"] == {"events": len(said["events"]) - 2}
    assert first["said"][0]["events"] + rest["said"][0]["events"] == said["events"]
    assert whole["origin_ns"] == contract["origin_ns"]


def test_open_sql_tables_and_causes(folder: Path) -> None:
    path = str(folder / "trace.json")
    save(laptime.explain(path), folder / "run.laptime")
    query = "select label, dur_ns from laps order by start_ns"
    opened, rows, saved, cut, tables, all_causes, page = (
        value(r)
        for r in ask(
            server(),
            ("open", {"path": path}),
            ("sql", {"path": path, "query": query}),
            ("sql", {"path": str(folder / "run.laptime"), "query": query}),
            ("sql", {"path": path, "query": query, "rows": 3}),
            ("tables", {}),
            ("causes", {}),
            ("causes", {"cause": "input-starvation"}),
        )
    )
    assert opened["timelines"][0]["laps"] == 8
    assert opened["items"] == len(events(8))
    assert rows["rows"] == [[f"ProfilerStep#{i}", 1_000_000] for i in range(8)]
    assert saved["rows"] == rows["rows"]
    assert (cut["rows"], cut["more"], rows["more"]) == (rows["rows"][:3], True, False)
    assert [t["table"] for t in tables["tables"]] == list(LAYOUTS)
    assert {"input-starvation", "host-sync"} <= {c["id"] for c in all_causes["causes"]}
    assert all(c["page"] is None for c in all_causes["causes"])
    assert "What is not flagged" in page["causes"][0]["page"]


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("explain", {"path": "/no/such/file"}, "/no/such/file: no such file or folder"),
        ("explain", {"path": "-"}, "only local files"),
        ("explain", {"path": "s3://bucket/trace.json"}, "only local files"),
        ("explain", {"path": "TRACE", "rank": 3}, "rank 3: no such rank in this run"),
        ("explain", {"path": "TRACE", "lap": "nothing*"}, "nothing*"),
        ("why", {"path": "TRACE", "cause": "nothing"}, "nothing: no such cause in this run; known"),
        ("sql", {"path": "TRACE", "query": "copy laps to 'x'"}, "one SELECT is answered"),
        ("sql", {"path": "TRACE", "query": "select * from read_text('/etc/passwd')"}, "sql: "),
        ("causes", {"cause": "nothing"}, "nothing: no such cause; known: "),
    ],
)
def test_faults_are_one_line(folder: Path, tool: str, given: Json, said: str) -> None:
    path = str(folder / "trace.json")
    given = {k: path if v == "TRACE" else v for k, v in given.items()}
    assert said in fault(*ask(server(), (tool, given)))


def test_no_evidence_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("nothing of the kind")
    (tmp_path / "empty.json").write_bytes(trace([]))
    broken, empty = ask(
        server(),
        ("explain", {"path": str(tmp_path / "x.json")}),
        ("explain", {"path": str(tmp_path / "empty.json")}),
    )
    assert "x.json" in fault(broken)
    assert value(empty)["devices"] == []


def test_roots_limit_what_is_read(folder: Path, tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    (inside / "link.json").symlink_to(folder / "trace.json")
    (inside / "own.json").write_bytes((folder / "trace.json").read_bytes())
    runs = Runs([str(inside)])
    assert runs.local(str(inside / "own.json")) == os.path.realpath(inside / "own.json")
    for outside in (
        str(folder / "trace.json"),
        str(inside / "link.json"),
        str(inside / ".." / ".." / "x"),
        str(inside),  # holds a link that leads out
    ):
        with pytest.raises(UsageError, match="outside"):
            runs.local(outside)
    with pytest.raises(UsageError, match="no such folder"):
        Runs([str(tmp_path / "nothing")])


def test_explanations_are_remembered_until_a_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(trace(events(4)))
    runs = Runs(kept=2)
    first = runs.explanation(Asked((str(path),)))
    assert runs.explanation(Asked((str(path),))) is first
    assert runs.explanation(Asked((str(path),), "ProfilerStep")) is not first
    assert runs.explanation(Asked((str(path),))) is first
    path.write_bytes(trace(events(6)))
    again = runs.explanation(Asked((str(path),)))
    assert len(again.views[0].ledger.laps.laps) == 6
    # Only two are kept.
    runs.explanation(Asked((str(path),), "ProfilerStep*"))
    runs.explanation(Asked((str(path),), "ProfilerStep#*"))
    assert runs.explanation(Asked((str(path),))) is not again


def test_lists_are_bounded_by_number_and_bytes() -> None:
    to = Bounded()
    assert to.texts("a", ["x"] * 25) == ["x"] * 20
    long = to.filled("b", list(range(200)), 200, lambda i: "y" * 1000)
    assert len(json.dumps(long)) <= BYTES + 1000
    assert to.left_out == {"a": 5, "b": 200 - len(long)}
    assert len(text("z" * 5000)) == TEXT
    # One item is always given: cutting is the item's own duty.
    assert len(Bounded(10).filled("c", ["w" * 100], 5, text)) == 1


def test_answers_stay_small(tmp_path: Path) -> None:
    laps = [
        {**e, "name": e["name"] + "k" * 5000} if e["cat"] == "kernel" else e for e in events(300)
    ]
    path = tmp_path / "long.json"
    path.write_bytes(trace(laps))
    for result in ask(
        server(),
        ("open", {"path": str(path)}),
        ("explain", {"path": str(path)}),
        ("why", {"path": str(path), "cause": "input-starvation", "events": 100}),
        ("sql", {"path": str(path), "query": "select * from rows", "rows": 1000}),
        ("causes", {}),
        ("tables", {}),
    ):
        assert len(json.dumps(value(result))) < 100_000


def test_over_stdin_and_stdout(folder: Path) -> None:
    """The command as a program starts it: nothing but the protocol on stdout."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "laptime", "mcp", "--root", str(folder)]
    )
    good, outside = ask(
        command,
        ("explain", {"path": str(folder / "trace.json")}),
        ("explain", {"path": __file__}),
    )
    assert value(good)["verdict"] == laptime.explain(str(folder / "trace.json")).verdict
    assert "outside the folders" in fault(outside)


def test_ends_when_stdin_closes(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "laptime", "mcp"]
    done = subprocess.run(run, input=b"", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    bad = subprocess.run(
        [*run, "--root", str(tmp_path / "none")], capture_output=True, timeout=60, check=False
    )
    assert bad.returncode == 2
    assert bad.stdout == b""
    assert b"no such folder" in bad.stderr


def test_without_the_sdk_it_says_what_to_install() -> None:
    code = (
        "import sys\nsys.modules['mcp'] = None\n"
        "from laptime.cli import main\nsys.exit(main(['mcp']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "laptime: mcp: the MCP SDK, version 2 or later, is not installed: "
        "pip install 'laptime[mcp]'\n"
    )
