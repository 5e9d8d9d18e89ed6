"""The page of verdicts says what laptime says today of every published trace."""

from __future__ import annotations

import re

import pytest

from docs.blocks import block_names
from docs.evidence_verdicts import PAGE, said_of
from tests.evidence_files import evidence_root, kineto_files, kineto_id, needs_evidence

TEXT = PAGE.read_text(encoding="utf-8")
NAMES = block_names(TEXT, "laptime")


@needs_evidence
def test_every_published_trace_has_a_verdict() -> None:
    root = evidence_root()
    assert root is not None
    covered: set[str] = set()
    for name in NAMES:
        path = root / name
        inside = sorted(path.glob("*.json.gz")) if path.is_dir() else [path]
        assert inside
        assert not covered.intersection(map(kineto_id, inside)), "shown twice"
        covered.update(map(kineto_id, inside))
    assert covered == {kineto_id(p) for p in kineto_files()}


@needs_evidence
@pytest.mark.parametrize("name", NAMES)
def test_verdict_is_the_current_one(name: str) -> None:
    shown = TEXT.split(f"<!-- laptime: {name} -->")[1].split("<!-- /laptime -->")[0].strip()
    assert shown == said_of(name).strip(), "run: python -m docs.evidence_verdicts"


def test_every_verdict_is_defended() -> None:
    """At least a hundred characters of the page itself follow each block or pair of them."""
    for own in re.split(r"<!-- /laptime -->(?!\s*<!-- laptime:)", TEXT)[1:]:
        prose = re.split(r"\n#+ |<!-- laptime:", own)[0]
        assert len(prose.strip()) > 100


def test_no_path_of_a_machine() -> None:
    assert not re.search(r"(?<![\w.])/(work|home|tmp|root|Users)/", TEXT)
