"""Compares a text with a file of ``golden/``; LAPTIME_UPDATE_GOLDEN=1 writes it instead.

Look at what changed before committing it: the file is the specification.
"""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"


def check(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("LAPTIME_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), f"{path} differs"
