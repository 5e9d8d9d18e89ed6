"""Small cases of what the ledger says where rows are missing, worked out by hand."""

from __future__ import annotations

from laptime.ledger.build import build_ledger
from laptime.ledger.device_work import kernel_names
from laptime.ledger.held import Floors
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import Kind
from tests.ledger.compared import Stretch, stretches
from tests.ledger.timelines import Made, timeline_of

FLOOR = Floors(latency_ns=5, latency_samples=20, gap_ns=5, gap_samples=20)
GEMM = "ampere_sgemm_128x64_nn"


def _ledger(made: list[Made], length: int = 1000) -> list[Stretch]:
    given = Laps(
        [Lap("made:0", "lap 0", 0, length)],
        [DeviceLap("gpu0", "made:0", 0, length, False)],
        "mark",
        "made",
        1.0,
        0,
    )
    timeline = timeline_of(made)
    names = kernel_names(timeline.rows)
    ledger, _ = build_ledger(timeline, names, laps=given, floors={"gpu0": FLOOR})
    return stretches(ledger.devices[0])


def _kernel(number: int | None, start: int, dur: int, lane: int = 3) -> Made:
    return Made(Kind.KERNEL, GEMM, lane, start, dur, number)


def _launch(number: int, start: int, dur: int, thread: int = 0) -> Made:
    return Made(Kind.RUNTIME, "cudaLaunchKernel", thread, start, dur, number)


OPERATOR = Made(Kind.CPU_OP, "aten::mm", 0, 0, 1000)
SYNC = Made(Kind.RUNTIME, "cudaStreamSynchronize", 0, 100, 100, 90)


def test_refilling_lasts_no_longer_than_the_call_waited() -> None:
    made = [OPERATOR, SYNC, _launch(1, 300, 10), _kernel(1, 320, 680)]
    assert _ledger(made) == [
        (0, 100, "host_ops"),
        (100, 300, "host_sync"),
        (300, 310, "host_launch"),
        (310, 315, "launch_latency"),
        (315, 320, "event_wait"),
        (320, 1000, "compute"),
    ]


def test_refilling_ends_with_the_next_launch_call() -> None:
    made = [OPERATOR, SYNC, _launch(1, 250, 10), _kernel(1, 265, 735)]
    assert _ledger(made) == [
        (0, 100, "host_ops"),
        (100, 260, "host_sync"),
        (260, 265, "launch_latency"),
        (265, 1000, "compute"),
    ]


def test_refilling_ends_where_work_without_a_call_shows_that_it_did() -> None:
    """Without the bound, a deleted launch call made all up to the next one synchronisation."""
    made = [OPERATOR, SYNC, _kernel(None, 320, 80), _launch(2, 700, 10), _kernel(2, 710, 290)]
    assert _ledger(made) == [
        (0, 320, "unattributed"),
        (320, 400, "compute"),
        (400, 700, "host_ops"),
        (700, 710, "host_launch"),
        (710, 1000, "compute"),
    ]


def test_lost_copy_may_have_run_inside_its_call() -> None:
    made = [
        OPERATOR,
        Made(Kind.RUNTIME, "cudaMemcpyAsync", 0, 100, 200, 1),
        _launch(2, 400, 10),
        _kernel(2, 410, 590),
    ]
    assert _ledger(made) == [
        (0, 100, "host_ops"),
        (100, 410, "unattributed"),
        (410, 1000, "compute"),
    ]


def test_lost_kernel_may_run_until_every_stream_of_its_thread_moved_on() -> None:
    made = [
        OPERATOR,
        _launch(1, 100, 10),
        _launch(2, 200, 10),
        _kernel(2, 210, 40, lane=4),
        _launch(3, 400, 10),
        _kernel(3, 410, 590, lane=3),
    ]
    assert _ledger(made) == [
        (0, 100, "host_ops"),
        (100, 210, "unattributed"),
        (210, 250, "compute"),
        (250, 410, "unattributed"),
        (410, 1000, "compute"),
    ]


def test_nothing_is_said_of_the_host_while_a_stream_may_hold_work() -> None:
    """The second stream's kernel has no call: it may have been enqueued at any time before."""
    made = [
        OPERATOR,
        _launch(1, 100, 10),
        _kernel(1, 110, 90),
        _launch(2, 600, 10),
        _kernel(2, 610, 10),
        _kernel(None, 700, 100, lane=4),
        _launch(3, 850, 10),
        _kernel(3, 860, 140),
    ]
    assert _ledger(made) == [
        (0, 110, "unattributed"),
        (110, 200, "compute"),
        (200, 610, "unattributed"),
        (610, 620, "compute"),
        (620, 700, "unattributed"),
        (700, 800, "compute"),
        (800, 850, "host_ops"),
        (850, 860, "host_launch"),
        (860, 1000, "compute"),
    ]


def test_graph_node_that_waits_longer_than_ordinary_is_not_said_to_wait_for_an_event() -> None:
    """The recording may lack nodes of the graph: 64 ms of such in one published trace."""
    graph = Made(Kind.RUNTIME, "cudaGraphLaunch", 0, 100, 10, 1)
    made = [OPERATOR, graph, _kernel(1, 115, 85), _kernel(1, 300, 700)]
    assert _ledger(made) == [
        (0, 100, "host_ops"),
        (100, 110, "host_launch"),
        (110, 115, "launch_latency"),
        (115, 200, "compute"),
        (200, 205, "kernel_gap"),
        (205, 300, "unattributed"),
        (300, 1000, "compute"),
    ]
