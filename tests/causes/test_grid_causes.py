"""Grids against the device: blocks that leave multiprocessors idle, and waves that are not full."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.causes.case import Abstention, Case, Clear, Finding
from laptime.causes.kernel_grids import alone_each, grids, part_lost
from laptime.causes.small_grids import CAUSE as SMALL
from laptime.causes.view import gpu_views
from laptime.causes.wave_quantisation import CAUSE as WAVES
from tests.causes.kernels_made import GEMM, MUL, launch, waiting, with_grids
from tests.causes.made import A100, MS, SIDE, STREAM, Made

LIMITS = A100 | {
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 167936,
}
"""108 multiprocessors."""


def kernel_args(blocks: int, threads: int = 256, registers: int = 64, shared: int = 0) -> Any:
    return {
        "grid": [blocks, 1, 1],
        "block": [threads, 1, 1],
        "registers per thread": registers,
        "shared memory": shared,
    }


def running(args: Any, kernel: str = GEMM, dur_ms: float = 20.0, properties: Any = None) -> Case:
    """One kernel a lap; from 30 ms on, 5 ms of it beside a kernel on another stream."""
    made = waiting(Made(properties=LIMITS if properties is None else properties))
    for lap in made.each():
        launch(made, kernel, lap + 15.0, dur_ms)
        launch(made, MUL, lap + 30.0, 10.0, lane=SIDE)
    return with_grids(made.case(), {} if args is None else {kernel: args})


def test_blocks_over_multiprocessors_of_the_time_alone() -> None:
    """27 blocks on 108 multiprocessors, 15 ms alone: three quarters of them could go."""
    found = SMALL.look(running(kernel_args(27)))
    assert isinstance(found, Finding)
    assert found.bound_ns == round(15 * MS * 81 / 108)
    assert found.share == pytest.approx(0.1125)
    assert found.sentence == (
        "Kernels with fewer blocks than multiprocessors take 15.0 of each 100 ms lap (15 %) alone: "
        "1 kernel a lap of mean 20.0 ms; at most 11.2 ms of it could go."
    )
    assert found.why[0] == "27 blocks on 108 multiprocessors"


@pytest.mark.parametrize(
    "grid", [[2**70, 1, 1], [2**31, 1, 1], [2**31 - 1] * 3, [-4, 1, 1], [0, 1, 1], ["a"], "1", 1.5]
)
def test_what_is_no_grid_tells_nothing(grid: Any) -> None:
    args = kernel_args(27) | {"grid": grid}
    assert isinstance(SMALL.look(running(args)), Abstention)
    assert isinstance(WAVES.look(running(args)), Abstention)


@pytest.mark.parametrize("key", ["numSms", "maxThreadsPerMultiprocessor", "computeMajor"])
@pytest.mark.parametrize("value", [2**70, -1, 0, "108", None, 1.5, True])
def test_absurd_properties_tell_nothing(key: str, value: Any) -> None:
    case = running(kernel_args(2000), properties=LIMITS | {key: value})
    for cause in (SMALL, WAVES):
        assert not isinstance(cause.look(case), Finding)


@given(st.tuples(*[st.integers(1, 2**62)] * 2), st.integers(1, 2**62))
def test_a_part_lost_needs_more_than_64_bits(two: tuple[int, int], ns: int) -> None:
    lost, whole = min(two), max(two)
    found = part_lost(np.array([ns]), np.array([lost]), np.array([whole]))
    assert found.tolist() == [ns * lost // whole]
    assert 0 <= int(found[0]) <= ns


@pytest.mark.parametrize(("capability", "fit"), [((8, 0), 32), ((8, 6), 16), ((8, 9), 24)])
def test_a_multiprocessor_takes_so_many_blocks(capability: tuple[int, int], fit: int) -> None:
    """Blocks of one warp: 2048 threads are room for 64."""
    major, minor = capability
    properties = LIMITS | {"computeMajor": major, "computeMinor": minor}
    case = running(kernel_args(9000, threads=32, registers=32), properties=properties)
    found = grids(gpu_views(case)[0])
    assert found is not None
    assert found.resident[0] == fit


def test_as_many_blocks_as_multiprocessors_are_enough() -> None:
    clear = SMALL.look(running(kernel_args(108)))
    assert isinstance(clear, Clear)
    assert clear.why == (
        "kernels with fewer blocks than multiprocessors lose 0.0 % of the lap, below 3.0 %"
    )


def test_short_kernels_are_not_looked_at() -> None:
    case = running(None, dur_ms=0.009)
    both = with_grids(case, {GEMM: kernel_args(1), MUL: kernel_args(108)})
    clear = SMALL.look(both)
    assert isinstance(clear, Clear)
    assert " lose 0.0 % of the lap" in clear.why


def test_the_last_wave() -> None:
    """128 threads and 64 registers: 2048 / 128 = 16 blocks by threads, 65536 / (64 x 128) = 8 by
    registers. 864 fit; 1080 are 1.25 waves of two: 15 ms x 0.75 / 2 could go."""
    found = WAVES.look(running(kernel_args(1080, threads=128)))
    assert isinstance(found, Finding)
    assert found.bound_ns == round(15 * MS * 0.75 / 2)
    assert found.why[0] == "the one that loses most: 1080 blocks / (108 x 8) = 1.25 waves"
    assert found.sentence.startswith(
        "Products whose last wave of blocks is not full take 15.0 of each 100 ms lap (15 %) alone"
    )


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "fit"),
    [
        (1024, 32, 0, 2),
        (256, 255, 0, 1),
        (256, 128, 0, 2),
        (384, 168, 0, 1),
        (128, 16, 81_920, 2),
        (128, 16, 83_000, 1),
        (96, 40, 0, 16),
    ],
)
def test_blocks_that_fit(threads: int, registers: int, shared: int, fit: int) -> None:
    """By hand: 384 threads of 168 registers are 12 warps of 21 x 256; each quarter's 16,384
    registers hold 3 of them, so that one block fits. 81,920 bytes and 1,024 of CUDA's own fit
    twice into 167,936, 83,000 do not, and 96 threads of 40 registers: 4 x 12 warps, 3 a block."""
    case = running(kernel_args(5000, threads, registers, shared))
    found = grids(gpu_views(case)[0])
    assert found is not None
    assert set(found.resident.tolist()) == {fit}


def test_whole_waves_and_less_than_one_lose_nothing() -> None:
    for blocks in (864, 1728, 500):
        assert isinstance(WAVES.look(running(kernel_args(blocks, threads=128))), Clear)


def test_only_products_and_no_stream_k() -> None:
    stream_k = "cutlass_80_tensorop_bf16_s16816gemm_stream_k_128x128"
    for kernel in (MUL, stream_k):
        answer = WAVES.look(running(kernel_args(1080, threads=128), kernel=kernel))
        assert isinstance(answer, Clear)


def test_of_a_long_recording_the_first_laps_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two long kernels a lap and room for five: two of four laps, the same mean."""
    monkeypatch.setattr("laptime.causes.kernel_grids.MOST_READ", 5)
    found = SMALL.look(running(kernel_args(27)))
    assert isinstance(found, Finding)
    assert found.bound_ns == round(15 * MS * 81 / 108)
    assert found.events_in_all == 2
    assert found.why[-1] == "over the first 2 of 4 counted laps"


def test_abstain_without_grids() -> None:
    for cause in (SMALL, WAVES):
        answer = cause.look(running(None))
        assert isinstance(answer, Abstention)
        assert answer.missing == ("grid sizes of the kernels",)
    odd = running({"grid": "large"})
    assert isinstance(SMALL.look(odd), Abstention)


def test_abstains_where_what_fits_is_not_told() -> None:
    amd = {"grid": [1080, 1, 1], "block": [128, 1, 1]}
    assert isinstance(WAVES.look(running(amd)), Abstention)
    few = running(kernel_args(1080), properties={"numSms": 108})
    assert isinstance(WAVES.look(few), Abstention)
    assert isinstance(SMALL.look(running(amd)), Clear)


@given(
    st.lists(
        st.tuples(st.integers(0, 40), st.integers(1, 15), st.sampled_from([STREAM, SIDE])),
        min_size=1,
        max_size=12,
    )
)
def test_time_alone_is_the_slow_count(spans: list[tuple[int, int, int]]) -> None:
    """Millisecond by millisecond: who runs by itself."""
    made = Made(lap_ms=50.0, laps=1)
    for start, length, lane in spans:
        launch(made, GEMM, start, length, lane=lane)
    view = gpu_views(made.case())[0]
    assert view.work is not None
    starts, ends = view.work.start_ns // MS, view.work.end_ns // MS
    slow = np.zeros(len(starts), dtype=np.int64)
    for ms in range(50):
        runs = np.flatnonzero((starts <= ms) & (ms < ends))
        if len(runs) == 1:
            slow[runs[0]] += MS
    assert alone_each(view).tolist() == slow.tolist()
