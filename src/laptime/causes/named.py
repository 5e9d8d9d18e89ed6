"""Rows picked by their names: each distinct name of the candidates is looked at once."""

from __future__ import annotations

import re

import numpy as np

from laptime.model.rows import Ints, Mask, Rows


def named(rows: Rows, candidates: Ints, pattern: re.Pattern[str]) -> Mask:
    """For each candidate row, whether the pattern is found in its name.

    Only names that the candidates use are searched: a trace with Python stacks has thousands of
    others.
    """
    name = rows.name[candidates]
    hit = np.zeros(len(rows.names) + 1, dtype=np.bool_)
    for i in np.flatnonzero(np.bincount(name.astype(np.int64), minlength=1)).tolist():
        hit[i] = pattern.search(rows.names[i]) is not None
    mask: Mask = hit[name]
    return mask
