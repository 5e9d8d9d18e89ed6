"""Rows taken as rows of their own: every column, the sparse ones and the arguments too."""

from __future__ import annotations

import numpy as np
import pytest

import laptime
from laptime.model.subset import subset
from tests.evidence_files import evidence_root, needs_evidence


@needs_evidence
@pytest.mark.parametrize("step", [1, 2, 7])
def test_rows_are_the_chosen_ones(step: int) -> None:
    root = evidence_root()
    assert root is not None
    path = root / "kineto/param-dlrm-8ranks/worker0_step_12.1694128201545.pt.trace.json.gz"
    rows = laptime.open(str(path)).timelines[0].rows
    kept = np.arange(3, len(rows), step)
    few = subset(rows, kept)
    assert len(few) == len(kept)
    for column in (
        "start_ns",
        "dur_ns",
        "name",
        "category",
        "kind",
        "lane",
        "phase",
        "correlation",
    ):
        assert (getattr(few, column) == getattr(rows, column)[kept]).all()
    everywhere = np.arange(len(few))
    for name, sparse in rows.ints.items():
        assert (few.ints[name].of(everywhere, -7) == sparse.of(kept, -7)).all()
    for name, text in rows.texts.items():
        assert few.texts[name].of(everywhere) == text.of(kept)
    assert rows.read_args is not None
    assert few.read_args is not None
    assert few.read_args(everywhere[::50]) == rows.read_args(kept[::50])
