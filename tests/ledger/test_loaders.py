"""Names of loading: the recognised ones, and the user's own in the ledger and the explanation."""

from __future__ import annotations

import re

import numpy as np
import pytest

import laptime
from laptime.explaining import explanation_of
from laptime.ledger.loaders import LOADER, RECOGNISED, Loaders, Recognised
from laptime.ledger.near import near
from laptime.model.errors import UsageError
from laptime.model.health import Health
from laptime.model.rows import Kind, Rows
from laptime.model.run import Lane, Run, Timeline

MS = 1_000_000


@pytest.mark.parametrize("known", RECOGNISED, ids=lambda k: k.example)
def test_each_form_finds_its_example(known: Recognised) -> None:
    assert LOADER.search(known.example)
    assert [k for k in RECOGNISED if re.search(k.pattern, known.example)] == [known]


@pytest.mark.parametrize(
    ("own", "name", "kind", "means"),
    [
        ("fetch", "fetch", Kind.ANNOTATION, True),
        ("NVTX:fetch", "fetch", Kind.ANNOTATION, True),
        ("fetch", "prefetch", Kind.ANNOTATION, False),
        ("fetch", "my fetch", Kind.ANNOTATION, False),
        ("fetch", "fetch", Kind.RUNTIME, False),
        ("fetch", "my/data.py(12): fetch", Kind.PYTHON, True),
        ("data.py(12): fetch", "my/data.py(12): fetch", Kind.PYTHON, True),
        ("data.py: fetch", "my/data.py(12): fetch", Kind.PYTHON, True),
        ("a.py: fetch", "my/data.py(12): fetch", Kind.PYTHON, False),
        ("fetch", "my/data.py(12): prefetch", Kind.PYTHON, False),
        ("", "my/data.py(12): fetch", Kind.PYTHON, False),
    ],
)
def test_what_a_users_name_means(own: str, name: str, kind: Kind, means: bool) -> None:
    assert Loaders.names(own, name, kind) is means


def run_of(spans: list[tuple[Kind, str, int, int]]) -> Run:
    """Rows of one thread: kind, name, start and length in ms."""
    names = sorted({s[1] for s in spans})
    rows = Rows(
        start_ns=np.array([s[2] * MS for s in spans], dtype=np.int64),
        dur_ns=np.array([s[3] * MS for s in spans], dtype=np.int64),
        name=np.array([names.index(s[1]) for s in spans], dtype=np.int32),
        names=names,
        category=np.zeros(len(spans), dtype=np.int16),
        categories=["x"],
        kind=np.array([int(s[0]) for s in spans], dtype=np.uint8),
        lane=np.zeros(len(spans), dtype=np.int32),
        phase=np.full(len(spans), ord("X"), dtype=np.uint8),
    )
    timeline = Timeline("t", "made.json", rows, [Lane(1, 1, "python")], [], 0)
    return Run([timeline], Health(), ["made.json"])


def steps(mark: str = "my fetch", kind: Kind = Kind.ANNOTATION) -> Run:
    """Four steps of 10 ms that load for 6."""
    spans: list[tuple[Kind, str, int, int]] = []
    for at in range(0, 40, 10):
        spans.append((Kind.ANNOTATION, "train_step", at, 10))
        spans.append((kind, mark, at, 6))
        spans.append((Kind.CPU_OP, "aten::mm", at + 6, 4))
    return run_of(spans)


@pytest.mark.parametrize(
    ("mark", "kind", "own", "unnamed"),
    [
        ("my fetch", Kind.ANNOTATION, "my fetch", []),
        ("train.py(7): fetch", Kind.PYTHON, "fetch", ["python-between-ops"]),
    ],
)
def test_the_users_loader_is_waited_for(
    mark: str, kind: Kind, own: str, unnamed: list[str]
) -> None:
    run = steps(mark, kind)
    without = explanation_of(run)
    assert [f.id for f in without.judgement.findings] == unnamed
    supply = [a.supply for a in without.judgement.abstentions if a.id == "input-starvation"]
    assert "--loader NAME" in supply[0]
    (view,) = explanation_of(run, loader=[own]).views
    assert view.ledger.mean_ns(view.ledger.devices[0], "input_wait") == 6 * MS
    (found,) = laptime.explain(run, loader=[own]).judgement.findings
    assert (found.id, found.bound_ns) == ("input-starvation", 6 * MS)


def test_a_name_that_occurs_nowhere_is_refused_with_near_ones() -> None:
    with pytest.raises(UsageError, match=r"named 'my fetsh'; near it: my fetch$"):
        explanation_of(steps(), loader=["my fetsh"])
    with pytest.raises(UsageError, match="none is near it"):
        explanation_of(steps(), loader=["zzzz"])


def test_near_names_hold_the_wanted_one_or_are_spelt_alike() -> None:
    names = ["train.py(7): load_batch", "load", "aten::mm", "train.py(9): step"]
    assert near("load_bach", names)[0] == "train.py(7): load_batch"
    assert near("LOAD", names) == ["load", "train.py(7): load_batch"]


def test_equal_marks_have_labels_of_their_own() -> None:
    (view,) = explanation_of(steps()).views
    assert [lap.label for lap in view.ledger.laps.laps] == [f"train_step #{i}" for i in range(1, 5)]
    assert view.ledger.laps.mark_names == {"train_step"}
    assert [r.name for r in view.regions["thread 1"].lines] == ["my fetch", "(outside any region)"]
