"""Causes of lost CPU: more threads than cores, other programs, quotas, masks, too few threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from laptime.causes.case import Abstention
from tests.builder.capture import CaptureBuilder
from tests.builder.host import MS, US
from tests.causes.captured import LAP_NS, answer, building, case_of, cleared, found, main, worker
from tests.causes.captured import with_workers as workers
from tests.causes.made import Made

OVER, CONTENTION, THROTTLING = "cpu-oversubscription", "cpu-contention", "cpu-throttling"
MASK, FEW = "narrowed-cpu-mask", "too-few-threads"


def crowded() -> CaptureBuilder:
    """Eight threads on four cores: the process uses them all and wants as many again."""
    made = building()
    made.processes = [main(run=4.0, wait=4.0, threads=8)]
    made.host_rates["cpu"] = {"busy_ns": 4.0, "idle_ns": 0.0, "iowait_ns": 0.0, "steal_ns": 0.0}
    made.of_process = {"threads_intraop": 8}
    return made


def test_more_threads_than_cores_are_found_with_what_they_want(tmp_path: Path) -> None:
    said = found(OVER, case_of(crowded(), tmp_path))
    assert said.sentence == (
        "The program's threads want 8 cores and may use 4: those of the training process are "
        "without a CPU for 50 % of the time they want to run (400 ms a lap, all threads together); "
        "it is set to 8 intra-op threads."
    )
    assert said.bound_ns == LAP_NS
    assert said.share == 1.0
    assert "at most 4 in each" in said.next_step[0]


def test_what_others_take_is_not_the_programs_own_crowd(tmp_path: Path) -> None:
    made = building()
    made.processes = [main(run=0.8, wait=1.2)]
    made.host_rates["cpu"] = {"busy_ns": 4.0, "idle_ns": 0.0, "iowait_ns": 0.0, "steal_ns": 0.0}
    case = case_of(made, tmp_path)
    assert "want 2 of 4 cores" in cleared(OVER, case)
    said = found(CONTENTION, case)
    assert said.sentence == (
        "Threads of the training process are without a CPU for 60 % of the time they want to run "
        "(120 ms a lap, all threads together) while the program itself uses 0.8 of its 4 cores: "
        "others use 3.2 cores of the host."
    )
    assert (said.share, said.bound_ns) == (None, None)


def test_a_crowd_of_its_own_is_no_contention(tmp_path: Path) -> None:
    case = case_of(crowded(), tmp_path)
    assert "others use 0 cores" in cleared(CONTENTION, case)


def test_a_quiet_process_is_cleared_of_all(tmp_path: Path) -> None:
    made = building()
    made.host_rates["cgroup"] = {"nr_throttled": 0.0, "throttled_ns": 0.0}
    case = case_of(made, tmp_path)
    assert "without a CPU for 0.0 %" in cleared(OVER, case)
    assert "without a CPU for 0.0 %" in cleared(CONTENTION, case)
    assert cleared(THROTTLING, case) == "throttled 0 times, 0.0 % of the laps' time, below 2.0 %"
    assert cleared(MASK, case) == "the training process may run on 4 of 4 CPUs and uses 0.5 of them"


@pytest.mark.parametrize("cause", [OVER, CONTENTION, MASK])
def test_without_schedstat_they_abstain(cause: str, tmp_path: Path) -> None:
    made = crowded()
    made.processes = [main(4.0, 4.0, absent=frozenset({"wait_ns", "run_ns"}))]
    said = answer(cause, case_of(made, tmp_path))
    assert isinstance(said, Abstention)
    assert said.missing == ("sched",)


@pytest.mark.parametrize("cause", [OVER, CONTENTION, THROTTLING, MASK, FEW])
def test_a_trace_alone_is_not_judged(cause: str) -> None:
    case = Made(cpu=True).case(has=frozenset())
    said = answer(cause, case)
    assert isinstance(said, Abstention)
    assert "capture" in said.missing
    assert "laptime run" in said.supply


def test_too_few_samples_are_none(tmp_path: Path) -> None:
    made = crowded()
    made.tick_ns = 150 * MS
    said = answer(OVER, case_of(made, tmp_path))
    assert isinstance(said, Abstention)
    assert said.missing == ("counters", "sched")


def test_a_quota_that_stops_the_program(tmp_path: Path) -> None:
    made = building(quota=1.5)
    made.host_rates["cgroup"] = {"nr_throttled": 5e-8, "throttled_ns": 0.3}
    said = found(THROTTLING, case_of(made, tmp_path))
    assert said.sentence == (
        "The control group's quota of 1.5 cores stops the program 50 times in 10 laps, for 30.0 of "
        "each 100 ms lap (summed over CPUs)."
    )
    assert said.bound_ns == 30 * MS


def test_no_control_group_no_answer(tmp_path: Path) -> None:
    said = answer(THROTTLING, case_of(building(), tmp_path))
    assert isinstance(said, Abstention)
    assert said.missing == ("throttling of the control group",)


def masked(run: float = 1.0, wait: float = 1.0) -> CaptureBuilder:
    made = building()
    made.of_process = {"affinity": [2]}
    made.processes = [main(run, wait)]
    return made


def test_a_full_mask_with_cores_beside_it(tmp_path: Path) -> None:
    said = found(MASK, case_of(masked(), tmp_path))
    assert said.sentence == (
        "The training process may run on 1 of 4 CPUs and uses 1 of them; the threads want 2."
    )
    assert said.bound_ns == round(0.75 * LAP_NS)


def test_a_mask_that_its_threads_fit(tmp_path: Path) -> None:
    assert "1 of 4 CPUs" in cleared(MASK, case_of(masked(0.9, 0.0), tmp_path))


def test_workers_inside_the_mask_count(tmp_path: Path) -> None:
    made = masked(0.5, 0.1)
    inside = [worker(p, 0.25, 0.5) for p in (201, 202)]
    for one in inside:
        one.cpus = [2]
    said = found(MASK, case_of(workers(made, *inside), tmp_path))
    assert said.sentence.startswith("The training process and its workers may run on 1 of 4 CPUs")


def test_one_thread_for_large_operators(tmp_path: Path) -> None:
    made = building()
    made.of_process = {"threads_intraop": 1, "env": {"OMP_NUM_THREADS": "1"}}
    said = found(FEW, case_of(made, tmp_path))
    assert said.sentence == (
        "1 intra-op thread where 4 cores are there for the process, 3.5 of them idle "
        "(OMP_NUM_THREADS=1): operators of at least 200 us take 100 of each 100 ms lap (100.0 %)."
    )
    assert said.bound_ns == 75 * MS


def test_small_operators_gain_nothing_from_threads(tmp_path: Path) -> None:
    made = CaptureBuilder()
    made.clock_mark()
    for lap in range(10):
        with made.trace.lap_window(lap, made.main):
            for _ in range(1000):
                made.main.op("aten::add", 100 * US)
    made.clock_mark()
    made.processes, made.host_rates = [main()], building().host_rates
    made.of_process = {"threads_intraop": 1}
    assert "large operators take 0.0 % of the lap" in cleared(FEW, case_of(made, tmp_path))


def test_cores_that_others_use_are_not_there(tmp_path: Path) -> None:
    made = building()
    made.of_process = {"threads_intraop": 1}
    made.host_rates["cpu"] = {"busy_ns": 3.9, "idle_ns": 0.1, "iowait_ns": 0.0, "steal_ns": 0.0}
    assert "0.1 of them idle" in cleared(FEW, case_of(made, tmp_path))
