"""The fast ledger equals the slow one on random timelines, window by window, to the nanosecond."""

from __future__ import annotations

from hypothesis import given, settings

from laptime.ledger.build import build_ledger
from laptime.ledger.device_work import kernel_names
from laptime.ledger.held import Floors
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import Kind
from tests.ledger.compared import (
    by_account,
    check_partition,
    floors_of,
    joined,
    oracle_of,
    stretches,
    sums,
)
from tests.ledger.timelines import Made, laps, made_rows, timeline_of

SHORT = Floors(latency_ns=2_000, latency_samples=20, gap_ns=3_000, gap_samples=20)


def _compare(made: list[Made], given_laps: Laps | None, floor: Floors | None) -> None:
    timeline = timeline_of(made)
    names = kernel_names(timeline.rows)
    fixed = {d.id: floor for d in timeline.devices} if floor else None
    ledger, work = build_ledger(timeline, names, laps=given_laps, floors=fixed)
    measured = floors_of(work)
    oracle = oracle_of(timeline, names, ledger)
    for device in ledger.devices:
        check_partition(device)
        windows = [(w.start_ns, w.end_ns) for w in device.windows]
        used = floor or measured.get(device.device)
        slow = oracle.partition(None if device.cpu else device.device, windows, used)
        assert sums(device) == [by_account(window) for window in slow]
        assert stretches(device) == joined([s for window in slow for s in window])


@settings(max_examples=400, deadline=None)
@given(made_rows(), laps())
def test_given_laps_and_floors(made: list[Made], given_laps: Laps) -> None:
    _compare(made, given_laps, SHORT)


@settings(max_examples=150, deadline=None)
@given(made_rows(work=14, host=6))
def test_found_laps_and_measured_floors(made: list[Made]) -> None:
    _compare(made, None, None)


@settings(max_examples=100, deadline=None)
@given(made_rows(work=0, host=14), laps())
def test_cpu_only(made: list[Made], given_laps: Laps) -> None:
    _compare(made, given_laps, None)


def test_fewer_activities_than_a_run_of_the_period_search() -> None:
    """Seven launches after a blocking call once broke the search for a period."""
    made = [Made(Kind.RUNTIME, "cudaStreamSynchronize", 0, 0, 10, 99)]
    for n in range(1, 8):
        made.append(Made(Kind.KERNEL, "ampere_sgemm_128x64_nn", 3, 100 * n + 20, 50, n))
        made.append(Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 100 * n, 10, n))
    _compare(made, None, None)


def _apart(first: Made, *more: Made) -> None:
    """One lap of 900 ns of the first thread, feeding one device at its end."""
    given_laps = Laps(
        [Lap("made:0", "lap 0", 0, 900)],
        [DeviceLap("gpu0", "made:0", 0, 900, True)],
        "mark",
        "made",
        1.0,
        0,
    )
    short = Floors(latency_ns=5, latency_samples=20, gap_ns=20, gap_samples=20)
    _compare([first, *more], given_laps, short)


def test_neighbour_on_a_stream_is_the_one_that_ended_last() -> None:
    """Two that overlap on one stream: the gap after them begins where the longer one ends."""
    _apart(
        Made(Kind.KERNEL, "a", 3, 100, 400, 1),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 10, 5, 1),
        Made(Kind.KERNEL, "b", 3, 200, 50, 2),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 20, 5, 2),
        Made(Kind.KERNEL, "c", 3, 600, 300, 3),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 30, 5, 3),
    )


def test_number_zero_joins_nothing() -> None:
    _apart(
        Made(Kind.KERNEL, "a", 3, 600, 300, 0),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 10, 5, 0),
        Made(Kind.KERNEL, "b", 3, 300, 100, 3),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 200, 5, 3),
    )


def test_launch_inside_a_capture_enqueues_nothing() -> None:
    _apart(
        Made(Kind.RUNTIME, "cudaStreamBeginCapture", 0, 10, 5, 11),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 50, 5, 12),
        Made(Kind.RUNTIME, "cudaStreamEndCapture", 0, 90, 5, 13),
        Made(Kind.KERNEL, "a", 3, 600, 300, 1),
        Made(Kind.RUNTIME, "cudaLaunchKernel", 0, 550, 5, 1),
    )


def test_collection_inside_compilation_of_a_cpu_run() -> None:
    _apart(
        Made(Kind.PYTHON, "torch/_dynamo/convert_frame.py(400): __call__", 0, 0, 800),
        Made(Kind.PYTHON, "Python GC", 0, 100, 300),
    )
