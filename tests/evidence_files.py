"""Where the published evidence files are, for the tests and benchmarks that read them.

The folder is named by the environment variable ``LAPTIME_EVIDENCE``; without it,
``shared/evidence`` beside the checkout is tried. Tests over evidence carry ``needs_evidence`` and
are skipped, with the reason, where there is none.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "LAPTIME_EVIDENCE"
_BESIDE = Path(__file__).resolve().parents[1].parent / "shared" / "evidence"


def evidence_root() -> Path | None:
    """The evidence folder, or None where there is none."""
    named = os.environ.get(VARIABLE)
    root = Path(named) if named else _BESIDE
    return root if root.is_dir() else None


def kineto_files() -> list[Path]:
    """Every PyTorch profiler trace of the evidence, sorted by path; empty where there is none."""
    root = evidence_root()
    if root is None:
        return []
    return sorted(p for p in (root / "kineto").rglob("*") if p.name.endswith((".json.gz", ".json")))


def kineto_id(path: Path) -> str:
    """A file's path inside the evidence, as ``truth`` keys it (also its test id)."""
    root = evidence_root()
    return str(path.relative_to(root)) if root else str(path)


@lru_cache(maxsize=1)
def truth() -> dict[str, Any]:
    """The measured facts about each file, by path inside the evidence; empty without evidence."""
    root = evidence_root()
    if root is None or not (root / "truth.json").is_file():
        return {}
    facts: dict[str, Any] = json.loads((root / "truth.json").read_text())
    return facts


SKIP_REASON = f"no evidence files: set {VARIABLE} to the folder that holds kineto/ and truth.json"
needs_evidence = pytest.mark.skipif(evidence_root() is None, reason=SKIP_REASON)
