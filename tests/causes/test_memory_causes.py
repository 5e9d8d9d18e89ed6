"""Causes in memory and the collector: page faults, memory nearly used up, garbage collection."""

from __future__ import annotations

from pathlib import Path

import pytest

from laptime.causes.case import Abstention
from tests.builder.capture import CaptureBuilder
from tests.builder.host import MS
from tests.causes.captured import LAP_NS, answer, building, case_of, cleared, found, main
from tests.causes.made import Made

FAULTS, MEMORY, GC = "page-faults", "memory-near-capacity", "gc-pauses"
GIB = 1 << 30


def faulting(faults_per_lap: float, kernel: float) -> CaptureBuilder:
    made = building()
    made.processes = [main(rates={"minflt": faults_per_lap / LAP_NS, "stime": kernel})]
    return made


def test_faults_with_kernel_time_are_found(tmp_path: Path) -> None:
    said = found(FAULTS, case_of(faulting(50_000, 0.25), tmp_path))
    assert said.sentence == (
        "The training process takes 50000 page faults a lap (205 MB in pages of 4 KiB) and spends "
        "25.0 of each 100 ms lap in the kernel (25 %, all threads together)."
    )
    assert said.bound_ns == 25 * MS


def test_few_faults_or_little_kernel_time_are_not(tmp_path: Path) -> None:
    assert "500 page faults" in cleared(FAULTS, case_of(faulting(500, 0.25), tmp_path / "a"))
    assert "4.0 % of its time" in cleared(FAULTS, case_of(faulting(50_000, 0.04), tmp_path / "b"))


def test_faults_that_were_not_counted_are_not_none(tmp_path: Path) -> None:
    made = building()
    made.processes = [main(absent=frozenset({"minflt"}))]
    said = answer(FAULTS, case_of(made, tmp_path))
    assert isinstance(said, Abstention)
    assert said.missing == ("faults and kernel time",)


def remaining(available: int, stall: float) -> CaptureBuilder:
    made = building()
    made.host_levels = {"mem": {"total": 100 * GIB, "available": available}}
    made.host_rates["psi"] = {"cpu": 0.0, "io": 0.0, "memory": stall / 1000}
    return made


def test_little_memory_and_stalls(tmp_path: Path) -> None:
    said = found(MEMORY, case_of(remaining(4 * GIB, 0.2), tmp_path))
    assert said.sentence == (
        "4.0 % of 100.0 GiB (the host's memory) is left; stalls 20 % of the laps' time. The "
        "program's processes hold up to 1.0 GiB (pages that they share are counted for each)."
    )
    assert said.bound_ns == pytest.approx(20 * MS, rel=1e-5)


def test_little_memory_without_stalls_is_a_risk_only_when_very_little(tmp_path: Path) -> None:
    assert "4.0 % of 100.0 GiB" in cleared(MEMORY, case_of(remaining(4 * GIB, 0.0), tmp_path / "a"))
    said = found(MEMORY, case_of(remaining(GIB, 0.0), tmp_path / "b"))
    assert (said.bound_ns, said.share) == (None, None)


def test_a_full_group_that_stalls_for_nothing_is_page_cache(tmp_path: Path) -> None:
    made = remaining(50 * GIB, 0.0)
    made.host_levels["cgroup"] = {"memory_bytes": 10 * GIB, "memory_limit_bytes": 10 * GIB}
    assert "0.0 % of 10.0 GiB (the control group's limit)" in cleared(
        MEMORY, case_of(made, tmp_path)
    )


def test_memory_that_was_not_read_is_not_judged(tmp_path: Path) -> None:
    assert isinstance(answer(MEMORY, case_of(building(), tmp_path)), Abstention)


def collecting(dur_ns: int, generation: int = 2) -> CaptureBuilder:
    made = building()
    for _, start, _ in made.trace.host_laps:
        made.pause(start + 10 * MS, dur_ns, generation)
    return made


def test_collections_are_found_to_the_nanosecond(tmp_path: Path) -> None:
    said = found(GC, case_of(collecting(12_345_678), tmp_path))
    assert said.bound_ns == 12_345_678
    assert said.sentence == (
        "10 garbage collections in 10 laps, 10 of them full (generation 2): they take 12.3 of each "
        "100 ms lap (12 %); the longest lasts 12.3 ms."
    )
    assert said.next_step[0].startswith("a full collection in every lap")
    assert said.events_in_all == 10


def test_short_collections_are_not(tmp_path: Path) -> None:
    why = cleared(GC, case_of(collecting(MS, 0), tmp_path))
    assert why == "garbage collection takes 1.0 % of the lap, below 2.0 %"


def test_a_capture_without_collections_clears_and_a_trace_alone_abstains(tmp_path: Path) -> None:
    assert cleared(GC, case_of(building(), tmp_path)).startswith("garbage collection takes 0.0 %")
    said = answer(GC, Made(cpu=True).case())
    assert isinstance(said, Abstention)
    assert said.missing == ("capture",)
