"""What a read trace shows to be wrong with itself, said in its health."""

from __future__ import annotations

from laptime.evidence.kineto_words import CATEGORIES
from laptime.model.health import Health, Loss
from laptime.model.rows import ABSENT_DUR, DEVICE_WORK, Rows


def check(rows: Rows, source: str, health: Health) -> None:
    """Add what is missing in device rows to ``health``."""
    work = rows.of_kind(*DEVICE_WORK)
    told = sum(x.count for x in health.losses if "duration" in x.reason)
    unplaced = int((rows.dur_ns[work] == ABSENT_DUR).sum()) - told
    if unplaced > 0:
        health.losses.append(Loss("device rows without a duration", unplaced, source))


def unknown_categories(rows: Rows) -> list[str]:
    """The categories of a file that has rows, but none of a category of Kineto's; else none."""
    if len(rows) == 0 or any(c in CATEGORIES for c in rows.categories):
        return []
    return sorted({c or "(none)" for c in rows.categories})
