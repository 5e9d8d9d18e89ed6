"""Host counters that are missing, read of a part only, or begun anew: no figure is made of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from laptime.causes.case import Abstention
from laptime.causes.counted import counted
from laptime.causes.loader import loader_rows
from laptime.causes.workers import loading
from laptime.model.counters import Series
from laptime.model.rows import I64
from tests.builder.capture import CaptureBuilder, Sampled
from tests.builder.host import MS
from tests.causes.captured import (
    LAP_NS,
    LAPS,
    answer,
    building,
    case_of,
    found,
    main,
    read_case,
    with_workers,
    worker,
)

GIB = 1 << 30


def ints(*values: int) -> I64:
    return np.array(values, dtype=np.int64)


def test_a_total_that_falls_has_no_increase() -> None:
    series = Series(ints(0, 10, 20, 30), ints(100, 200, 50, 60))
    assert series.increase((ints(0), ints(10))) == 100
    assert series.increase((ints(20), ints(30))) == 10
    assert series.increase((ints(5), ints(15))) is None
    assert series.increase((ints(0), ints(30))) is None


def test_what_was_read_is_a_part_of_the_time() -> None:
    series = Series(ints(10, 20), ints(1, 2))
    low, high = series.read_of((ints(0, 15, 30), ints(5, 40, 50)))
    assert (low.tolist(), high.tolist()) == ([15], [20])
    none, _ = Series(ints(10), ints(1)).read_of((ints(0), ints(50)))
    assert not len(none)


def lives(pid: int, made: CaptureBuilder, first: int, last: int, **more: object) -> Sampled:
    """A child that lives from one lap's start to another's end."""
    at = [(start, end) for _, start, end in made.trace.host_laps]
    alive = (made.mono(at[first][0]), made.mono(at[last][1]))
    rates = more.pop("rates", {"run_ns": 0.5, "wait_ns": 0.0})
    return Sampled(pid, 100, rates, alive=alive, **more)  # type: ignore[arg-type]


def test_a_child_without_schedstat_counts_by_its_user_and_kernel_time(tmp_path: Path) -> None:
    """Else what it uses is put down to other programs of the host."""
    made = building()
    gone = frozenset({"run_ns", "wait_ns"})
    made.processes += [Sampled(200, 100, {"utime": 0.75, "stime": 0.25}, absent=gone)]
    of = counted(case_of(made, tmp_path))
    assert of.part(of.counters.processes[200], "run_ns") is None
    assert of.used(of.counters.processes[200]) == pytest.approx(1.0, rel=1e-6)


def test_workers_made_anew_are_not_counted_as_more_at_once(tmp_path: Path) -> None:
    """Two workers in the first half of the laps and two others in the second: two at once."""
    made = building(loader_ns=60 * MS, workers=2)
    first = [lives(pid, made, 0, 4) for pid in (200, 201)]
    second = [lives(pid, made, 6, 9) for pid in (300, 301)]
    case = case_of(with_workers(made, *first, *second), tmp_path)
    said = loading(case, loader_rows(case))
    assert said is not None
    assert said.workers == 2
    assert said.computing == pytest.approx(0.5, abs=0.01)


def test_storage_is_waited_for_only_at_the_ticks_of_the_loader(tmp_path: Path) -> None:
    """State D in the operator's half of each lap is not of the time in which input is awaited."""
    # Ticks every 50 ms from 135 ms before the first lap: odd ones lie 15 ms into a lap, even ones
    # 65 ms into it, when the loader's 40 ms are over.
    for states, reading in (("SD", 1.0), ("DS", 0.0)):
        made = building(loader_ns=40 * MS, workers=1, plain_ns=[25 * MS])
        case = case_of(with_workers(made, worker(200, 0.0, states=states)), tmp_path / states)
        said = loading(case, loader_rows(case))
        assert said is not None
        assert said.while_waiting
        assert said.ticks == LAPS
        assert said.reading == reading


def test_processes_one_after_the_other_do_not_hold_memory_together(tmp_path: Path) -> None:
    made = building()
    made.processes = [main(rss=2 * GIB)]
    made.processes += [lives(pid, made, pid - 200, pid - 200, rss=8 * GIB) for pid in (200, 203)]
    made.host_levels = {"mem": {"total": 100 * GIB, "available": 4 * GIB}}
    made.host_rates["psi"] = {"cpu": 0.0, "io": 0.0, "memory": 0.2 / 1000}
    said = found("memory-near-capacity", case_of(made, tmp_path))
    assert said.sentence.endswith(
        "stalls 20 % of the laps' time. The program's processes hold up to 10.0 GiB (pages that "
        "they share are counted for each)."
    )


def test_a_host_without_pressure_says_that_stalls_are_not_known(tmp_path: Path) -> None:
    made = building()
    made.host_levels = {"mem": {"total": 100 * GIB, "available": GIB}}
    made.host_rates.pop("psi")
    said = found("memory-near-capacity", case_of(made, tmp_path))
    assert said.sentence.startswith(
        "1.0 % of 100.0 GiB (the host's memory) is left; stalls are not known. The program's"
    )
    assert said.bound_ns is None


def test_a_process_whose_totals_begin_anew_is_not_judged(tmp_path: Path) -> None:
    made = building()
    made.processes = [main(run=0.5, wait=0.5)]
    folder = made.write(tmp_path / "capture")
    lines = (folder / "host.jsonl").read_text().splitlines()
    half = len(lines) // 2
    at = '"run_ns": '
    reset = [
        line.replace(at, at + '0, "was": ') if number >= half else line
        for number, line in enumerate(lines)
    ]
    (folder / "host.jsonl").write_text("\n".join(reset) + "\n")
    case = read_case(folder)
    for cause in ("cpu-contention", "cpu-oversubscription", "narrowed-cpu-mask"):
        assert isinstance(answer(cause, case), Abstention)


def test_laps_and_periods_are_what_the_figures_are_over(tmp_path: Path) -> None:
    of = counted(case_of(building(plain_ns=[LAP_NS] * 7), tmp_path))
    assert of.laps == LAPS + 7
    assert of.wall_ns == pytest.approx(of.laps * LAP_NS, rel=1e-3)
