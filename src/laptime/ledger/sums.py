"""Exact sums of nanoseconds by a key."""

from __future__ import annotations

import numpy as np

import laptime._native as _native
from laptime.model.rows import I64, Ints


def add_at(total: I64, at: Ints, ns: I64) -> None:
    """Add each of ``ns`` to the place of ``total`` that ``at`` names, in place.

    Raises ``IndexError`` for a place that is not there. Faster than ``np.add.at``, and exact,
    which ``np.bincount`` with weights is not.
    """
    _native.add_at(total, np.asarray(at, dtype=np.int64), ns)
