"""Which command is run, and whether the probe can enter it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from laptime.capture.command import resolve
from laptime.model.errors import UsageError

ENV = {"PATH": os.environ["PATH"]}


def script(folder: Path, text: str = "", mode: int = 0o644, name: str = "train.py") -> str:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_script_is_run_by_the_interpreter_given(tmp_path: Path) -> None:
    path = script(tmp_path)
    assert resolve([path, "--lr", "1"], python=sys.executable, environ=ENV).argv == [
        sys.executable,
        path,
        "--lr",
        "1",
    ]


def test_script_is_run_by_its_own_interpreter_if_it_can_be_run_itself(tmp_path: Path) -> None:
    line = f"#!{sys.executable} -u\nprint(1)\n"
    path = script(tmp_path, line, 0o755)
    assert resolve([path], environ=ENV).argv == [sys.executable, "-u", path]
    os.chmod(path, 0o644)
    assert "-u" not in resolve([path], environ=ENV).argv


def test_script_is_run_by_the_active_environment(tmp_path: Path) -> None:
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    python = tmp_path / "venv" / "bin" / "python"
    python.symlink_to(sys.executable)
    env = ENV | {"VIRTUAL_ENV": str(tmp_path / "venv")}
    path = script(tmp_path)
    assert resolve([path], environ=env).argv == [str(python), path]
    assert resolve(["pkg.train", "-x"], module=True, environ=env).argv == [
        str(python),
        "-m",
        "pkg.train",
        "-x",
    ]


def test_program_is_run_as_it_is() -> None:
    assert resolve(["sh", "-c", "exit 3"], environ=ENV).argv == ["sh", "-c", "exit 3"]


@pytest.mark.parametrize(
    ("words", "shut"),
    [
        (["python3", "-I", "x.py"], "-I isolates it from PYTHONPATH"),
        (["python3", "-uE", "x.py"], "-E has it ignore PYTHONPATH"),
        (["python3", "-X", "dev", "-S", "x.py"], "-S has it skip sitecustomize"),
        (["python3", "-W", "E", "x.py"], None),
        (["python3", "-Xdev", "x.py", "-I"], None),
        (["python3", "-P", "x.py"], None),
        (["python3", "-c", "pass", "-I"], None),
        (["python3", "-m", "mod", "-I"], None),
        (["sh", "-I"], None),
    ],
)
def test_closed_interpreters_are_seen(words: list[str], shut: str | None) -> None:
    found = resolve(words, environ=ENV).shut
    assert found is None if shut is None else found == f"python3: {shut}"


def test_closed_first_line_is_seen(tmp_path: Path) -> None:
    path = script(tmp_path, f"#!{sys.executable} -I\n", 0o755, "torchrun")
    shut = resolve([path], environ=ENV).shut
    assert shut is not None
    assert "-I isolates it" in shut


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to run"),
        (["nowhere.py"], "nowhere.py: no such file"),
        (["no-such-program"], "no-such-program: no such program"),
    ],
)
def test_nothing_to_run(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        resolve(words, environ=ENV)


def test_interpreter_for_a_program_is_refused() -> None:
    with pytest.raises(UsageError, match="--python is for scripts"):
        resolve(["sh"], python=sys.executable, environ=ENV)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--laps", "five", "x.py"],
            "argument --laps: must be a number of laps, a whole number from 0, not 'five'",
        ),
        (
            ["--warmup", "-1", "x.py"],
            "argument --warmup: must be a number of laps, a whole number from 0, not '-1'",
        ),
        (
            ["--plain", "1.5", "x.py"],
            "argument --plain: must be a number of laps, a whole number from 0, not '1.5'",
        ),
        (["--then", "explode", "x.py"], "argument --then: must be continue or stop, not 'explode'"),
        (["--laps-from", "moon", "x.py"], "auto, optimizer, loader, module or mark, not 'moon'"),
        (["--no-such", "x.py"], "unrecognized arguments: --no-such"),
        (["--json", "-", "--html", "-", "x.py"], "--json - and --html - both fill stdout"),
        ([], "nothing to run"),
        (["-m"], "nothing to run"),
        (["nowhere.py"], "nowhere.py: no such file"),
        (["--python", "/no/python", "x.py"], "x.py: no such file"),
        (
            ["--json", "no/such/file", "-m", "this"],
            "--json no/such/file: cannot be written: No such",
        ),
        (["--html", ".", "-m", "this"], "--html .: cannot be written: Is a directory"),
        (["--no-explain", "--json", "a", "-m", "this"], "--json and --html need the explanation"),
        (["-o", "/proc/version/x", "-m", "this"], "-o /proc/version/x: cannot be made: Not a dir"),
    ],
)
def test_options_that_cannot_be_met_end_with_a_line_and_2(
    words: list[str], said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "laptime", "run", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("laptime: ")
    assert said in line
    assert list(tmp_path.iterdir()) == []
