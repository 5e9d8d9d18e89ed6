"""The simulation is causally consistent, and what it writes holds its truth."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest

from tests.planted_gpu.cases import PLANTS, make, run
from tests.planted_gpu.device_plants import Healthy
from tests.planted_gpu.engine import DEVICE_KINDS, Kernel, Simulator
from tests.planted_gpu.program import Program
from tests.planted_gpu.reading import Written, read
from tests.planted_gpu.spec import G2021, Needs, draw
from tests.planted_gpu.writing import text


def _written(simulator: Simulator) -> Written:
    return read(text(simulator))


@pytest.mark.parametrize("fault", PLANTS)
def test_cases_are_consistent_and_hold_their_truth(fault: str) -> None:
    case = make(fault, 5)
    spec = case.spec
    for simulator, truth in (
        (case.planted, case.planted_lap_ns),
        (case.clean, case.clean_lap_ns),
    ):
        written = _written(simulator)
        _causal(written)
        _nested(written)
        laps = written.laps(spec.marks)
        assert len(laps) == spec.laps
        assert all(a.end_ns <= b.start_ns for a, b in itertools.pairwise(laps))
        work = written.device
        whole = max(w.end_ns for w in work) - min(w.start_ns for w in work)
        rounding = 0 if spec.time_form != "us" else 1000 / spec.laps
        assert abs(whole // spec.laps - truth) <= rounding + 1
    assert case.cost_ns == case.planted_lap_ns - case.clean_lap_ns
    if fault == "healthy":
        assert abs(case.cost) < 0.02
    else:
        assert case.cost > 0.02


def _causal(written: Written) -> None:
    calls = {c.correlation: c for c in written.calls}
    assert len(calls) == len(written.calls)
    by_stream = defaultdict(list)
    for work in written.device:
        launch = calls[work.correlation]
        assert work.start_ns >= launch.start_ns
        by_stream[work.tid].append(work)
    for rows in by_stream.values():
        for one, after in itertools.pairwise(rows):
            assert after.start_ns >= one.end_ns  # in the order in which they were enqueued
            assert calls[after.correlation].start_ns >= calls[one.correlation].start_ns
    launches = Counter(w.correlation for w in written.device)
    graphs = {c.correlation for c in written.calls if "GraphLaunch" in c.name}
    assert all(n == 1 or c in graphs for c, n in launches.items())
    # A wait for the device ends after all that was enqueued before it.
    for call in written.calls:
        if "DeviceSynchronize" in call.name:
            before = [
                w.end_ns for w in written.device if calls[w.correlation].start_ns < call.start_ns
            ]
            assert call.end_ns >= max(before, default=0)


def _nested(written: Written) -> None:
    """Host rows of a thread contain one another or are apart."""
    host = defaultdict(list)
    for span in written.spans:
        if span.category in ("cpu_op", "user_annotation", "python_function", "cuda_runtime"):
            host[span.tid].append(span)
    for rows in host.values():
        rows.sort(key=lambda s: (s.start_ns, -s.dur_ns))
        ends: list[int] = []
        for span in rows:
            while ends and ends[-1] <= span.start_ns:
                ends.pop()
            assert not ends or span.end_ns <= ends[-1]
            ends.append(span.end_ns)


def test_a_case_is_the_same_each_time() -> None:
    assert text(run("host-sync", 2, True)) == text(run("host-sync", 2, True))


def test_every_generation_vendor_and_device_is_drawn() -> None:
    specs = [draw(seed, Needs()) for seed in range(200)]
    assert len({s.device.key for s in specs}) == 5
    assert len({s.generation for s in specs}) == 3
    assert {s.time_form for s in specs} == {"us", "decimal", "base"}
    assert {s.laps for s in specs} == set(range(5, 13))
    for flag in ("flows", "stacks", "shapes", "sync_rows", "item_each_lap"):
        assert {getattr(s, flag) for s in specs} == {True, False}


def test_generations_differ_as_theirs_did() -> None:
    seen = set()
    for seed in range(200):
        spec = draw(seed, Needs())
        if spec.generation in seen:
            continue
        seen.add(spec.generation)
        simulator = Program(spec, Healthy(False)).run()
        written = _written(simulator)
        categories = {s.category for s in written.spans}
        old = spec.generation == G2021
        assert ("Kernel" in categories) == old
        assert ("kernel" in categories) != old
        assert ("baseTimeNanoseconds" in written.head) == (spec.time_form == "base")
        assert bool(written.flows) == spec.flows
    assert len(seen) == 3


def test_work_waits_for_launch_stream_and_event() -> None:
    """By hand: three kernels on two streams, the second stream told to wait for the first."""
    simulator = Simulator(draw(0, Needs(nvidia=True)), "by hand")
    simulator.launch(Kernel("a", 500.0), 7)
    event = simulator.record(7)
    simulator.launch(Kernel("b", 100.0), 9)
    simulator.wait(9, event)
    simulator.launch(Kernel("c", 100.0), 9)
    a, b, c = (r for r in simulator.rows if r.kind == "kernel")
    assert b.start_ns < a.end_ns
    assert c.start_ns >= a.end_ns
    assert event.at_ns == a.end_ns
    before = simulator.now_ns
    assert before < a.end_ns  # launches do not block
    simulator.sync(9)
    assert simulator.now_ns >= c.end_ns


def test_the_launch_queue_has_an_end() -> None:
    simulator = Simulator(draw(0, Needs(nvidia=True)), "queue")
    for _ in range(1100):
        simulator.launch(Kernel("a", 1000.0), 7)
    rows = [r for r in simulator.rows if r.kind in DEVICE_KINDS]
    launches = [r for r in simulator.rows if r.kind == "call"]
    assert launches[1023].end_ns < rows[0].end_ns + 1_000_000 * 20
    assert launches[1099].end_ns >= rows[1099 - 1024].end_ns


def test_the_table_of_accepted_findings() -> None:
    for fault, plant in PLANTS.items():
        others = plant.accepted - {fault}
        assert others <= {"many-tiny-kernels", "explicit-collection"}
        assert (fault in plant.accepted) == (fault != "healthy")
