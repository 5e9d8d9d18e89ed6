"""A ledger built in blocks of time is the ledger built at once, to the bit, whatever the blocks."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from laptime.evidence.registry import open_run
from laptime.ledger import blocks, by_function
from laptime.ledger.build import build_ledger
from laptime.ledger.by_function import FunctionTable
from laptime.ledger.device_work import kernel_names
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.reach import Reaching
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import Kind, Rows
from laptime.model.run import Lane, Timeline
from tests.evidence_files import kineto_files, kineto_id, needs_evidence
from tests.ledger.timelines import GRID_NS, Made, laps, made_rows, timeline_of

WHOLE = 1 << 60


def _of(device: DeviceLedger) -> tuple[object, ...]:
    segments = device.segments
    return (
        device.device,
        device.cpu,
        device.ns.tolist(),
        segments.start_ns.tolist(),
        segments.end_ns.tolist(),
        segments.account.tolist(),
        [leaf.id for leaf in device.leaves],
        list(device.notes),
        dict(device.merged),
    )


def _parts(ledger: Ledger) -> list[tuple[object, ...]]:
    return [_of(device) for device in ledger.devices]


def _same(timeline: Timeline, given_laps: Laps | None, rows: int) -> None:
    names = kernel_names(timeline.rows)
    whole, _ = build_ledger(timeline, names, laps=given_laps, block_rows=WHOLE)
    split, _ = build_ledger(timeline, names, laps=given_laps, block_rows=rows)
    assert _parts(split) == _parts(whole)


@settings(max_examples=300, deadline=None)
@given(made_rows(work=14, host=16), laps(), st.integers(1, 12), st.sampled_from((1, 2, 5, 4096)))
def test_any_blocks_give_the_same_ledger(
    made: list[Made], given_laps: Laps, rows: int, piece: int
) -> None:
    with _small(piece):
        _same(timeline_of(made), given_laps, rows)


@settings(max_examples=100, deadline=None)
@given(made_rows(work=14, host=10), st.integers(1, 8))
def test_found_laps(made: list[Made], rows: int) -> None:
    with _small(2):
        _same(timeline_of(made), None, rows)


@settings(max_examples=60, deadline=None)
@given(made_rows(work=0, host=20), laps(), st.integers(1, 8))
def test_cpu_only(made: list[Made], given_laps: Laps, rows: int) -> None:
    with _small(2):
        _same(timeline_of(made), given_laps, rows)


@st.composite
def hostile(draw: DrawFn) -> tuple[list[Made], Laps]:
    """Rows of which some last for ever or cross many blocks; times on a grid of 1 ns or 1 us, so
    that laps of 1 ns and ties at every edge come too."""
    fine = draw(st.booleans())
    grid = GRID_NS if fine else 1
    far = st.sampled_from((None, None, None, 7, 1 << 20, 1 << 40, 1 << 58))
    rows = []
    for row in draw(made_rows(work=16, host=24)):
        long, known = draw(far), 0 <= row.dur < 1 << 62
        dur = row.dur if not known else row.dur // grid if long is None else long
        rows.append(replace(row, start=row.start // grid, dur=dur))
    given_laps = draw(laps())
    return rows, replace(
        given_laps,
        laps=[
            replace(x, start_ns=x.start_ns // grid, dur_ns=x.dur_ns // grid)
            for x in given_laps.laps
        ],
        by_device=[
            replace(x, start_ns=x.start_ns // grid, dur_ns=x.dur_ns // grid)
            for x in given_laps.by_device
        ],
    )


@settings(max_examples=150, deadline=None)
@given(hostile(), st.integers(1, 12), st.sampled_from((1, 2, 3, 64)), st.booleans())
def test_rows_that_last_for_ever_and_laps_of_a_nanosecond(
    made: tuple[list[Made], Laps], rows: int, piece: int, found: bool
) -> None:
    with _small(piece):
        _same(timeline_of(made[0]), None if found else made[1], rows)


def test_thousands_of_lanes() -> None:
    """A thread and a stream for each launch; every third operator lasts over all that follows."""
    many = 1500
    lanes = [Lane(1, i) for i in range(many)]
    lanes += [Lane(0, i, device="gpu0", stream=i) for i in range(many)]
    made = []
    for i in range(many):
        dur = GRID_NS * (1 if i % 3 else 2 * many)
        made += [
            Made(Kind.CPU_OP, "aten::mm", i, i * GRID_NS, dur),
            Made(Kind.RUNTIME, "cudaLaunchKernel", i, i * GRID_NS, GRID_NS, i + 1),
            Made(Kind.KERNEL, "gemm", many + i, (i + 1) * GRID_NS, 2 * GRID_NS, i + 1),
        ]
    span = many * GRID_NS // 3
    host = [Lap(f"made:{i}", f"lap {i}", i * span, span) for i in range(3)]
    windows = [DeviceLap("gpu0", x.id, x.start_ns, span, False) for x in host]
    given_laps = Laps(host, windows, "mark", "made", 1.0, 0)
    timeline = timeline_of(made, lanes)
    with _small(64):
        _same(timeline, given_laps, 100)
    whole, _ = build_ledger(timeline, kernel_names(timeline.rows), laps=given_laps)
    gpu = next(d for d in whole.devices if d.device == "gpu0")
    assert gpu.ns.sum(axis=1).tolist() == [span] * 3


def _small(piece: int) -> AbstractContextManager[Any]:
    """Pieces of a few rows, and no limit on reading."""
    return patch.multiple(blocks, PIECE_ROWS=piece, READ_ROWS=4 * piece, MOST_READ=1 << 30)


@needs_evidence
@pytest.mark.parametrize("path", kineto_files(), ids=kineto_id)
def test_published_traces(path: Path) -> None:
    for timeline in open_run(str(path), n_jobs=1).timelines:
        _same(timeline, None, 500)


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), max_size=30)


@given(SPANS, st.lists(st.integers(0, 60), max_size=6), st.booleans())
def test_reaching_gives_what_touches_each_block(
    spans: list[tuple[int, int]], cuts: list[int], ordered: bool
) -> None:
    if ordered:
        spans = sorted(spans)
    start = np.array([s for s, _ in spans], dtype=np.int64)
    end = start + np.array([d for _, d in spans], dtype=np.int64)
    order = None if ordered else np.argsort(start, kind="stable")
    reaching = Reaching(start, end, order)
    edges = sorted({0, 61, *cuts})
    for low, high in pairwise(edges):
        wanted = [
            i for i, (s, e) in enumerate(zip(start, end, strict=True)) if s < high and e > low
        ]
        assert sorted(reaching.within(low, high).tolist()) == wanted


def _rows(start: list[int], dur: list[int]) -> Rows:
    size = len(start)
    return Rows(
        start_ns=np.array(start, dtype=np.int64),
        dur_ns=np.array(dur, dtype=np.int64),
        name=np.zeros(size, dtype=np.int32),
        names=["aten::mm"],
        category=np.zeros(size, dtype=np.int32),
        categories=["cpu_op"],
        kind=np.full(size, int(Kind.CPU_OP), dtype=np.uint8),
        lane=np.zeros(size, dtype=np.int32),
        phase=np.full(size, 88, dtype=np.uint8),
    )


def test_blocks_hold_about_as_many_rows_as_asked() -> None:
    rows = _rows(list(range(0, 100_000, 10)), [5] * 10_000)
    with patch.multiple(blocks, PIECE_ROWS=100, READ_ROWS=1000):
        pieces = blocks.host_pieces(rows, 1000)
        found = blocks.cut(pieces, [], 0, 100_000, 1000)
    assert all(8_000 <= high - low <= 12_000 for low, high in found)
    assert (found[0][0], found[-1][1]) == (0, 100_000)
    assert [a[1] for a in found[:-1]] == [b[0] for b in found[1:]]


def test_rows_out_of_order_are_not_read_again_for_every_block() -> None:
    order = np.random.default_rng(1).permutation(10_000)
    rows = _rows((order * 10).tolist(), [5] * 10_000)
    with patch.multiple(blocks, PIECE_ROWS=100, READ_ROWS=1000):
        pieces = blocks.host_pieces(rows, 1000)
        found = blocks.cut(pieces, [], 0, 100_000, 100)
        read = sum(
            int(((pieces.low_ns < high) & (pieces.high_ns > low)).sum()) * 100
            for low, high in found
        )
    assert read <= blocks.MOST_READ * 10_000


def test_long_rows_are_kept_apart() -> None:
    rows = _rows([0, *range(0, 10_000, 10)], [20_000, *[5] * 1000])
    with patch.multiple(blocks, PIECE_ROWS=10, READ_ROWS=100):
        pieces = blocks.host_pieces(rows, 100)
        seen = np.concatenate(list(pieces.touching(5_000, 5_100)))
    assert pieces.long.tolist() == [0]
    assert int(pieces.high_ns.max()) == 9_995
    assert sorted(seen.tolist()) == [0, *range(501, 511)]


@settings(max_examples=150, deadline=None)
@given(made_rows(work=8, host=24), laps(), st.integers(1, 8))
def test_functions(made: list[Made], given_laps: Laps, rows: int) -> None:
    """Frames that nest are told block by block, frames that cross at once: the same either way."""
    timeline = timeline_of(made)
    ledger, work = build_ledger(timeline, kernel_names(timeline.rows), laps=given_laps)

    def tables(rows_each: int) -> dict[str, FunctionTable]:
        with _small(2), patch.object(by_function, "BLOCK_ROWS", rows_each):
            return by_function.function_tables(timeline, ledger, work)

    assert tables(rows) == tables(WHOLE)
