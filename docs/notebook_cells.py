"""The example notebook: ``docs/notebook.ipynb`` is made of these cells, executed.

``python -m docs.notebook_cells`` writes it again; the tests execute what is committed, and compare
its sources with these.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")

CELLS: tuple[tuple[str, str], ...] = (
    (
        "markdown",
        "# A trace in a notebook\n\n"
        "A small model trains on the CPU under `torch.profiler`, with a data loader that is too "
        "slow (the example of `make demo`). Everything below the first cell works on any trace "
        "and needs no PyTorch.",
    ),
    (
        "code",
        "import subprocess\nimport sys\n\n"
        'trace = "slow_loader.pt.trace.json.gz"\n'
        'example = [sys.executable, "../examples/slow_loader.py", trace]\n'
        "subprocess.run(example, capture_output=True, check=True);",
    ),
    ("code", "import laptime\n\nrun = laptime.open(trace)\nrun"),
    (
        "markdown",
        "An answer shows its verdict, the ledger and the causes found. `answer.html()`, "
        "`answer.markdown()` and `answer.json()` give the same as a page, for a ticket, and for "
        "programs.",
    ),
    ("code", "answer = run.explain()\nanswer"),
    (
        "markdown",
        "## Tables\n\nEverything is also a documented table; `.df()`, `.pl()` and `.arrow()` hand "
        "it to pandas, Polars or pyarrow where they are installed.",
    ),
    ("code", 'answer.table("laps")'),
    (
        "code",
        'ledger = answer.table("ledger").df()\n'
        'by_lap = ledger.pivot_table(index="lap", columns="account", values="ns", sort=False)\n'
        "(by_lap / 1e6).round(2)  # ms",
    ),
    ("markdown", "The accounts of a lap sum to its window, to the nanosecond:"),
    (
        "code",
        'windows = answer.table("device_laps").df().set_index("lap")["dur_ns"]\n'
        'assert (ledger.groupby("lap")["ns"].sum() == windows).all()',
    ),
    ("markdown", "## What stands behind a finding"),
    (
        "code",
        "finding = answer.judgement.findings[0]\nprint(finding.sentence)\nprint(finding.formula)\n"
        "for event in finding.events[:3]:\n    print(event.lane, event.dur_ns, event.name)",
    ),
    (
        "markdown",
        "## SQL\n\nOne SELECT over the same tables, and over every event of the trace.",
    ),
    (
        "code",
        "laptime.sql(\n    answer,\n"
        '    "select name, count(*) as calls, sum(dur_ns) as ns from rows "\n'
        "    \"where kind = 'cpu_op' group by name order by ns desc limit 5\",\n)",
    ),
)


def write() -> None:
    """Execute the cells and write the notebook, without what differs between machines."""
    nbformat: Any = import_module("nbformat")
    client: Any = import_module("nbclient").NotebookClient
    book = nbformat.v4.new_notebook()
    for number, (kind, source) in enumerate(CELLS):
        new = getattr(nbformat.v4, f"new_{kind}_cell")
        book.cells.append(new(source, id=f"cell{number}"))
    client(book, resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    book.metadata = nbformat.from_dict(
        {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    )
    nbformat.write(book, NOTEBOOK)
    (NOTEBOOK.parent / "slow_loader.pt.trace.json.gz").unlink()


if __name__ == "__main__":
    write()
