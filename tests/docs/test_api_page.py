"""The page on the Python API holds: it names what is exported, and its programs run."""

from __future__ import annotations

import pydoc
import re
import types
from pathlib import Path
from typing import Any

import pytest

import laptime
from docs.blocks import DOCS
from laptime.model.rows import Rows
from tests.builder import SCENARIOS, Variant

PAGE = (DOCS / "api.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("api")
    variant = Variant(stacks=True)
    SCENARIOS["input_no_workers"](variant).trace.write(made / "trace.json.gz", gzip=True)
    return made


def test_every_exported_name_is_on_the_page() -> None:
    told = set(re.findall(r"^\| `laptime\.(\w+)", PAGE, re.MULTILINE))
    assert told == set(laptime.__all__)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_run(program: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    exec(compile(program, "api.md", "exec"), {"__name__": "__main__"})


def test_help_shows_what_is_exported() -> None:
    text = pydoc.plain(pydoc.render_doc(laptime))
    for name in laptime.__all__:
        assert name in dir(laptime)
        assert re.search(rf"^    (class )?{name}\(", text, re.MULTILINE), name
    for function in (laptime.open, laptime.explain):
        assert isinstance(function, types.FunctionType)
        assert "Raises" in (function.__doc__ or "")


def test_reprs_are_short_and_dump_no_columns(folder: Path) -> None:
    run = laptime.open(folder / "trace.json.gz")
    answer = laptime.explain(folder / "trace.json.gz")
    (view,) = answer.views
    ledger = view.ledger
    rows = view.timeline.rows
    assert isinstance(rows, Rows)
    for value in (run, answer, view, ledger, ledger.laps, ledger.devices[0], view.timeline, rows):
        text = repr(value)
        assert text.startswith(f"{type(value).__name__}(")
        assert len(text) < 700
        assert "array(" not in text
    assert repr(rows) == f"Rows({len(rows)} rows, {len(rows.names)} names)"
    assert f"items={run.health.items}, lost=0" in repr(run)


def test_explain_takes_evidence_or_a_run(folder: Path) -> None:
    path = folder / "trace.json.gz"
    assert laptime.explain(path).verdict == laptime.explain(laptime.open(path)).verdict
    with pytest.raises(laptime.UsageError, match="no mark and no Python function"):
        laptime.explain(path, loader="no such mark")


def test_what_is_no_evidence_is_a_usage_fault(folder: Path, tmp_path: Path) -> None:
    wrong: Any
    for wrong, named in ((5, "int"), ({"traceEvents": []}, "dict"), ([None], "NoneType")):
        with pytest.raises(laptime.UsageError, match=f"binary file .*, not {named}"):
            laptime.open(wrong)
    run: Any = laptime.open(folder / "trace.json.gz")
    with pytest.raises(laptime.UsageError, match="an Explanation, not Run"):
        laptime.save(run, tmp_path / "run.laptime")
    assert not (tmp_path / "run.laptime").exists()
