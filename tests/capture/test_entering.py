"""The probe's door: what a program sees of it, and what becomes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from laptime.capture.launch import PROBE, VARIABLE

SHOW = """
import sys
print([p for p in sys.path if p.rstrip("/").endswith("probe")])
print("sitecustomize" in sys.modules, sys.modules.get("sitecustomize", sys).__dict__.get("WHOSE"))
print(sorted(m for m in sys.modules if m in ("json", "typing", "threading", "signal", "torch")))
"""


def python(place: Path, code: str, *more: Path, said: str | None = None) -> str:
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(map(str, [PROBE, *more]))
    env[VARIABLE] = f"dir={place}" if said is None else said
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def loaded_at_start() -> str:
    """What of these this interpreter loads by itself (editable installs load some)."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [sys.executable, "-c", SHOW]
    return subprocess.run(
        command, capture_output=True, text=True, env=env, check=True
    ).stdout.splitlines()[2]


def test_nothing_of_it_shows(tmp_path: Path) -> None:
    path, site, modules = python(tmp_path, SHOW).splitlines()
    assert (path, site) == ("[]", "False None")
    assert modules == loaded_at_start()
    assert len(list(tmp_path.glob("p*/process.json"))) == 1


def test_the_users_own_sitecustomize_is_found(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "sitecustomize.py").write_text("WHOSE = 'the user'\n")
    _, site, _ = python(tmp_path, SHOW, tmp_path / "mine").splitlines()
    assert site == "True the user"


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert python(tmp_path / "file" / "run", "print(1)") == "1\n"


def test_settings_that_cannot_be_read_cost_nothing(tmp_path: Path) -> None:
    assert python(tmp_path, "print(1)", said="warmup=many") == "1\n"


def test_users_modules_go_before_the_standard_librarys(tmp_path: Path) -> None:
    """A module of the user's that has the name of one in the library is still the one found."""
    (tmp_path / "json.py").write_text("MINE = True\n")
    out = python(tmp_path / "run", "import json; print(json.MINE)", tmp_path)
    assert out == "True\n"


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_closed_interpreters_run_without_it(tmp_path: Path, option: str) -> None:
    env = dict(os.environ, PYTHONPATH=str(PROBE)) | {VARIABLE: f"dir={tmp_path}"}
    subprocess.run([sys.executable, option, "-c", "pass"], env=env, check=True)
    assert list(tmp_path.iterdir()) == []
