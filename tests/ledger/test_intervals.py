"""Interval algebra against sets of integers: a stretch is the set of its instants."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laptime.ledger import intervals
from laptime.ledger.intervals import Span

END = 40
_stretch = st.tuples(st.integers(0, END), st.integers(-2, 12))
_raw = st.lists(_stretch, max_size=12)


def _columns(raw: list[tuple[int, int]]) -> Span:
    starts = np.array([s for s, _ in raw], dtype=np.int64)
    return starts, starts + np.array([d for _, d in raw], dtype=np.int64)


def _instants(span: Span) -> set[int]:
    return {i for a, b in zip(span[0].tolist(), span[1].tolist(), strict=True) for i in range(a, b)}


_spans = _raw.map(lambda raw: intervals.union(*_columns(raw)))


def _canonical(span: Span) -> None:
    starts, ends = span
    assert starts.dtype == ends.dtype == np.int64
    assert (ends > starts).all()
    assert (starts[1:] > ends[:-1]).all()


@given(_raw)
def test_union(raw: list[tuple[int, int]]) -> None:
    starts, ends = _columns(raw)
    before = starts.copy(), ends.copy()
    made = intervals.union(starts, ends)
    _canonical(made)
    assert _instants(made) == _instants((starts, ends))
    assert (starts == before[0]).all()
    assert (ends == before[1]).all()


@given(_spans, _spans)
def test_two_sets(a: Span, b: Span) -> None:
    before = [c.copy() for c in (*a, *b)]
    for made, wanted in (
        (intervals.intersect(a, b), _instants(a) & _instants(b)),
        (intervals.subtract(a, b), _instants(a) - _instants(b)),
        (intervals.both(a, b), _instants(a) | _instants(b)),
    ):
        _canonical(made)
        assert _instants(made) == wanted
        assert intervals.total(made) == len(wanted)
    assert all((c == d).all() for c, d in zip((*a, *b), before, strict=True))


@given(_spans, st.integers(-5, END + 20), st.integers(-5, END + 20))
def test_bounds(a: Span, low: int, high: int) -> None:
    window = set(range(low, high))
    for made, wanted in (
        (intervals.clip(a, low, high), _instants(a) & window),
        (intervals.complement(a, low, high), window - _instants(a)),
    ):
        _canonical(made)
        assert _instants(made) == wanted


@given(_spans, st.lists(st.integers(-5, END + 20), max_size=8))
def test_instants(a: Span, at: list[int]) -> None:
    inside = _instants(a)
    instants = np.array(at, dtype=np.int64)
    assert intervals.contains(a, instants).tolist() == [i in inside for i in at]
    assert intervals.covered_before(a, instants).tolist() == [
        sum(1 for x in inside if x < i) for i in at
    ]


@given(_spans, st.lists(st.tuples(st.integers(-5, END), st.integers(0, 20)), max_size=6))
def test_windows(a: Span, windows: list[tuple[int, int]]) -> None:
    low = np.array([s for s, _ in windows], dtype=np.int64)
    high = low + np.array([d for _, d in windows], dtype=np.int64)
    assert intervals.by_window(a, low, high).tolist() == [
        len(_instants(a) & set(range(s, s + d))) for s, d in windows
    ]


def test_large_times_stay_exact() -> None:
    top = 1 << 60
    starts = np.array([top, top + 1, -top], dtype=np.int64)
    made = intervals.union(starts, starts + 1)
    assert made[0].tolist() == [-top, top]
    assert made[1].tolist() == [-top + 1, top + 2]
    assert intervals.total(made) == 3
