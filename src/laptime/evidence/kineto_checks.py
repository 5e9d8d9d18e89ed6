"""What a read trace shows to be wrong with itself, said in its health."""

from __future__ import annotations

import numpy as np

from laptime.evidence.kineto_words import CATEGORIES
from laptime.model.health import Health, Loss
from laptime.model.rows import ABSENT_DUR, API_CALLS, DEVICE_WORK, Ints, Rows, present

CLOCK_SHARE = 0.01
"""Share of activities before their own call from which the clocks are said to disagree. Measured:
0 of the activities of every published trace tried."""


def check(rows: Rows, source: str, health: Health) -> None:
    """Add what is missing or contradictory in device rows to ``health``."""
    work = rows.of_kind(*DEVICE_WORK)
    told = sum(x.count for x in health.losses if "duration" in x.reason)
    unplaced = int((rows.dur_ns[work] == ABSENT_DUR).sum()) - told
    if unplaced > 0:
        health.losses.append(Loss("device rows without a duration", unplaced, source))
    early, known, least_ns = _before_their_call(rows, work)
    if known and early > CLOCK_SHARE * known:
        health.warnings.append(
            f"{source}: {early} of {known} device activities start before their own launch call: "
            f"host and device clocks disagree by at least {least_ns / 1000:.1f} us; launch "
            "latency, the lag between host and device, and which lap device work belongs to are "
            "not to be trusted"
        )


def unknown_categories(rows: Rows) -> list[str]:
    """The categories of a file that has rows, but none of a category of Kineto's; else none."""
    if len(rows) == 0 or any(c in CATEGORIES for c in rows.categories):
        return []
    return sorted({c or "(none)" for c in rows.categories})


def _before_their_call(rows: Rows, work: Ints) -> tuple[int, int, int]:
    """Activities that start before their call starts, activities with a call, and the most by
    which one starts too early. Only ids that one call has are asked."""
    if rows.correlation is None or len(work) == 0:
        return 0, 0, 0
    calls = rows.of_kind(*API_CALLS)
    ids = rows.correlation[calls]
    usable = present(ids) & (ids != 0)
    calls, ids = calls[usable], ids[usable]
    if len(calls) == 0:
        return 0, 0, 0
    order = np.argsort(ids, kind="stable")
    calls, ids = calls[order], ids[order]
    wanted = rows.correlation[work]
    at = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    after = np.minimum(at + 1, len(ids) - 1)
    hit = (ids[at] == wanted) & ((after == at) | (ids[after] != wanted))
    ahead = rows.start_ns[calls[at[hit]]] - rows.start_ns[work[hit]]
    early = ahead > 0
    return int(early.sum()), len(ahead), int(ahead[early].max()) if early.any() else 0
