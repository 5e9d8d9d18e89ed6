"""Garbage collections as rows and as time of account gc: how many, and on which threads."""

from __future__ import annotations

from laptime.causes.case import Abstention, Clear, Finding
from laptime.causes.gc_pauses import GcPauses
from laptime.model.rows import Kind
from tests.causes.made import SIDE, THREAD, Made

FULL, YOUNG = "Python GC (generation 2)", "Python GC (generation 0)"
FRAME = "<built-in function collect>"


def collecting(*rows: tuple[str, float, float, int], laps: int = 5) -> Made:
    """Laps of 100 ms of which the collector leaves the device idle for 10 ms; the rows lie in each,
    at ms of the lap."""
    made = Made(laps=laps)
    for lap in made.each():
        made.account("gc", lap + 20.0, lap + 30.0)
        for name, at, dur, lane in rows:
            made.row(Kind.PYTHON, name, lap + at, dur, lane)
    return made


def found(made: Made) -> Finding:
    said = GcPauses().look(made.case())
    assert isinstance(said, Finding), said
    return said


def test_a_collection_in_the_frame_that_asks_for_it_is_one_pause() -> None:
    said = found(collecting((FRAME, 19.0, 12.0, THREAD), (FULL, 20.0, 10.0, THREAD)))
    assert said.sentence == (
        "5 garbage collections in 5 laps, 5 of them full (generation 2): the device is idle for "
        "10.0 of each 100 ms lap (10 %); the longest lasts 12.0 ms."
    )
    assert (said.bound_ns, said.share, said.events_in_all) == (10_000_000, 0.1, 5)
    assert said.why == ("1 collection a lap on the thread that feeds it",)
    assert "take gc.collect() out of the lap" in said.next_step[0]


def test_collections_of_a_thread_that_feeds_nothing_are_not_counted() -> None:
    said = found(collecting((YOUNG, 20.0, 10.0, THREAD), (FULL, 50.0, 40.0, SIDE)))
    assert said.sentence == (
        "5 garbage collections in 5 laps: the device is idle for 10.0 of each 100 ms lap (10 %); "
        "the longest lasts 10.0 ms."
    )
    assert {e.dur_ns for e in said.events} == {10_000_000}
    assert "freeze" in said.next_step[0]  # none of them is full: nobody asks for one in each lap


def test_two_collections_one_behind_the_other_are_two() -> None:
    said = found(collecting((FULL, 20.0, 5.0, THREAD), (YOUNG, 25.0, 5.0, THREAD)))
    assert said.sentence.startswith(
        "10 garbage collections in 5 laps, 5 of them full (generation 2): the device is idle for"
    )
    assert said.events_in_all == 10


def test_a_collection_outside_every_counted_lap_has_no_number() -> None:
    """The account tells of the time; no row of the laps tells how many there were."""
    made = collecting()
    made.row(Kind.PYTHON, FULL, 1000.0, 10.0)
    said = found(made)
    assert said.sentence == (
        "Garbage collection in 5 laps: the device is idle for 10.0 of each 100 ms lap (10 %)."
    )
    assert (said.bound_ns, said.events_in_all, said.why) == (10_000_000, 0, ())


def test_little_time_is_cleared_and_no_collection_seen_abstains() -> None:
    made = Made(laps=5)
    made.account("gc", 20.0, 21.0)  # 1 ms of 500: 0.2 %
    assert isinstance(GcPauses().look(made.case()), Abstention)
    made.row(Kind.PYTHON, FULL, 20.0, 1.0)
    said = GcPauses().look(made.case())
    assert isinstance(said, Clear)
    assert said.why.startswith("garbage collection takes 0.2 %")
