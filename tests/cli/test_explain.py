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
    assert "usage: laptime" in capsys.readouterr().err


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


def test_an_ascii_only_stdout_gets_the_report_all_the_same() -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(piped(["explain", "x"]), env=env, capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stderr == b""
    assert b"Waiting for input" in done.stdout


def test_commands_are_found_by_listing_the_folder() -> None:
    assert "explain" in laptime.cli._commands()
