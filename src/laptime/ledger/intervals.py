"""Algebra of time: sets of disjoint, ascending, half-open stretches ``[start, end)``.

A set is a pair of int64 arrays of equal length, sorted, disjoint, without empty stretches and
without two stretches that touch. Every function returns such sets and never changes its inputs.
Lengths are exact: integers in, integers out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.model.rows import I64, Ints

Span = tuple[I64, I64]

EMPTY: Span = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def union(starts: I64, ends: I64) -> Span:
    """The set covered by any of the given stretches (any order, overlaps allowed)."""
    real = ends > starts
    if not real.all():
        starts, ends = starts[real], ends[real]
    if len(starts) == 0:
        return EMPTY
    if len(starts) > 1 and (starts[1:] < starts[:-1]).any():
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
        del order
        reach = np.maximum.accumulate(ends, out=ends)
    else:
        reach = np.maximum.accumulate(ends)
    fresh = np.empty(len(starts), dtype=np.bool_)
    fresh[0] = True
    np.greater(starts[1:], reach[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    starts = starts[first].astype(np.int64, copy=False)
    last = np.append(first[1:], len(ends)) - 1
    return starts, reach[last].astype(np.int64, copy=False)


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
    if len(a[0]) > len(b[0]):
        of_b, of_a, time = overlaps(b, a)
        return of_a, of_b, time
    if len(a[0]) == 0:
        return EMPTY[0], EMPTY[0], EMPTY
    low = np.searchsorted(b[1], a[0], side="right")
    high = np.searchsorted(b[0], a[1], side="left")
    count = np.maximum(high - low, 0)
    whole = int(count.sum())
    if whole == 0:
        return EMPTY[0], EMPTY[0], EMPTY
    of_a = np.repeat(np.arange(len(a[0])), count)
    low -= np.cumsum(count) - count
    of_b = np.repeat(low, count)
    of_b += np.arange(whole)
    start, end = a[0][of_a], a[1][of_a]
    np.maximum(start, b[0][of_b], out=start)
    np.minimum(end, b[1][of_b], out=end)
    return of_a, of_b, (start, end)


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
