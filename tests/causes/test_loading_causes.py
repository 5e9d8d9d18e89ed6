"""Waiting for input told apart by what the workers do; slow reads; workers made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from laptime.causes.case import Abstention
from tests.builder.capture import CaptureBuilder, Sampled
from tests.builder.host import MS
from tests.causes.captured import (
    LAP_NS,
    answer,
    building,
    case_of,
    cleared,
    found,
    main,
    with_workers,
    worker,
)

INPUT, READS, REMADE = "input-starvation", "slow-reads", "workers-remade"


def waiting(*workers: Sampled, cores: int = 4) -> CaptureBuilder:
    """60 ms of each lap in the loader."""
    return with_workers(building(60 * MS, len(workers), cores=cores), *workers)


@pytest.mark.parametrize(
    ("workers", "cores", "phrase", "step"),
    [
        (
            [worker(p, 0.9) for p in (201, 202)],
            4,
            "its 2 workers compute 90 %, wait for a CPU 0.0 %, read from storage 0.0 %, sleep 10 % "
            "of that time: too few of them",
            "raise num_workers",
        ),
        (
            [worker(p, 0.2, 0.7) for p in range(201, 209)],
            2,
            "its 8 workers compute 20 %, wait for a CPU 70 %, read from storage 0.0 %, sleep 10 % "
            "of that time: too many for the 2 cores",
            "lower num_workers to at most 2",
        ),
        (
            [worker(p, 0.1, 0.0, "DDDS") for p in (201, 202)],
            4,
            "its 2 workers compute 10 %, wait for a CPU 0.0 %, read from storage 68 %, sleep 22 % "
            "of that time: storage is the limit",
            "read less often",
        ),
        (
            [worker(p, 0.02) for p in (201, 202)],
            4,
            "its 2 workers compute 2.0 %, wait for a CPU 0.0 %, read from storage 0.0 %, sleep "
            "98.0 % of that time: neither CPU nor disk is the limit",
            "find what an item waits for",
        ),
        (
            [worker(201, 0.3, 0.6)],
            4,
            "its worker computes 30 %, waits for a CPU 60 %, reads from storage 0.0 %, sleeps 10 % "
            "of that time: short of CPU beside other threads",
            "lower the threads",
        ),
    ],
    ids=["too few", "too many", "reading", "asleep", "starved"],
)
def test_workers_are_told_apart(
    workers: list[Sampled], cores: int, phrase: str, step: str, tmp_path: Path
) -> None:
    said = found(INPUT, case_of(waiting(*workers, cores=cores), tmp_path))
    assert phrase in said.sentence
    assert said.next_step[0].startswith(step)
    assert said.bound_ns == 60 * MS


def test_a_loader_in_the_training_process_is_told_by_its_thread(tmp_path: Path) -> None:
    made = building(60 * MS)
    made.processes = [main(0.75, 0.125)]
    said = found(INPUT, case_of(made, tmp_path))
    assert "(num_workers 0): it computes 75 %, waits for a CPU 12 %" in said.sentence
    assert "(about 3.2 cores are unused)" in said.next_step[0]


def test_without_counters_the_sentence_is_as_before(tmp_path: Path) -> None:
    made = waiting(worker(201, 0.9))
    made.processes = []
    said = found(INPUT, case_of(made, tmp_path))
    assert said.sentence.endswith("workers already load (num_workers above 0), and are behind.")


def test_short_waits_are_told_over_all_laps(tmp_path: Path) -> None:
    made = waiting(worker(201, 0.9))
    made.tick_ns = 55 * MS
    made.plain_ns = [LAP_NS] * 5
    assert "of that time" in found(INPUT, case_of(made, tmp_path / "a")).sentence
    made = waiting(worker(201, 0.9))
    made.tick_ns = 110 * MS
    made.plain_ns = [LAP_NS] * 5
    assert "sleeps 10 % of the laps" in found(INPUT, case_of(made, tmp_path / "b")).sentence


def test_slow_reads_name_the_wait_and_what_is_read(tmp_path: Path) -> None:
    case = case_of(waiting(*(worker(p, 0.1, 0.0, "D") for p in (201, 202))), tmp_path)
    said = found(READS, case)
    assert said.sentence == (
        "Waiting for input takes 60.0 of each 100 ms lap (60 %), and the loader's workers stand "
        "still for storage in 90 % of the samples' time: together they read 20.0 MB/s from it."
    )
    assert said.bound_ns == pytest.approx(54 * MS, rel=1e-3)


def test_workers_that_compute_read_nothing(tmp_path: Path) -> None:
    case = case_of(waiting(worker(201, 0.9)), tmp_path)
    assert cleared(READS, case) == (
        "the loader's workers stand still for storage in 0.0 % of the samples' time"
    )


def remade(lengths: list[int], starts: list[int]) -> CaptureBuilder:
    """Plain laps of these lengths; a worker is first seen 10 ms into each lap of ``starts``."""
    made = building(plain_ns=lengths)
    first = made.mono(made.trace.host_laps[0][1]) - 10 * MS - sum(lengths)
    made.tick_ns = 10 * MS
    end = made.mono(made.trace.host_laps[-1][2])
    for number, lap in enumerate(starts):
        at = first + sum(lengths[:lap]) + 15 * MS
        one = worker(300 + number, 0.1)
        one.alive = (at, end)
        with_workers(made, one)
    made.events.append({"k": "loader", "num_workers": 1, "persistent_workers": False})
    return made


def test_workers_made_again_cost_what_their_laps_take_more(tmp_path: Path) -> None:
    lengths = [LAP_NS, LAP_NS, 500 * MS, LAP_NS, 500 * MS]
    said = found(REMADE, case_of(remade(lengths, [2, 4]), tmp_path))
    assert said.sentence == (
        "2 workers started in 2 of 15 laps: those laps take 500 ms each, against 100 ms (median of "
        "the others); persistent_workers is False."
    )
    assert said.bound_ns == round(800 * MS / 15)


def test_starts_that_cost_little_or_none_at_all(tmp_path: Path) -> None:
    cheap = cleared(REMADE, case_of(remade([LAP_NS] * 3, [1]), tmp_path / "a"))
    assert (
        cheap == "1 worker started in 1 of 13 laps, which cost 0.0 % of the laps' time, below 5.0 %"
    )
    none = cleared(REMADE, case_of(waiting(worker(201, 0.9)), tmp_path / "b"))
    assert none == "no worker was started inside the laps"


@pytest.mark.parametrize("cause", [READS, REMADE])
def test_they_abstain_without_counters(cause: str, tmp_path: Path) -> None:
    made = waiting(worker(201, 0.9))
    made.processes = []
    assert isinstance(answer(cause, case_of(made, tmp_path)), Abstention)
