"""The truth file's sets (pairs, repeats, eight ranks of one job), from laptime's columns."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import laptime
from laptime.model.rows import Ints
from tests.evidence.measured import Measured, measured, us
from tests.evidence_files import evidence_root, needs_evidence, truth

pytestmark = needs_evidence


@lru_cache(maxsize=2)
def _read(file: str) -> Measured:
    root = evidence_root()
    assert root is not None
    return measured(root / file)


@pytest.mark.parametrize("side", ["before", "after"])
def test_loader_pair(side: str) -> None:
    said = truth()["_sets"]["resnet50_num_workers_0_to_4"]
    m, values = _read(said[side]), said[f"{side}_values"]
    busy, steps = m.gpu_busy_inside_steps_us(), [s["dur_us"] for s in m.steps()]
    assert {
        "step_mean_us": m.step_mean_us(),
        "step_median_us": m.step_median_us(),
        "kernels": len(m.kernels),
        "kernel_sum_us": m.sum_us(m.kernels),
        "gpu_busy_union_us": m.union_us(m.work),
        "gpu_busy_inside_steps_us": busy,
        "dataloader_next": m.dataloader_next(),
        "dataloader_per_step_us": m.dataloader_per_step_us(),
        "steps_us": steps,
        "gpu_busy_share_of_steps": round(busy / sum(steps), 4),
    } == values


def test_loader_pair_compared() -> None:
    said = truth()["_sets"]["resnet50_num_workers_0_to_4"]
    before, after = _read(said["before"]), _read(said["after"])
    for name in ("mean", "median"):
        a, b = getattr(before, f"step_{name}_us")(), getattr(after, f"step_{name}_us")()
        assert round(100 * (b / a - 1), 2) == said[f"step_{name}_change_percent"]
    assert len(after.kernels) - len(before.kernels) == 96
    assert after.memcpy()["Memset"]["count"] - before.memcpy()["Memset"]["count"] == 66


def test_repeats() -> None:
    said = truth()["_sets"]["sidnb13_repeats"]
    steps = ["/".join(f"{s['dur_us']:.0f}" for s in _read(f).steps()) for f in said["files"]]
    assert said["note"].endswith(f"steps {steps[0]} vs {steps[1]} us")


def test_cross_vendor_pair() -> None:
    said = truth()["_sets"]["qwen_h100_vs_mi300"]
    m = _read(said["b"])
    (step,) = m.steps()
    assert f"({m.union_us(m.work) / 1000:.2f} ms)" in said["note"]
    assert f"({step['dur_us'] / 1000:.2f} ms)" in said["note"]
    assert m.union_us(m.work) > step["dur_us"]


# eight ranks


class Rank:
    """One rank of the job on the clock that the files of one host share."""

    def __init__(self, file: str) -> None:
        m = _read(file)
        rows = m.timeline.rows
        by_start = m.nccl[np.argsort(rows.start_ns[m.nccl], kind="stable")]
        self.names = [rows.name_of(r) for r in by_start.tolist()]
        clock = m.timeline.origin_ns
        self.starts = (rows.start_ns[by_start] + clock).tolist()
        self.ends = (rows.end_ns(by_start) + clock).tolist()
        (step,) = m.step_rows.tolist()
        self.step = (int(rows.start_ns[step]) + clock, int(rows.dur_ns[step]))
        others: Ints = m.kernels[~np.isin(m.kernels, m.nccl)]
        self.kernel_union_us = m.union_us(m.kernels)
        self.other_union_us = m.union_us(others)
        self.nccl_union_us = m.union_us(m.nccl)
        self.rank = m.timeline.rank


@pytest.fixture(scope="module")
def ranks() -> list[Rank]:
    return [Rank(file) for file in truth()["_sets"]["dlrm_8ranks"]["files"]]


def _by_rank(values: list[Any]) -> dict[str, Any]:
    return {str(i): v for i, v in enumerate(values)}


def _whole_us(ns: int) -> int:
    assert ns % 1000 == 0, "these files have whole microseconds"
    return ns // 1000


def test_dlrm_ranks_one_by_one(ranks: list[Rank]) -> None:
    said = truth()["_sets"]["dlrm_8ranks"]
    assert [r.rank for r in ranks] == list(range(8))
    assert _by_rank([us(r.step[1]) for r in ranks]) == said["step_us_by_rank"]
    assert _by_rank([r.kernel_union_us for r in ranks]) == said["kernel_union_us_by_rank"]
    assert _by_rank([r.other_union_us for r in ranks]) == said["non_nccl_kernel_union_us_by_rank"]
    assert _by_rank([r.nccl_union_us for r in ranks]) == said["nccl_union_us_by_rank"]


def test_dlrm_skew_of_steps(ranks: list[Rank]) -> None:
    said = truth()["_sets"]["dlrm_8ranks"]
    starts = [r.step[0] for r in ranks]
    ends = [r.step[0] + r.step[1] for r in ranks]
    offsets = _by_rank([_whole_us(s - min(starts)) for s in starts])
    assert offsets == said["step_start_offset_us_by_rank"]
    assert _whole_us(max(starts) - min(starts)) == said["step_start_skew_us"]
    assert _whole_us(max(ends) - min(ends)) == said["step_end_skew_us"]


def test_dlrm_skew_of_collectives(ranks: list[Rank]) -> None:
    said = truth()["_sets"]["dlrm_8ranks"]["collectives"]
    assert all(r.names == ranks[0].names for r in ranks)
    assert len(ranks[0].names) == len(said)
    for i, expected in enumerate(said):
        starts, ends = [r.starts[i] for r in ranks], [r.ends[i] for r in ranks]
        first, last = starts.index(min(starts)), starts.index(max(starts))
        assert {
            "order": i,
            "collective": expected["collective"],
            "start_skew_us": _whole_us(max(starts) - min(starts)),
            "end_skew_us": _whole_us(max(ends) - min(ends)),
            "first_rank": first,
            "last_rank": last,
            "start_offset_us_by_rank": _by_rank([_whole_us(s - min(starts)) for s in starts]),
            "duration_us_by_rank": _by_rank(
                [_whole_us(e - s) for s, e in zip(starts, ends, strict=True)]
            ),
            "overlap_of_all_ranks_us": _whole_us(min(ends) - max(starts)),
        } == expected
        assert expected["collective"].lower() in ranks[0].names[i].replace("_", "").lower()
        assert _whole_us(max(ends) - min(ends)) <= 7


def test_dlrm_folder_is_one_run_of_eight_ranks() -> None:
    root = evidence_root()
    assert root is not None
    run = laptime.open(root / "kineto" / "param-dlrm-8ranks")
    assert [t.rank for t in run.timelines] == list(range(8))
    assert {t.world_size for t in run.timelines} == {8}
    assert run.health.warnings == []
