"""Natural order of names: ``rank2`` before ``rank10``."""

from __future__ import annotations

import re


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts ``rank2`` before ``rank10``; the text itself settles ties."""
    parts = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in re.split(r"(\d+)", text) if p]
    return [*parts, (-1, 0, text)]
