"""Changes of a timeline that must not change its ledger, and windows worked out by hand."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from laptime.ledger.build import build_ledger
from laptime.ledger.device_work import device_work, kernel_names
from laptime.ledger.held import Floors
from laptime.ledger.laps.windows import device_windows
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import API_CALLS, Kind
from laptime.model.run import Lane
from tests.ledger.compared import Stretch, stretches
from tests.ledger.timelines import (
    GRID_NS,
    HOST,
    LANES,
    STREAMS,
    THREADS,
    Made,
    laps,
    made_rows,
    timeline_of,
)

FLOOR = Floors(latency_ns=2_000, latency_samples=20, gap_ns=3_000, gap_samples=20)
IDLE_LANE = len(LANES)
"""A thread of the same process that launches nothing and owns no laps."""


def _ledgers(made: list[Made], given_laps: Laps) -> dict[str, list[Stretch]]:
    timeline = timeline_of(made, (*LANES, Lane(1, 99)))
    floors = {d.id: FLOOR for d in timeline.devices}
    ledger, _ = build_ledger(timeline, kernel_names(timeline.rows), laps=given_laps, floors=floors)
    return {device.device: stretches(device) for device in ledger.devices}


def _no_ties(made: list[Made]) -> bool:
    """No two activities of one stream that start and end together: file order decides there."""
    there = [(m.lane, m.start, m.dur) for m in made if m.lane in STREAMS]
    return len(set(there)) == len(there)


@settings(max_examples=100, deadline=None)
@given(made_rows(), laps(), st.integers(-(10**15), 10**17))
def test_shifted_in_time(made: list[Made], given_laps: Laps, by: int) -> None:
    moved = [replace(m, start=m.start + by) for m in made]
    moved_laps = replace(
        given_laps,
        laps=[replace(x, start_ns=x.start_ns + by) for x in given_laps.laps],
        by_device=[replace(w, start_ns=w.start_ns + by) for w in given_laps.by_device],
    )
    assert _ledgers(moved, moved_laps) == {
        device: [(a + by, b + by, account) for a, b, account in found]
        for device, found in _ledgers(made, given_laps).items()
    }


@settings(max_examples=100, deadline=None)
@given(made_rows(), laps(), st.randoms(use_true_random=False))
def test_rows_in_another_order(made: list[Made], given_laps: Laps, order: random.Random) -> None:
    assume(_no_ties(made))
    shuffled = list(made)
    order.shuffle(shuffled)
    assert _ledgers(shuffled, given_laps) == _ledgers(made, given_laps)


def test_work_of_two_threads_that_starts_together() -> None:
    """The thread that called first is the one that was to enqueue next, whatever came first in
    the file."""
    one = [
        Made(Kind.KERNEL, "a", 3, 500, 100, 1),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 490, 9, 1),
    ]
    two = [
        Made(Kind.KERNEL, "b", 4, 500, 100, 2),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 1, 495, 4, 2),
    ]
    states = [Made(Kind.CPU_OP, "aten::mm", 0, 0, 600), Made(Kind.PYTHON, "Python GC", 1, 0, 600)]
    given_laps = Laps(
        [Lap("made:0", "lap 0", 0, 600)],
        [DeviceLap("gpu0", "made:0", 0, 600, True)],
        "mark",
        "made",
        1.0,
        0,
    )
    wanted = [(0, 490, "host_ops"), (490, 499, "host_launch"), (499, 500, "launch_latency")]
    for rows in ([*one, *two], [*two, *one], [*reversed(two), *reversed(one)]):
        assert _ledgers([*states, *rows], given_laps)["gpu0"][:3] == wanted


NOISE = [row for row in HOST if row[0] not in (Kind.OVERHEAD, *API_CALLS)]


@settings(max_examples=100, deadline=None)
@given(made_rows(work=6), laps(), st.lists(st.sampled_from(NOISE), max_size=6), st.data())
def test_rows_of_a_thread_that_feeds_nothing(
    made: list[Made], given_laps: Laps, noise: list[tuple[Kind, str]], data: st.DataObject
) -> None:
    """On however many lanes such rows lie, the device does not care."""
    assume(any(m.lane in STREAMS for m in made))
    step = st.integers(0, 60).map(lambda n: n * GRID_NS)
    more = [Made(k, n, IDLE_LANE, data.draw(step), data.draw(step)) for k, n in noise]
    assert _ledgers([*more, *made], given_laps) == _ledgers(made, given_laps)


@settings(max_examples=100, deadline=None)
@given(made_rows(), laps(), st.data())
def test_empty_rows(made: list[Made], given_laps: Laps, data: st.DataObject) -> None:
    """Operators and marks of no length, within what is known of their thread."""
    threads = [m for m in made if m.lane in THREADS and m.kind in (Kind.CPU_OP, *API_CALLS)]
    assume(threads)
    more = [
        Made(kind, name, m.lane, m.start, 0)
        for m in data.draw(st.lists(st.sampled_from(threads), max_size=4))
        for kind, name in (HOST[0], HOST[2], HOST[6])
    ]
    assert _ledgers([*made, *more], given_laps) == _ledgers(made, given_laps)


@settings(max_examples=100, deadline=None)
@given(made_rows(), laps())
def test_rows_that_say_nothing(made: list[Made], given_laps: Laps) -> None:
    others = [m for m in made if m.kind not in (Kind.OTHER, Kind.SYNC)]
    assert _ledgers(others, given_laps) == _ledgers(made, given_laps)


def _windows_by_hand(made: list[Made], given: Laps, device: str) -> list[DeviceLap]:
    """From the start of each lap's first own work to the next lap's; the last one open."""
    calls: dict[int, Made] = {}
    for m in made:
        if m.kind in API_CALLS and m.correlation:
            calls.setdefault(m.correlation, m)
    mine = [m for m in made if m.lane in STREAMS and LANES[m.lane].device == device and m.dur >= 0]
    called = [(min(calls[m.correlation].start, m.start), m) for m in mine
              if m.correlation in calls]  # fmt: skip
    called = called or [(m.start, m) for m in mine]
    first, last = {}, {}
    for lap in given.laps:
        own = [m for at, m in called if lap.start_ns <= at < lap.end_ns]
        if own:
            first[lap.id] = min(m.start for m in own)
            last[lap.id] = max(m.start + m.dur for m in own)
    ids = list(first)
    begins = [max(first[i] for i in ids[: n + 1]) for n in range(len(ids))]
    ends = [*begins[1:], max(last[ids[-1]], begins[-1])] if ids else []
    return [
        DeviceLap(device, i, a, b - a, n == len(ids) - 1)
        for n, (i, a, b) in enumerate(zip(ids, begins, ends, strict=True))
    ]


def test_prefetched_work_does_not_turn_windows_back() -> None:
    """The second lap's copy runs before the first lap's kernel, which waits for an event."""
    made = [
        Made(Kind.KERNEL, "a", 3, 500, 100, 1),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 10, 5, 1),
        Made(Kind.MEMCPY, "Memcpy HtoD (Pinned -> Device)", 4, 300, 50, 2),
        Made(Kind.RUNTIME, "cudaMemcpyAsync", 0, 250, 5, 2),
    ]
    given = Laps([Lap("0", "0", 0, 200), Lap("1", "1", 200, 200)], (), "mark", "m", 1.0, 0)
    timeline = timeline_of(made)
    work = device_work(timeline, kernel_names(timeline.rows))["gpu0"]
    windows = device_windows(given.laps, work)
    assert windows == [DeviceLap("gpu0", "0", 500, 0, False), DeviceLap("gpu0", "1", 500, 0, True)]
    assert windows == _windows_by_hand(made, given, "gpu0")


@settings(max_examples=200, deadline=None)
@given(made_rows(), laps())
def test_windows_of_laps(made: list[Made], given_laps: Laps) -> None:
    timeline = timeline_of(made)
    work = device_work(timeline, kernel_names(timeline.rows))
    for device, one in work.items():
        windows = device_windows(given_laps.laps, one)
        assert windows == _windows_by_hand(made, given_laps, device)
        for a, b in itertools.pairwise(windows):
            assert a.end_ns == b.start_ns
        assert all(w.dur_ns >= 0 for w in windows)
