"""SQL over runs: the explanation's numbers, nothing but reading, within limits."""

from __future__ import annotations

import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import laptime
from laptime.cli import main
from laptime.evidence.join import joined
from laptime.evidence.sealed import FILES, SELF
from laptime.explaining import explanation_of
from laptime.model.errors import UsageError
from laptime.model.health import Health
from laptime.model.rows import Kind, Rows
from laptime.model.run import Lane, Part, Run, Timeline
from laptime.querying import Limits
from laptime.report.answers import _csv, plain
from laptime.saving import save
from tests.hostile.pieces import trace, with_args

pytest.importorskip("duckdb", reason="duckdb is not installed: pip install duckdb")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace, and the run saved from it."""
    made = tmp_path_factory.mktemp("sql")
    (made / "trace.json").write_bytes(trace(with_args(note="a")))
    save(explanation_of(laptime.open(made / "trace.json")), made / "run.laptime")
    return made


@pytest.fixture(params=["trace.json", "run.laptime"])
def where(request: pytest.FixtureRequest, folder: Path) -> Path:
    return folder / str(request.param)


def test_sums_are_the_ledgers(where: Path) -> None:
    table = laptime.sql(where, "select account, sum(ns) ns from ledger group by 1 order by 1")
    ledger = explanation_of(laptime.open(where)).table("ledger")
    sums: dict[str, int] = {}
    for row in ledger.rows():
        sums[row["account"]] = sums.get(row["account"], 0) + row["ns"]
    assert {r["account"]: r["ns"] for r in table.rows()} == sums
    assert table.columns == ["account", "ns"]


@pytest.mark.parametrize("name", ["rows", "args", "row_ints", "row_texts", "laps", "devices",
                                  "health", "losses", "timelines", "lanes", "kernels"])  # fmt: skip
def test_every_table_reads_alike(name: str, where: Path) -> None:
    table = explanation_of(laptime.open(where)).table(name)
    found = laptime.sql(where, f"select * from {name}")
    assert found.columns == table.columns
    assert list(found.rows()) == list(table.rows())


def test_arguments_are_json(where: Path) -> None:
    query = "select distinct args->>'$.note' note from args"
    assert list(laptime.sql(where, query).rows()) == [{"note": "a"}]


SECRET = [1]
REFUSED = (
    "select * from read_csv('/etc/passwd')",
    "select * from '/etc/passwd'",
    "select * from read_text('/etc/passwd')",
    "select * from read_blob('/proc/self/environ')",
    "select * from glob('/etc/*')",
    "select * from sniff_csv('/etc/passwd')",
    "select * from read_parquet('/etc/passwd')",
    "select * from read_parquet('https://example.invalid/a.parquet')",
    "select * from SECRET",
    "select getenv('HOME')",
    "select * from enable_logging(storage = 'file')",
    "select * from query('copy (select 1) to ''made''')",
    "copy (select 1) to 'made'",
    "copy laps to 'made' (format parquet, use_tmp_file false)",
    "explain analyze copy (select 1) to 'made'",
    "export database 'made'",
    "attach 'made' as m",
    "install httpfs",
    "load httpfs",
    "force install httpfs",
    "pragma database_list",
    "pragma enable_profiling",
    "set memory_limit = '90GB'",
    "set enable_external_access = true",
    "set global lock_configuration = false",
    "reset memory_limit",
    "call enable_logging(storage = 'file', storage_path = 'made')",
    "create table made as select 1",
    "create or replace view laps as select 1",
    "create secret s (type s3)",
    "insert into laps select * from laps",
    "delete from laps",
    "update laps set dur_ns = 0",
    "drop view laps",
    "use temp",
    "checkpoint",
    "prepare p as select 1",
    "begin",
    "select 1; copy (select 1) to 'made'",
    "select 1; select 2",
    "",
    ";",
    "-- nothing",
    "selec 1",
    "select * from nowhere",
    "select 1/'a'",
    "select '\udcff'",  # what a shell's bytes become that are no UTF-8
)


@pytest.mark.parametrize("query", REFUSED)
def test_hostile_queries_are_refused(
    query: str, where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(p.name for p in where.parent.rglob("*"))
    with pytest.raises(UsageError) as error:
        laptime.sql(where, query)
    assert str(error.value).startswith("sql: ")
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []
    assert sorted(p.name for p in where.parent.rglob("*")) == before


def test_other_files_of_the_folder_are_not_read(folder: Path, tmp_path: Path) -> None:
    """Only the tables' own files are allowed, not what lies beside them."""
    other = folder / "run.laptime" / "meta.json"
    with pytest.raises(UsageError, match="Cannot access file"):
        laptime.sql(folder / "run.laptime", f"select * from read_text('{other}')")


def test_unknown_table_names_the_known(where: Path) -> None:
    with pytest.raises(UsageError, match="tables: laps, device_laps, ledger"):
        laptime.sql(where, "select * from lap")


def test_time_is_limited(where: Path) -> None:
    query = (
        "select count(*) from range(1000000) a, range(1000000) b where (a.range + b.range) % 7 = 1"
    )
    with pytest.raises(UsageError, match=r"stopped after 0\.2 s"):
        laptime.sql(where, query, timeout_s=0.2)


@pytest.mark.parametrize("memory", ["2", "-2GB", "0GB", "2GB; set x=1", "lots", "2XB"])
def test_memory_is_checked(memory: str) -> None:
    with pytest.raises(UsageError, match="give a number and a unit"):
        Limits(memory=memory)


def large(rows: int) -> Run:
    """A run of many rows with long names, more than a small memory limit holds."""
    number = np.arange(rows, dtype=np.int64)
    names = [f"name {i} " + "x" * 60 for i in range(50_000)]
    held = Rows(
        start_ns=number * 10,
        dur_ns=(number * 7919) % 1_000_003,
        name=((number * 31) % len(names)).astype(np.uint32),
        names=names,
        category=np.zeros(rows, dtype=np.uint8),
        categories=["cpu_op"],
        kind=np.full(rows, int(Kind.CPU_OP), dtype=np.uint8),
        lane=np.zeros(rows, dtype=np.int32),
        phase=np.full(rows, ord("X"), dtype=np.uint8),
    )
    timeline = Timeline("t", "t", held, [Lane(1, 1)], [], 0, pid=1)
    return joined([Part("t", "made", [timeline], Health(items=rows))])


def test_more_than_memory_is_spilled(tmp_path: Path) -> None:
    rows = 600_000
    run = large(rows)
    save(explanation_of(run), tmp_path / "run.laptime")
    query = (
        "select count(*) n, sum(place * (dur_ns % 3)) s from (select dur_ns, name, "
        "row_number() over (order by dur_ns desc, name, start_ns) place from rows)"
    )
    with pytest.raises(UsageError, match="needs more than 100MB of memory"):
        laptime.sql(tmp_path / "run.laptime", query, memory="100MB", spill=False)
    found = next(laptime.sql(tmp_path / "run.laptime", query, memory="100MB").rows())
    held = run.timelines[0].rows
    names = np.array(held.names)[held.name]
    order = np.lexsort((held.start_ns, names, -held.dur_ns))
    expected = int((np.arange(1, rows + 1) * (held.dur_ns[order] % 3)).sum())
    assert found == {"n": rows, "s": expected}


def test_saved_of_another_version_is_said(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(explanation_of(laptime.open(folder / "trace.json")), tmp_path / "run")
    meta = json.loads((tmp_path / "run" / "meta.json").read_text())
    old = {k: v for k, v in meta.items() if k not in (FILES, SELF)}
    (tmp_path / "run" / "meta.json").write_text(json.dumps({**old, "laptime": "0.0.1"}))
    assert main(["sql", str(tmp_path / "run"), "select 1"]) == 0
    assert "its tables are those of laptime 0.0.1" in capsys.readouterr().err


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "select 9007199254740993 a, null b, 0.5 c, 'ü' d, [1, 2] e, {'x': 1} f, 1e400::float g"
    query = query.replace(", 1e400::float g", ", 'inf'::double g")
    assert main(["sql", str(folder / "run.laptime"), query, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "laptime.sql/1"
    assert told["rows"] == [[9007199254740993, None, 0.5, "ü", [1, 2], {"x": 1}, "inf"]]
    assert [c["name"] for c in told["columns"]] == list("abcdefg")


def test_csv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query = "select null a, '' b, 'x,\"y' c, true d, 3 e"
    assert main(["sql", str(folder / "run.laptime"), query, "--csv"]) == 0
    assert capsys.readouterr().out == 'a,b,c,d,e\n,"","x,""y",true,3\n'


def test_table_is_bounded(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(folder / "run.laptime"), "from range(500)", "--rows", "3"]) == 0
    assert capsys.readouterr().out.split()[:4] == ["range", "0", "1", "2"]
    assert main(["sql", str(folder / "run.laptime"), "from range(500)", "--rows", "3"]) == 0
    assert "the first 3 rows" in capsys.readouterr().out


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_number_is_broken_over_lines(
    width: int, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    query = (
        "select repeat('name ', 6) as text, start_ns + 1234567890123 as start, dur_ns, "
        "dur_ns + 9876543210987 as later, steady from laps"
    )
    assert main(["sql", str(folder / "run.laptime"), query, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main(["sql", str(folder / "run.laptime"), query]) == 0
    words = capsys.readouterr().out.split()
    for _, *figures, _ in rows:
        assert all(str(figure) in words for figure in figures)
    beside = width >= 80
    assert words.count("dur_ns") == (1 if beside else len(rows))  # else a block for each row


def test_tables_are_listed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sql", str(folder / "run.laptime"), "--tables", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["tables"]
    assert told["ledger"]["columns"][4]["unit"] == "ns"
    assert main(["sql", str(folder / "run.laptime"), "--tables"]) == 0
    assert "dur_ns" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no query given"),
        (["select 1", "--tables"], "leave the query out"),
        (["select 1", "--json", "--csv"], "choose one of them"),
        (["select 1", "--timeout", "0"], "give seconds"),
        (["copy laps to 'x'"], "this is COPY"),
    ],
)
def test_usage_is_one_line(
    arguments: list[str], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sql", str(folder / "run.laptime"), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_values_in_json_and_csv() -> None:
    assert plain(Decimal("1.5")) == 1.5
    assert plain(b"\x01") == "01"
    assert plain(float("nan")) == "nan"
    assert _csv("a\nb") == '"a\nb"'
    assert _csv({"x": None}) == '"{""x"": null}"'


def test_no_temporary_folder_is_left(folder: Path, tmp_path: Path) -> None:
    code = "import sys, laptime; print(len(laptime.sql(sys.argv[1], 'select * from laps')))"
    command = [sys.executable, "-c", code, str(folder / "run.laptime")]
    done = subprocess.run(
        command, env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "5\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["--json", "--csv"])
@pytest.mark.parametrize("spill", [(), ("--no-spill",)])
def test_a_query_that_is_stopped_leaves_no_part_of_its_answer(
    form: str, spill: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Many rows at once, then one that takes for ever."""
    query = (
        "select i from range(1000000) t(i) union all "
        "select count(*) from range(100000000) a, range(100000000) b"
    )
    asked = ["sql", str(folder / "run.laptime"), query, form, "--timeout", "1", *spill]
    assert main(asked) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("laptime: sql: stopped after 1 s;")
