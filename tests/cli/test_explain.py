from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import laptime.cli
from laptime.cli import explain, main
from laptime.explanation import Explanation
from laptime.model.errors import UnreadableInput
from tests.report import made

SRC = Path(__file__).parents[2] / "src"


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "explanation_for", lambda args: made.training())


def test_help_answers_without_the_heavy_libraries() -> None:
    code = (
        "import sys\nfrom laptime.cli import main\n"
        "try:\n    main(['explain', '--help'])\n"
        "except SystemExit as e:\n    assert e.code == 0\n"
        "heavy = {'numpy', 'rich', 'jinja2', 'fsspec', 'joblib', 'isal'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    env = {**os.environ, "PYTHONPATH": str(SRC)}
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "exit codes:" in done.stdout
    assert time.monotonic() - start < 2  # 0.06 s alone; this guards against a heavy import only


def test_usage_faults_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for argv in ([], ["nonsense"], ["explain"], ["explain", "x", "--top", "-1"]):
        with pytest.raises(SystemExit) as stopped:
            main(argv)
        assert stopped.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("laptime: ")
        assert line.endswith(f"see laptime{' explain' if argv[:1] == ['explain'] else ''} --help")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["trace.json.gz"], "to explain a trace: laptime explain trace.json.gz"),
        (["--json", "a b.json"], "to explain a trace: laptime explain --json 'a b.json'"),
        (["-"], "to explain a trace: laptime explain -"),
        (["\x1b[31m"], "'\\\\x1b[31m' is no command; commands: causes, explain"),
        (["explain", "x", "--jso"], "unrecognized arguments: --jso; see laptime explain --help"),
        (["explain", "x", "--width", "abc"], "columns from 40 to 1000, not 'abc'"),
        (["explain", "x", "--width", "39"], "columns from 40 to 1000, not '39'"),
        (["explain", "x", "--top", "few"], "must be a whole number from 0, not 'few'"),
        (["explain", "x", "--rank", "one"], "must be a rank, a whole number from 0, not 'one'"),
    ],
)
def test_usage_faults_say_what_to_write(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(argv)
    assert stopped.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("answer")
def test_a_rank_of_an_unlabelled_run_is_told_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", "--rank", "0"]) == 2
    assert "no process of this run is labelled with a rank" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("laptime ")


@pytest.mark.usefixtures("answer")
def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", "--width", "100"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Waiting for input costs 59.3 ms")
    assert err == ""


@pytest.mark.usefixtures("answer")
def test_json_and_page_leave_nothing_else_on_stdout(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    assert main(["explain", "x", "--json", "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["schema"] == "laptime.explain/1"
    assert err == ""
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("answer")
def test_page_alone_leaves_the_verdict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["explain", "x", "--width", "200", "--html", str(tmp_path / "p.html")]) == 0
    assert capsys.readouterr().out.strip() == made.training().verdict


@pytest.mark.usefixtures("answer")
@pytest.mark.parametrize(
    "more",
    [
        ["--html", "/nonexistent/folder/page.html"],
        ["--why", "nonsense"],
        ["--why", "launch-bound", "--json"],
        ["--rank", "7"],
    ],
)
def test_requests_that_cannot_be_met(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", *more]) == 2
    err = capsys.readouterr().err
    assert err.startswith("laptime: ")
    assert err.count("\n") == 1


@pytest.mark.usefixtures("answer")
def test_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "x", "--why", "input-starvation"]) == 0
    assert "formula: mean over counted windows" in capsys.readouterr().out


def test_nothing_to_account_for_is_told_and_exits_with_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explain, "explanation_for", lambda args: made.nothing())
    assert main(["explain", "x"]) == 3
    out, err = capsys.readouterr()
    assert "not measured" in out
    assert err.startswith("laptime: empty.json: nothing to account for")


@pytest.mark.parametrize(
    ("error", "code", "start"),
    [
        (UnreadableInput("x.json: empty\nfile"), 5, "laptime: x.json: empty file"),
        (ValueError("boom"), 1, "laptime: internal fault: ValueError: boom; please report"),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_failures_are_one_line(
    error: BaseException,
    code: int,
    start: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(args: object) -> Explanation:
        raise error

    monkeypatch.delenv("LAPTIME_DEBUG", raising=False)
    monkeypatch.setattr(explain, "explanation_for", fail)
    assert main(["explain", "x"]) == code
    err = capsys.readouterr().err
    assert err.startswith(start)
    assert err.count("\n") == (1 if start else 0)


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(args: object) -> Explanation:
        raise ValueError("boom")

    monkeypatch.setenv("LAPTIME_DEBUG", "1")
    monkeypatch.setattr(explain, "explanation_for", fail)
    with pytest.raises(ValueError, match="boom"):
        main(["explain", "x"])


_PIPED = """
import sys
sys.path[:0] = {paths!r}
from laptime.cli import explain, main
from tests.report import made
explain.explanation_for = lambda args: made.{name}()
sys.exit(main({argv!r}))
"""


def piped(argv: list[str], name: str = "training") -> list[str]:
    code = _PIPED.format(paths=[str(SRC), str(SRC.parent)], argv=argv, name=name)
    return [sys.executable, "-c", code]


@pytest.mark.parametrize("more", [["--json"], []])
def test_a_reader_that_leaves_early_is_no_fault(more: list[str]) -> None:
    process = subprocess.Popen(
        piped(["explain", "x", *more], "many_laps"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("more", [["--json"], []])
def test_a_full_disk_is_told_in_one_line(more: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            piped(["explain", "x", *more]), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"laptime: the answer could not be written: No space left on device\n"


@pytest.mark.parametrize("name", ["trace.json", "hard.json", "soft.json", "ranks/trace.json"])
@pytest.mark.parametrize("given", ["trace.json", "ranks", "-"])
def test_a_page_never_replaces_what_is_read(given: str, name: str, tmp_path: Path) -> None:
    text = json.dumps(small_trace())
    trace = tmp_path / "ranks/trace.json"
    trace.parent.mkdir()
    trace.write_text(text)
    for link in ("trace.json", "hard.json"):
        (tmp_path / link).hardlink_to(trace)
    (tmp_path / "soft.json").symlink_to(trace)
    with trace.open() as stdin:
        done = subprocess.run(
            [*PROGRAM, "explain", given, "--html", name],
            cwd=tmp_path,
            env=ENV,
            stdin=stdin,
            capture_output=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(f"laptime: --html {name}: is one of the inputs".encode())
    assert done.stderr.count(b"\n") == 1
    assert done.stdout == b""
    assert trace.read_text() == text


def test_a_page_beside_the_evidence_may_be_written_again(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps(small_trace()))
    page = tmp_path / "page.html"
    for _ in range(2):
        assert main(["explain", str(tmp_path), "--html", str(page)]) == 0
        assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.usefixtures("answer")
def test_a_page_for_stdout_is_alone_there(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["explain", "x", "--html", "-"]) == 0
    page = capsysbinary.readouterr().out.decode()
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    for more in (["--json"], ["--why", "launch-bound"]):
        assert main(["explain", "x", "--html", "-", *more]) == 2


PROGRAM = [sys.executable, "-m", "laptime"]
ENV = {**os.environ, "PYTHONPATH": str(SRC)}


def small_trace() -> dict[str, object]:
    def row(cat: str, name: str, ts: int, dur: int, **args: int) -> dict[str, object]:
        who = args.get("stream", 100)
        return {
            "ph": "X",
            "cat": cat,
            "name": name,
            "pid": 0 if "stream" in args else 100,
            "tid": who,
            "ts": ts,
            "dur": dur,
            "args": args,
        }

    events = []
    for i in range(4):
        at = 1000 * i
        events.append(row("user_annotation", f"ProfilerStep#{i}", at, 990))
        events.append(row("cpu_op", "aten::mm", at + 5, 20))
        events.append(row("cuda_runtime", "cudaLaunchKernel", at + 10, 5, correlation=i + 1))
        kernel = {"correlation": i + 1, "device": 0, "stream": 7}
        events.append(row("kernel", "gemm", at + 20, 600, **kernel))
    return {"schemaVersion": 1, "traceEvents": events}


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a shell")
@pytest.mark.parametrize(
    ("given", "code", "out", "err"),
    [
        (
            "trace.json >&-",
            2,
            b"",
            b"laptime: stdout is closed; send it to a file, or to /dev/null\n",
        ),
        ("missing.json 2>&-", 2, b"", b""),
        ("missing.json >&- 2>&-", 2, b"", b""),
        ("- <&-", 2, b"", b"laptime: -: stdin is closed; pipe a trace in, or name a file\n"),
    ],
)
def test_closed_descriptors(given: str, code: int, out: bytes, err: bytes, tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps(small_trace()))
    line = f'"{sys.executable}" -m laptime explain {given}'
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=ENV, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, out, err)


@pytest.mark.skipif(os.name != "posix", reason="descriptors are closed by a shell")
def test_a_report_needs_no_stderr_and_no_stdin(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps(small_trace()))
    line = f'"{sys.executable}" -m laptime explain trace.json <&- 2>&-'
    done = subprocess.run(
        ["sh", "-c", line], cwd=tmp_path, env=ENV, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"ProfilerStep#N" in done.stdout


def test_an_interrupt_while_libraries_load_is_quiet() -> None:
    code = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == {name!r}: raise KeyboardInterrupt\n"
        "import laptime.__main__\n"
        "sys.meta_path.insert(0, Stop())\n"
        "sys.argv = ['laptime', 'explain', 'x']\n"
        "sys.exit(laptime.__main__.run())\n"
    )
    for name in ("laptime.cli", "argparse", "laptime.cli.explain", "numpy"):
        done = subprocess.run(
            [sys.executable, "-c", code.format(name=name)],
            env=ENV,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (130, b""), name


def test_an_ascii_only_stdout_has_plain_bars_and_cuts() -> None:
    done = subprocess.run(
        piped(["explain", "x", "--width", "80"]),
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert b"####" in done.stdout
    assert b"\\u25" not in done.stdout
    assert b"\\u2026" not in done.stdout


def test_an_ascii_only_stdout_gets_the_report_all_the_same() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(piped(["explain", "x"]), env=env, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"Waiting for input" in done.stdout


def test_commands_are_found_by_listing_the_folder() -> None:
    assert "explain" in laptime.cli._commands()


def test_markdown_goes_to_its_file_and_the_verdict_to_stdout(
    answer: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.md"
    assert main(["explain", "trace.json", "--markdown", str(page)]) == 0
    assert capsys.readouterr().out.split() == made.training().verdict.split()
    assert page.read_text().startswith("**")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--markdown", "-", "--json"], "--markdown - fills stdout with the report"),
        (["--markdown", "-", "--html", "-"], "--html - fills stdout with the page"),
        (["--perfetto", "-"], "a trace is written to a file; name one"),
        (["--html", "one.html", "--markdown", "./one.html"], "name one file"),
        (["--perfetto", "trace.json"], "is one of the inputs"),
    ],
)
def test_files_that_exclude_each_other_are_usage_faults(
    answer: None,
    argv: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("trace.json").write_text("{}")
    assert main(["explain", "trace.json", *argv]) == 2
    assert said in capsys.readouterr().err
