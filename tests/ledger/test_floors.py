"""The measured floors: which launches and gaps are samples, and which of them is the floor."""

from __future__ import annotations

import numpy as np
import pytest

from laptime.ledger.held import Floors, floors
from laptime.ledger.work import Work

US = 1_000
IDLE_US = 1_000
"""Between one activity and the next launch: far more than any latency below."""


def work_of(items: list[tuple[int, int, int]], call_row: list[int] | None = None) -> Work:
    """Activities of one stream, each (enqueued, start, end) in ns; call row -1: not launched."""
    enqueued, start, end = (np.array([x[i] for x in items], dtype=np.int64) for i in range(3))
    count = len(items)
    return Work(
        device="gpu0",
        row=np.arange(count),
        start_ns=start,
        end_ns=end,
        klass=np.zeros(count, dtype=np.int8),
        lane=np.zeros(count, dtype=np.int32),
        call_row=np.arange(count) if call_row is None else np.array(call_row),
        called_ns=enqueued,
        enqueued_ns=enqueued,
        thread=np.zeros(count, dtype=np.int64),
    )


def on_empty(latencies_us: list[int]) -> list[tuple[int, int, int]]:
    """Launches on an idle device, in the latencies' order."""
    items = []
    at = 0
    for latency in latencies_us:
        start = at + latency * US
        items.append((at, start, start + US))
        at = start + IDLE_US * US
    return items


def back_to_back(gaps_ns: list[int]) -> list[tuple[int, int, int]]:
    """Activities all enqueued at time 0, with these gaps between them."""
    items = [(0, 5 * US, 6 * US)]
    for gap in gaps_ns:
        start = items[-1][2] + gap
        items.append((0, start, start + US))
    return items


def shuffled(count: int) -> list[int]:
    return [int(x) + 1 for x in np.random.default_rng(7).permutation(count)]


def test_latency_is_the_ninetieth_of_a_hundred() -> None:
    found = floors(work_of(on_empty(shuffled(100))))
    assert (found.latency_ns, found.latency_samples) == (90 * US, 100)
    assert (found.gap_ns, found.gap_samples) == (10 * US, 0)
    assert "90th percentile of 100 launches" in found.sentence()
    assert "assumed: too few back-to-back kernels" in found.sentence()


@pytest.mark.parametrize(("count", "latency_ns", "samples"), [(20, 18 * US, 20), (19, 10 * US, 0)])
def test_twenty_samples_are_enough(count: int, latency_ns: int, samples: int) -> None:
    found = floors(work_of(on_empty(shuffled(count))))
    assert (found.latency_ns, found.latency_samples) == (latency_ns, samples)


def test_the_device_is_empty_from_the_instant_its_work_ends() -> None:
    chain = [(0, 2 * US, 3 * US)]
    for _ in range(20):
        at = chain[-1][2]
        chain.append((at, at + 2 * US, at + 3 * US))
    assert floors(work_of(chain)).latency_samples == 21
    early = [(max(enqueued - 1, 0), start, end) for enqueued, start, end in chain]
    assert floors(work_of(early)).latency_samples == 0


def test_work_whose_launch_is_not_recorded_is_no_sample_but_keeps_the_device_busy() -> None:
    items = on_empty([4] * 40)
    assert floors(work_of(items, [i if i % 2 else -1 for i in range(40)])).latency_samples == 20
    # One unlaunched activity over all of it: nothing was launched on an empty device.
    over = [(-10, -5, items[-1][2]), *items]
    assert floors(work_of(over, [-1, *range(40)])) == Floors(10 * US, 0, 10 * US, 0)


def test_of_a_graph_only_the_first_node_shows_a_latency() -> None:
    items, call_row = [], []
    for graph, (enqueued, start, _) in enumerate(on_empty([6] * 20)):
        for node in range(3):
            begun = start + node * 100 * US
            # Before the graph nothing runs, so that each node is enqueued on an empty device.
            items.append((enqueued if node == 0 else begun - 1, begun, begun + US))
            call_row.append(graph)
    found = floors(work_of(items, call_row))
    assert (found.latency_ns, found.latency_samples) == (6 * US, 20)


@pytest.mark.parametrize(
    ("gap_ns", "floor_ns"),
    [(0, 10_000), (9_999, 10_000), (15_000, 15_000), (20_000, 20_000), (20_001, 20_000)],
)
def test_the_gap_is_clipped(gap_ns: int, floor_ns: int) -> None:
    found = floors(work_of(back_to_back([gap_ns] * 20)))
    assert (found.gap_ns, found.gap_samples) == (floor_ns, 20)


def test_the_gap_is_the_ninetieth_of_a_hundred() -> None:
    gaps = [10_000 + 50 * k for k in shuffled(100)]
    found = floors(work_of(back_to_back(gaps)))
    assert (found.gap_ns, found.gap_samples) == (14_500, 100)


def test_nineteen_gaps_are_too_few_and_late_work_shows_none() -> None:
    assert floors(work_of(back_to_back([15_000] * 19))).gap_samples == 0
    late = back_to_back([15_000] * 40)
    late = [(start - 1, start, end) for _, start, end in late]
    assert floors(work_of(late)).gap_samples == 0
