"""Input starvation: found by idle time in the loader, never by the length of its spans."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.input_starvation import CAUSE
from laptime.causes.loader import outermost
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, SIDE, Made

SINGLE = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
MULTI = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def starved(name: str = SINGLE) -> Made:
    """175 ms laps: the loader takes 69.3 ms, of which 10 ms hide under the last lap's work."""
    made = Made(lap_ms=175.0)
    for lap in made.each():
        made.mark(name, lap + 90.0, 69.3)
        made.account("input_wait", lap + 100.0, lap + 159.3)
        made.account("host_ops", lap + 160.0, lap + 177.0 if lap < 500 else lap + 175.0)
        call = made.call("cudaLaunchKernel", lap + 0.1, 0.01)
        made.activity("kernel", lap + 1.0, 99.0, call)
    return made


def test_sentence_states_the_span_and_what_it_left_idle() -> None:
    found = CAUSE.look(starved().case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "The loader takes 69.3 of each 175 ms lap and leaves the device idle for 59.3 ms (34 %); "
        "the other 10.0 ms overlap device work; it runs in the training process "
        "(num_workers 0)."
    )
    assert found.share == pytest.approx(59.3 / 175)


def test_bound_is_the_smaller_of_span_and_idle() -> None:
    found = CAUSE.look(starved().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == round(69.3 * MS)
    assert found.formula.startswith(
        "min(loader span a host lap, device idle a device window) = min(69.3 ms,"
    )
    short = Made(lap_ms=100.0)
    for lap in short.each():
        short.mark(SINGLE, lap, 80.0)
        short.account("input_wait", lap, lap + 10.0)
    bounded = CAUSE.look(short.case())
    assert isinstance(bounded, Finding)
    assert bounded.bound_ns == 10 * MS


def test_advice_fits_the_configuration() -> None:
    single, multi = CAUSE.look(starved().case()), CAUSE.look(starved(MULTI).case())
    assert isinstance(single, Finding)
    assert isinstance(multi, Finding)
    assert any("num_workers=N" in step for step in single.next_step)
    assert not any("num_workers=N" in step for step in multi.next_step)
    assert "workers already load" in multi.sentence


def test_a_loader_span_that_overlaps_device_work_is_not_flagged() -> None:
    made = Made()
    for lap in made.each():
        made.mark(SINGLE, lap, 90.0)
        made.account("input_wait", lap, lap + 1.0)
    clear = CAUSE.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "the loader takes 90.0 of each 100 ms lap, "
        "and the device is idle for it 1.0 % of its own time"
    )


def test_abstains_without_loader_spans() -> None:
    answer = outcome(CAUSE, starved().case(ALL_NEEDS - {Need.LOADER_SPANS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("loader_spans",)
    assert "DataLoader" in answer.supply


def test_abstains_where_the_ledger_cannot_split_idle_time() -> None:
    made = Made()
    made.without = {"input_wait", "host_sync"}
    for lap in made.each():
        made.mark(SINGLE, lap, 50.0)
        made.account("idle", lap, lap + 50.0)
    answer = outcome(CAUSE, made.case(ALL_NEEDS - {Need.LAUNCH_CALLS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("launch_calls",)


def test_cpu_only_run_uses_the_owning_thread() -> None:
    made = Made(lap_ms=147.0, cpu=True)
    for lap in made.each():
        made.mark(SINGLE, lap, 73.0)
        made.account("input_wait", lap, lap + 73.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.sentence == (
        "The loader takes 73.0 of each 147 ms lap (50 %) of the owning thread; it runs in the "
        "training process (num_workers 0)."
    )
    assert found.bound_ns == 73 * MS


def test_abstains_where_a_device_was_used_and_not_recorded() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.mark(SINGLE, lap, 73.0)
        made.account("input_wait", lap, lap + 73.0)
        made.call("cudaLaunchKernel", lap + 80.0, 0.1)
    answer = CAUSE.look(made.case(ALL_NEEDS - {Need.GPU_ROWS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("gpu_rows",)


def prefetched(loading_ms: float = 90.0) -> Made:
    """The loader runs on a thread that launches nothing."""
    made = Made()
    for lap in made.each():
        made.mark(SINGLE, lap, loading_ms, lane=SIDE)
        made.account("input_wait", lap, lap + 0.001)
    return made


def test_a_loader_on_another_thread_is_not_judged_by_its_rows() -> None:
    answer = CAUSE.look(prefetched().case())
    assert isinstance(answer, Abstention)
    assert answer.missing == (
        "rows of the wait for it: the loader runs on another thread for 90.0 of each 100 ms lap",
    )
    clear = CAUSE.look(prefetched(4.0).case())
    assert isinstance(clear, Clear)
    assert clear.why == "the loader runs on another thread for 4.00 of each 100 ms lap"


def test_the_sentence_can_be_derived_from_its_reasons() -> None:
    found = CAUSE.look(starved().case())
    assert isinstance(found, Finding)
    assert found.why == (
        "loader's next: 4 spans in 4 host laps, 277,200,000 ns in all, 69.3 ms a lap",
        "length of 4 host laps: 700,000,000 ns in all, 175 ms a lap",
        "of it the device is idle for 237,200,000 ns in all, 59.3 ms a lap, "
        "and at work for 40,000,000 ns in all, 10.0 ms a lap",
        "in its own 4 counted windows the device is idle while the thread that enqueues next is in "
        "the loader's next: 237,200,000 ns in all, 59.3 ms a window",
        "workers: the iterator's name is that of one without (num_workers 0)",
    )


def test_nested_spans_are_one() -> None:
    """torch's mark, between two of its Python frames: one span a lap, and its events."""
    made = starved()
    for lap in made.each():
        made.row(Kind.PYTHON, "torch/utils/data/dataloader.py(741): __next__", lap + 89.9, 69.5)
        made.row(Kind.PYTHON, "torch/utils/data/dataloader.py(790): _next_data", lap + 90.1, 69.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.why[0].startswith("loader's next: 4 spans in 4 host laps, 278,000,000 ns in all")
    assert found.events_in_all == 4
    assert [e.dur_ns for e in found.events] == [69_500_000] * 4


spans = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 30), st.integers(0, 12)), max_size=12)


@given(spans)
def test_outermost_rows_are_those_inside_no_other(made: list[tuple[int, int, int]]) -> None:
    trace = Made(laps=1)
    rows_of = [trace.mark(SINGLE, s, d, lane=SIDE if lane else 0) for lane, s, d in made]
    rows = trace.case().timeline.rows
    kept = set(outermost(rows, np.array(rows_of, dtype=np.int64)).tolist())
    for i, (lane, start, dur) in enumerate(made):
        around = [
            j
            for j, (other, low, length) in enumerate(made)
            if other == lane
            and low <= start
            and start + dur <= low + length
            and (-length, low, j) < (-dur, start, i)
        ]
        assert (i in kept) == (not around)


def test_a_thread_alone_speaks_of_no_device() -> None:
    made = Made(lap_ms=147.0, cpu=True)
    for lap in made.each():
        made.mark(SINGLE, lap, 73.0)
        made.account("input_wait", lap, lap + 73.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert not any("device" in text for text in (found.sentence, found.formula, *found.why))


def test_one_window_has_no_mean() -> None:
    made = Made(lap_ms=147.0, laps=1, source="window")
    made.mark(SINGLE, 0.0, 73.0)
    made.account("input_wait", 0.0, 73.0)
    found = CAUSE.look(made.case())
    assert isinstance(found, Finding)
    assert found.formula == "min(loader span, device idle) = min(73.0 ms, 73.0 ms)"
    assert found.why[0] == "loader's next: 1 span in the recording, 73,000,000 ns, which is 73.0 ms"
    assert not any(" a lap" in w or " a window" in w for w in found.why)
    assert found.sentence.startswith("The loader takes 73.0 of the 147 ms recording ")
