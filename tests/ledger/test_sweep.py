"""The native sweeps against plain Python, on any input that they may get."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import laptime._native as _native
from laptime.ledger import intervals
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.ledger.sums import add_at
from tests.ledger.nesting import nested
from tests.ledger.test_by_region import rows_of

FAR = 1 << 62
stretches = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 25)), max_size=40)


def ints(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, dtype=np.int64)


@given(stretches, st.integers(0, 1 << 30))
def test_nest(made: list[tuple[int, int]], seed: int) -> None:
    rows = rows_of(made)
    members = np.random.default_rng(seed).permutation(len(made))
    order = sorted(range(len(made)), key=lambda i: (made[i][0], -made[i][1], i))
    around, span, at, crossing = nested([(made[i][0], made[i][0] + made[i][1]) for i in order])
    fast = nest(rows, members)
    assert fast.row.tolist() == order
    assert fast.around.tolist() == around
    assert [x.tolist() for x in fast.span] == list(span)
    assert fast.at.tolist() == at
    assert fast.crossing == crossing


def test_nest_of_calls() -> None:
    """A call of two calls that touch, the second of which calls one that ends with it."""
    rows = rows_of([(0, 100), (10, 20), (30, 40), (50, 20)])
    found = nest(rows, np.arange(4))
    assert found.around.tolist() == [-1, 0, 0, 2]
    assert [x.tolist() for x in found.span] == [[0, 10, 30, 50, 70], [10, 30, 50, 70, 100]]
    assert found.at.tolist() == [0, 1, 2, 3, 0]
    assert not found.crossing


def pairs(a: Span, b: Span) -> list[tuple[int, int, int, int]]:
    """Every pair of stretches that overlap, by trying them all."""
    found = [
        (i, j, max(s, t), min(e, f))
        for i, (s, e) in enumerate(zip(*(x.tolist() for x in a), strict=True))
        for j, (t, f) in enumerate(zip(*(x.tolist() for x in b), strict=True))
        if max(s, t) < min(e, f)
    ]
    return sorted(found, key=lambda x: x[2])


@st.composite
def touching(draw: st.DrawFn, most: int = 60) -> Span:
    """Disjoint stretches in order, some of which touch."""
    at = sorted(draw(st.sets(st.integers(-50, 400), max_size=most)))
    kept = [draw(st.booleans()) for _ in at[1:]]
    held = [(a, b) for a, b, k in zip(at, at[1:], kept, strict=False) if k]
    return ints([a for a, _ in held]), ints([b for _, b in held])


@given(touching(), touching(most=4))
def test_overlaps(a: Span, b: Span) -> None:
    for one, other in ((a, b), (b, a)):
        of_one, of_other, (start, end) = intervals.overlaps(one, other)
        got = [of_one.tolist(), of_other.tolist(), start.tolist(), end.tolist()]
        assert list(zip(*got, strict=True)) == pairs(one, other)


def test_overlaps_of_sets_of_very_different_size() -> None:
    many = ints([10 * i for i in range(1000)]), ints([10 * i + 4 for i in range(1000)])
    few = ints([33, 5000, 9999]), ints([52, 5003, FAR])
    for one, other in ((many, few), (few, many)):
        of_one, of_other, (start, end) = intervals.overlaps(one, other)
        got = [of_one.tolist(), of_other.tolist(), start.tolist(), end.tolist()]
        assert list(zip(*got, strict=True)) == pairs(one, other)


@pytest.mark.parametrize("start", [ints([3, 1, 2]), ints([3, 9, 1, 9, 2])[::2]])
def test_columns_need_not_be_contiguous(
    start: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> None:
    start.flags.writeable = False
    made = intervals.union(start, start + 1)
    assert [x.tolist() for x in made] == [[1], [4]]


def test_extreme_times() -> None:
    made = intervals.union(ints([-FAR, FAR - 5, 0]), ints([-FAR + 1, FAR, FAR - 5]))
    assert [x.tolist() for x in made] == [[-FAR, 0], [-FAR + 1, FAR]]
    assert intervals.total(made) == FAR + 1


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="differ in number"):
        _native.union(ints([1, 2]), ints([3]))
    with pytest.raises(ValueError, match="differ in number"):
        _native.nest(ints([1]), ints([3]), ints([]))


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-(1 << 50), 1 << 50)), max_size=60),
)
def test_sums(made: list[tuple[int, int]]) -> None:
    total = ints([7] * 7)
    add_at(total, np.array([k for k, _ in made], dtype=np.int32), ints([v for _, v in made]))
    assert total.tolist() == [7 + sum(v for k, v in made if k == i) for i in range(7)]


def test_sums_outside_are_refused_and_nothing_is_added() -> None:
    total = ints([1, 2])
    for at in ([0, 2], [0, -1]):
        with pytest.raises(IndexError):
            add_at(total, ints(at), ints([5, 5]))
    assert total.tolist() == [1, 2]
