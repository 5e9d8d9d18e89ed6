"""Compilation, trials of kernels and captures of graphs in the laps: each once, each its own."""

from __future__ import annotations

import pytest

from laptime.causes.autotuning_in_window import CAUSE as TUNING
from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.compile_in_window import CAUSE as COMPILING
from laptime.causes.graph_capture_in_window import CAUSE as CAPTURING
from laptime.causes.registry import outcome
from laptime.model.rows import Kind
from tests.causes.made import ALL_NEEDS, MS, STREAM, Made

INNER = "_compile.compile_inner (dynamo_timed)"
ALL = (COMPILING, TUNING, CAPTURING)


def launched(made: Made, lap: float) -> None:
    """A kernel whose call makes the thread one that feeds the device."""
    made.activity("kernel", lap + 60.0, 30.0, made.call("cudaLaunchKernel", lap + 59.0, 0.01))


def compiled(name: str = INNER, kind: Kind = Kind.ANNOTATION, source: str = "mark") -> Made:
    """8 ms of compilation in each lap, one row in another, and no device work beside it."""
    made = Made(source=source, laps=1 if source == "window" else 4)
    for lap in made.each():
        launched(made, lap)
        made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
        made.row(kind, name, lap + 10.0, 8.0)
        made.row(kind, name, lap + 11.0, 2.0)
        made.account("compile", lap + 10.0, lap + 18.0)
    return made


def captured() -> Made:
    """A capture of 5 ms in each lap, compilation of 1 ms in it, an instantiation of 2 ms."""
    made = Made()
    for lap in made.each():
        launched(made, lap)
        made.call("cudaStreamBeginCapture", lap + 10.0, 0.5)
        made.row(Kind.ANNOTATION, INNER, lap + 12.0, 1.0)
        made.call("cudaStreamEndCapture", lap + 14.0, 1.0)
        made.call("cudaGraphInstantiate", lap + 20.0, 2.0)
        made.account("compile", lap + 10.0, lap + 15.0)
        made.account("compile", lap + 20.0, lap + 22.0)
    return made


def tuned(reads: int = 3, kernel_ms: float = 2.0) -> Made:
    """An operator of 12 ms that runs trials of 2 ms and reads the time of each."""
    made = Made()
    for lap in made.each():
        launched(made, lap)
        made.op("aten::cudnn_convolution", lap + 10.0, 12.0)
        for at in range(reads):
            call = made.call("cudaLaunchKernel", lap + 10.5 + 4 * at, 0.1)
            made.activity(f"algorithm_{at}", lap + 11.0 + 4 * at, kernel_ms, call)
            made.call("cudaEventElapsedTime", lap + 13.5 + 4 * at, 0.1)
            made.account("host_ops", lap + 13.0 + 4 * at, lap + 15.0 + 4 * at)
    return made


def test_compilation_counts_once_and_names_its_line() -> None:
    found = COMPILING.look(compiled().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 8 * MS
    assert found.share == pytest.approx(0.08)
    assert found.sentence == (
        "The device waits for compilation for 8.00 of each 100 ms lap (8.0 %): 1 compilation a "
        "lap, most from train.py(42): step."
    )
    assert found.why[0] == f"{INNER} once a lap, 8.00 ms"
    assert "recompiles" in found.next_step[0]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("cuModuleLoadData", Kind.DRIVER), ("cudaLibraryLoadData", Kind.RUNTIME),
     ("Lazy Function Loading", Kind.OVERHEAD)],
)  # fmt: skip
def test_loading_modules_is_compilation_with_other_advice(name: str, kind: Kind) -> None:
    found = COMPILING.look(compiled(name, kind).case())
    assert isinstance(found, Finding)
    assert "0 compilations, 1 load of modules a lap" in found.sentence
    assert found.next_step == (
        "CUDA_MODULE_LOADING=EAGER loads at the start what is loaded here at first use",
    )


def test_on_the_owning_thread() -> None:
    made = Made(cpu=True)
    for lap in made.each():
        made.row(Kind.ANNOTATION, INNER, lap + 10.0, 5.0)
        made.account("compile", lap + 10.0, lap + 15.0)
    found = COMPILING.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 5 * MS
    assert found.sentence.startswith("The owning thread compiles for 5.00 of each 100 ms lap")


def test_little_compilation() -> None:
    made = Made()
    for lap in made.each():
        made.row(Kind.ANNOTATION, INNER, lap + 10.0, 1.0)
        made.account("compile", lap + 10.0, lap + 11.0)
    clear = COMPILING.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "compilation takes 1.0 % of the lap, below 2.0 %"


def test_first_use_is_not_told_from_compiling_again() -> None:
    answer = COMPILING.look(compiled(source="window").case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("steady laps: compilation takes 8.0 %, which may be first use",)


def test_without_stacks_what_no_row_shows_may_be_compilation() -> None:
    made = Made()
    for lap in made.each():
        made.account("host_between_ops", lap + 10.0, lap + 15.0)
    shown = COMPILING.look(made.case())
    assert isinstance(shown, Clear)
    answer = COMPILING.look(made.case(ALL_NEEDS - {Need.STACKS}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("what the thread does for 5.0 % of the lap",)


def test_without_stacks_short_gaps_hide_nothing() -> None:
    made = Made()
    for lap in made.each():
        for at in range(10):
            made.account("host_between_ops", lap + 5.0 * at, lap + 5.0 * at + 0.9)
    assert isinstance(COMPILING.look(made.case(ALL_NEEDS - {Need.STACKS})), Clear)


def test_captures_and_instantiations_are_no_compilation() -> None:
    found = CAPTURING.look(captured().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 7 * MS
    assert found.sentence == (
        "The device waits for captures of graphs for 7.00 of each 100 ms lap (7.0 %): 1 capture a "
        "lap, cudaGraphInstantiate once a lap."
    )
    assert isinstance(COMPILING.look(captured().case()), Clear)
    assert isinstance(CAPTURING.look(compiled().case()), Clear)


def test_replays_are_no_captures() -> None:
    made = Made()
    for lap in made.each():
        made.activity("kernel", lap + 10.0, 80.0, made.call("cudaGraphLaunch", lap + 9.0, 1.0))
    clear = CAPTURING.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == "no graph is captured in the counted laps"


def test_an_operator_that_reads_times_tries_kernels() -> None:
    """Three trials of 2 ms and the idle time inside the operator behind each: 2, 2 and 1 ms."""
    found = TUNING.look(tuned().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 11 * MS
    assert found.sentence == (
        "Trials of kernels take 11.0 of each 100 ms lap (11 %): 1 tuning a lap with 3 kernels a "
        "lap under 3 names."
    )


def test_one_reading_is_a_measurement_of_the_programs_own() -> None:
    clear = TUNING.look(tuned(reads=1).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no trial of a kernel in the counted laps"


def test_trials_by_the_frame_of_the_tuner() -> None:
    made = Made()
    for lap in made.each():
        launched(made, lap)
        made.row(Kind.PYTHON, "train.py(42): step", lap, 50.0)
        made.row(Kind.PYTHON, "triton/runtime/autotuner.py(196): run", lap + 9.0, 12.0)
        made.row(Kind.PYTHON, "triton/runtime/autotuner.py(138): _bench", lap + 10.0, 10.0)
        call = made.call("cuLaunchKernel", lap + 11.0, 0.1)
        made.activity("tried", lap + 12.0, 4.0, call, lane=STREAM)
        made.account("compile", lap + 10.0, lap + 12.0)
        made.account("compile", lap + 16.0, lap + 20.0)
    found = TUNING.look(made.case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 10 * MS
    assert "most from train.py(42): step" in found.sentence
    assert isinstance(COMPILING.look(made.case()), Clear)


def test_trials_of_a_whole_recording_may_be_first_use() -> None:
    made = Made(laps=1, source="window")
    launched(made, 0.0)
    made.row(Kind.PYTHON, "triton/testing.py(96): do_bench", 10.0, 10.0)
    made.account("compile", 10.0, 20.0)
    answer = TUNING.look(made.case())
    assert isinstance(answer, Abstention)


def test_what_each_needs() -> None:
    for cause in ALL:
        answer = outcome(cause, compiled().case(frozenset()))
        assert isinstance(answer, Abstention)
    assert outcome(COMPILING, Made().case(frozenset({Need.HOST_ROWS})))
