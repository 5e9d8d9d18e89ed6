"""Algebra of time: sets of disjoint, ascending, half-open stretches ``[start, end)``.

A set is a pair of int64 arrays of equal length, sorted, disjoint, without empty stretches and
without two stretches that touch. Every function returns such sets and never changes its inputs.
Lengths are exact: integers in, integers out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import laptime._native as _native
from laptime.model.rows import I64, Ints

Span = tuple[I64, I64]

EMPTY: Span = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def union(starts: I64, ends: I64) -> Span:
    """The set covered by any of the given stretches (any order, overlaps allowed)."""
    if len(starts) == 0:
        return EMPTY
    return _native.union(starts, ends)


def union_of(spans: Sequence[Span]) -> Span:
    """The time in any of the sets."""
    if len(spans) == 1:
        return spans[0]
    return union(np.concatenate([s[0] for s in spans]), np.concatenate([s[1] for s in spans]))


def intersect(a: Span, b: Span) -> Span:
    """The time in both sets."""
    _, _, time = overlaps(a, b)
    return time


def overlaps(a: Span, b: Span) -> tuple[Ints, Ints, Span]:
    """The time in both sets, piece by piece, with the stretch of each set that a piece is in.

    Stretches of either set may touch here: each pair that overlaps gives a piece of its own.
    """
    if len(a[0]) == 0 or len(b[0]) == 0:
        return EMPTY[0], EMPTY[0], EMPTY
    return _native.overlaps(*a, *b)


def complement(a: Span, low: int, high: int) -> Span:
    """The time of ``[low, high)`` outside the set."""
    if high <= low:
        return EMPTY
    inside = clip(a, low, high)
    starts = np.concatenate((np.array([low], dtype=np.int64), inside[1]))
    ends = np.concatenate((inside[0], np.array([high], dtype=np.int64)))
    real = ends > starts
    return starts[real], ends[real]


def subtract(a: Span, b: Span) -> Span:
    """The time in ``a`` and not in ``b``."""
    if len(a[0]) == 0 or len(b[0]) == 0:
        return a
    return intersect(a, complement(b, int(a[0][0]), int(a[1][-1])))


def both(a: Span, b: Span) -> Span:
    """The time in either set."""
    if len(a[0]) == 0:
        return b
    if len(b[0]) == 0:
        return a
    return union(np.concatenate((a[0], b[0])), np.concatenate((a[1], b[1])))


def clip(a: Span, low: int, high: int) -> Span:
    """The part of the set inside ``[low, high)``."""
    if high <= low:
        return EMPTY
    touched = slice(
        int(np.searchsorted(a[1], low, side="right")), int(np.searchsorted(a[0], high, side="left"))
    )
    return np.maximum(a[0][touched], low), np.minimum(a[1][touched], high)


def total(a: Span) -> int:
    """Length of the set in nanoseconds."""
    return int((a[1] - a[0]).sum())


def covered_before(a: Span, instants: I64) -> I64:
    """Length of the set before each instant."""
    if len(a[0]) == 0:
        return np.zeros(len(instants), dtype=np.int64)
    lengths = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(a[1] - a[0])))
    at = np.searchsorted(a[0], instants, side="right")
    last = np.maximum(at - 1, 0)
    beyond = np.where(at > 0, np.maximum(a[1][last] - instants, 0), 0)
    result: I64 = lengths[at] - beyond
    return result


def by_window(a: Span, window_starts: I64, window_ends: I64) -> I64:
    """Length of the set inside each window (windows may overlap, any order)."""
    inside: I64 = covered_before(a, window_ends) - covered_before(a, window_starts)
    return inside


def contains(a: Span, instants: I64) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each instant lies in the set."""
    if len(a[0]) == 0:
        return np.zeros(len(instants), dtype=np.bool_)
    at = np.searchsorted(a[0], instants, side="right")
    inside: np.ndarray[tuple[int], np.dtype[np.bool_]] = (at > 0) & (
        instants < a[1][np.maximum(at - 1, 0)]
    )
    return inside
