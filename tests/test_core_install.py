"""The core works where only its own dependencies are installed, and help needs none of them.

DuckDB is one of them, but reading and explaining a trace must not wait for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.pieces import events, trace

NOT_OURS = (
    "torch pandas polars pyarrow duckdb scipy matplotlib IPython jupyter numba psutil requests "
    "aiohttp yaml jsonschema hypothesis pytest"
)
BLOCKED = f"""
import sys
for name in {NOT_OURS.split()!r}:
    sys.modules[name] = None  # importing it raises ImportError
from laptime.cli import main
sys.exit(main(sys.argv[1:]))
"""
HELP = """
import sys
from laptime.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert end.code == 0
loaded = {name.split(".")[0] for name in sys.modules}
heavy = {"numpy", "rich", "jinja2", "fsspec", "joblib", "isal", "zstandard", "duckdb", "torch"}
assert not loaded & heavy
assert "laptime._native" not in sys.modules
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "trace.json").write_bytes(trace(events()))
    return str(tmp_path / "trace.json")


@pytest.mark.parametrize("output", ["terminal", "json", "html", "why"])
def test_explain_without_other_libraries(path: str, tmp_path: Path, output: str) -> None:
    page = tmp_path / "page.html"
    more = {
        "terminal": [],
        "json": ["--json"],
        "html": ["--html", str(page)],
        "why": ["--why", "input-starvation"],
    }[output]
    done = run(BLOCKED, "explain", path, *more)
    assert (done.returncode, done.stderr) == (0, "")
    if output == "json":
        assert json.loads(done.stdout)["schema"] == "laptime.explain/1"
    if output == "html":
        assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("arguments", [["--help"], ["explain", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    done = run(HELP, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "laptime" in done.stdout


def test_several_ranks_without_other_libraries(tmp_path: Path) -> None:
    for rank in range(2):
        data = trace(events(), distributedInfo={"rank": rank, "world_size": 2})
        (tmp_path / f"rank{rank}.json").write_bytes(data)
    done = run(BLOCKED, "explain", str(tmp_path), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["ranks"] == [0, 1]
