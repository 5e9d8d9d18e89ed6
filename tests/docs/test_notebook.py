"""The example notebook runs, and what it shows is what its cells give."""

from __future__ import annotations

import importlib.util
import json
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from docs.notebook_cells import CELLS, NOTEBOOK

ROOT = Path(__file__).resolve().parents[2]


def committed() -> dict[str, Any]:
    book: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return book


def kept(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_committed_cells_are_these_and_were_executed() -> None:
    cells = committed()["cells"]
    assert tuple((c["cell_type"], kept(c)) for c in cells) == CELLS
    code = [c for c in cells if c["cell_type"] == "code"]
    assert [c["execution_count"] for c in code] == list(range(1, len(code) + 1))
    shown = json.dumps(code)
    assert "Waits for input: the loader takes" in shown
    assert "text/html" in shown
    assert "Traceback" not in shown
    assert str(ROOT) not in json.dumps(cells)


@pytest.mark.skipif(
    any(importlib.util.find_spec(m) is None for m in ("torch", "nbclient", "ipykernel")),
    reason="torch, nbclient or ipykernel is not installed",
)
def test_it_runs(tmp_path: Path) -> None:
    nbformat: Any = import_module("nbformat")
    client: Any = import_module("nbclient").NotebookClient
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    book = nbformat.read(NOTEBOOK, as_version=4)
    for cell in book.cells:
        cell.pop("outputs", None)
    client(book, timeout=120, resources={"metadata": {"path": str(tmp_path / "docs")}}).execute()
    outputs = [o for c in book.cells for o in c.get("outputs", ())]
    pages = [o["data"]["text/html"] for o in outputs if "text/html" in o.get("data", {})]
    # An answer, two laptime tables, and a DataFrame.
    assert len(pages) == 4
    assert "Waits for input: the loader takes" in pages[0]
