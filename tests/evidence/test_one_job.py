"""Files read into one run that do not look like one job: said, in which files, never refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from laptime.evidence.one_job import doubts
from laptime.model.rows import Rows
from laptime.model.run import Device, Timeline

SECOND = 1_000_000_000
BEGIN = 1_700_000_000 * SECOND


def rank(
    source: str, number: int | None, *, world: int | None = 2, at_s: float = 0, **fields: Any
) -> Timeline:
    """A recording of one second."""
    start = np.array([0, SECOND], dtype=np.int64)
    none = np.zeros(2, dtype=np.int64)
    timeline = Timeline(
        id=source,
        source=source,
        rows=Rows(start, none, none, ["f"], none, [""], none, none, none),
        lanes=[],
        devices=[Device(f"{source}/gpu0", 0, uuid=f"GPU-{source}")],
        origin_ns=BEGIN + int(at_s * SECOND),
        rank=number,
        world_size=world,
    )
    return replace(timeline, **fields)


def test_ranks_of_one_job_raise_no_doubt() -> None:
    assert doubts([rank("a", 0), rank("b", 1, at_s=0.5)]) == []
    assert doubts([rank("a", 0), rank("b", 1, at_s=60)]) == []
    assert doubts([rank("a", None)]) == []
    assert doubts([rank("a", None), rank("a", None, at_s=10**6)]) == []


def test_one_rank_in_two_files() -> None:
    assert doubts([rank("a", 0), rank("b", 1), rank("c", 0)]) == [
        "rank 0 appears in 2 files: a, c; each is kept and reported by itself"
    ]


def test_recordings_far_apart_name_both_and_how_far() -> None:
    found = doubts([rank("a", 0), rank("b", 1, at_s=7201), rank("c", 2, at_s=7202, world=None)])
    assert found[-1] == (
        "recordings lie apart: b begins 2.0 h after a has ended; are they of one capture of one "
        "job?"
    )


def test_clocks_without_an_epoch_beside_clocks_with_one() -> None:
    assert doubts([rank("a", 0), rank("b", 1, epoch=False, origin_ns=5)]) == [
        "b: times are not of the epoch as those of the other files are; they cannot be put on one "
        "axis"
    ]


@pytest.mark.parametrize(
    ("timelines", "said"),
    [
        (
            [rank("a", 0, world=2), rank("b", 1, world=8)],
            "files disagree on the number of ranks (2 in a; 8 in b); are they of one job?",
        ),
        (
            [rank("a", 0), rank("b", 1), rank("c", 5)],
            "c: rank 5 where the job has 2 ranks; are the files of one job?",
        ),
        (
            [rank("a", 0), rank("b", None)],
            "1 of the files says no rank (b) where others do; are they of one job?",
        ),
        (
            [rank("a", None, world=None), rank("b", None, world=None)],
            "none of the 2 files says its rank: whether they are of one job cannot be told; each "
            "is reported by itself",
        ),
        (
            [rank("a", 0, vendor="nvidia"), rank("b", 1, vendor="amd")],
            "devices are of several makers (amd, nvidia); are they of one job?",
        ),
        (
            [
                rank("a", 0, facts={"cuda_runtime_version": 12040}),
                rank("b", 1, facts={"cuda_runtime_version": 12080}),
            ],
            "files disagree on cuda_runtime_version (12040, 12080); are they of one job?",
        ),
        ([rank("a", 0, world=4), rank("b", 3, world=4)], "2 of 4 ranks have no file: 1, 2"),
    ],
)
def test_what_does_not_fit(timelines: list[Timeline], said: str) -> None:
    assert doubts(timelines) == [said]


def test_one_device_in_two_files() -> None:
    device = [Device("gpu0", 0, uuid="GPU-7")]
    assert doubts([rank("a", 0, devices=device), rank("b", 1, devices=device, at_s=0.5)]) == [
        "device GPU-7 is used by processes of 2 files at one time (a, b): another process's work "
        "shows as idle time"
    ]
    assert doubts([rank("a", 0, devices=device), rank("b", 1, devices=device, at_s=2)]) == []
