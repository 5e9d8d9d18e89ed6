"""Time in which work without a row may run: the grouped way equals one thread and stream each."""

from __future__ import annotations

import time

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from laptime.ledger import intervals
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.unseen import FAR, Unseen
from laptime.ledger.work import Work


def one_by_one(unseen: Unseen, work: Work) -> Span:
    """The definition: for each thread and each stream, the stream's next start."""
    found = EMPTY
    for lane in np.unique(unseen.lane).tolist():
        here = unseen.lane == lane
        until = np.full(int(here.sum()), -FAR, dtype=np.int64)
        for stream in np.unique(work.lane).tolist():
            mine = (work.lane == stream) & work.launched & (work.thread == lane)
            called, start = work.called_ns[mine], work.start_ns[mine]
            order = np.argsort(called, kind="stable")
            at = np.searchsorted(called[order], unseen.start_ns[here], side="right")
            until = np.maximum(until, np.append(start[order], -FAR)[at])
        until[until == -FAR] = FAR
        found = intervals.both(found, intervals.union(unseen.start_ns[here], until))
    return found


def unseen_of(calls: list[tuple[int, int]]) -> Unseen:
    lane = np.array([c[0] for c in calls], dtype=np.int64)
    start = np.array([c[1] for c in calls], dtype=np.int64)
    return Unseen(np.arange(len(calls)), lane, start, start + 1)


def work_of(items: list[tuple[int, int, int, int]]) -> Work:
    """Work of (thread, -1 for unknown; stream; called; start)."""
    items = sorted(items, key=lambda x: x[3])
    thread, stream, called, start = (
        np.array([x[i] for x in items], dtype=np.int64) for i in range(4)
    )
    rows = np.arange(len(items))
    return Work(
        device="gpu0",
        row=rows,
        start_ns=start,
        end_ns=start + 1,
        klass=np.zeros(len(items), dtype=np.int8),
        lane=stream.astype(np.int32),
        call_row=np.where(thread >= 0, rows, -1),
        called_ns=np.minimum(called, start),
        enqueued_ns=np.minimum(called, start),
        thread=thread,
    )


NEAR = st.integers(-5, 30)
CALLS = st.lists(st.tuples(st.integers(0, 3), NEAR), max_size=40)
ITEMS = st.lists(st.tuples(st.integers(-1, 3), st.integers(5, 9), NEAR, NEAR), max_size=60)


@settings(max_examples=400, deadline=None)
@given(CALLS, ITEMS)
def test_equal_to_one_by_one(
    calls: list[tuple[int, int]], items: list[tuple[int, int, int, int]]
) -> None:
    unseen, work = unseen_of(calls), work_of(items)
    got, wanted = unseen.span(work), one_by_one(unseen, work)
    assert [x.tolist() for x in got] == [x.tolist() for x in wanted]


def test_by_hand() -> None:
    """Calls at 10 and 30 of thread 0; stream 5 starts what is called at 20 at 25, stream 6 what is
    called at 12 at 40: the first may run until 40. Nothing is called after the second."""
    work = work_of([(0, 5, 20, 25), (0, 6, 12, 40), (1, 7, 50, 90)])
    got = unseen_of([(0, 10), (0, 30)]).span(work)
    assert [x.tolist() for x in got] == [[10], [FAR]]
    assert [x.tolist() for x in unseen_of([(0, 10)]).span(work)] == [[10], [40]]
    assert [x.tolist() for x in unseen_of([]).span(work)] == [[], []]


def _seconds(streams: int, rows: int = 20_000) -> float:
    """CPU seconds for as many rows on so many streams."""
    rng = np.random.default_rng(1)
    start = np.sort(rng.integers(0, 10**9, rows))
    items = [(i % 2, i % streams, at - 50, at) for i, at in enumerate(start.tolist())]
    work, unseen = work_of(items), unseen_of([(i % 2, 10**5 * i) for i in range(rows // 2)])
    best = 1e9
    for _ in range(3):
        begun = time.process_time()
        unseen.span(work)
        best = min(best, time.process_time() - begun)
    return best


def test_the_number_of_streams_costs_nothing() -> None:
    """One by one, each stream costs a pass over all rows."""
    assert _seconds(512) < 10 * _seconds(4)
