"""The truth file's own definitions, from laptime's columns, against its printed digits.

Where a digit differs, ``truth_errors`` lists it, and the test shows the truth file to be wrong: the
same columns give its digits in the doubles that its script computed in, and another value in whole
nanoseconds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.in_doubles import quantities
from tests.evidence.measured import Measured, measured, us
from tests.evidence.truth_errors import ERRORS
from tests.evidence_files import evidence_root, kineto_files, kineto_id, needs_evidence, truth

pytestmark = needs_evidence

Read = tuple[dict[str, Any], Measured, str]


@pytest.fixture(scope="module", params=kineto_files(), ids=kineto_id)
def read(request: pytest.FixtureRequest) -> Read:
    path: Path = request.param
    return truth()[kineto_id(path)]["truth"], measured(path), kineto_id(path)


def test_counts_of_items(read: Read) -> None:
    said, m, _ = read
    assert m.scan.root == said["root"]
    assert m.events() == said["events"]
    assert m.x_events_by_category() == said["x_events_by_category"]
    assert m.phases() == said["phases"]
    assert m.flow_events() == said["flow_events"]
    assert m.run.health.lost == 0


def test_steps(read: Read) -> None:
    said, m, _ = read
    assert m.steps() == said["steps"]
    assert len(m.step_rows) == said["n_steps"]
    assert m.step_mean_us() == said.get("step_mean_us")
    assert m.step_median_us() == said.get("step_median_us")


def test_counts_and_sums_of_kernels_and_copies(read: Read) -> None:
    said, m, _ = read
    assert len(m.kernels) == said["kernels"]
    assert m.streams_with_kernels() == said["streams_with_kernels"]
    assert len(m.nccl) == said["nccl_kernels"]
    assert m.sum_us(m.nccl) == said["nccl_sum_us"]
    assert m.memcpy() == said["memcpy"]


def test_lengths_of_device_time(read: Read) -> None:
    said, m, file = read
    ours = {
        "kernel_sum_us": m.sum_us(m.kernels),
        "kernel_union_us": m.union_us(m.kernels),
        "gpu_busy_union_us": m.union_us(m.work),
        "nccl_union_us": m.union_us(m.nccl),
        "nccl_exposed_us": m.nccl_exposed_us(),
    }
    if "gpu_busy_inside_steps_us" in said:
        ours["gpu_busy_inside_steps_us"] = m.gpu_busy_inside_steps_us()
    if "gpu_span_us" in said:
        ours["gpu_span_us"] = m.gpu_span_us()
    wrong = {name: (said[name], value) for name, value in ours.items() if said[name] != value}
    assert wrong == ERRORS.get(file, {})
    if wrong:
        rounded = quantities(m)
        assert {name: rounded[name] for name in wrong} == {n: said[n] for n in wrong}


def test_what_the_file_has(read: Read) -> None:
    said, m, _ = read
    assert m.has() == said["has"]


def test_loader(read: Read) -> None:
    said, m, _ = read
    if "dataloader_next" not in said:
        assert len(m.loader_rows) == 0
        return
    assert m.dataloader_next() == said["dataloader_next"]
    assert m.dataloader_per_step_us() == said["dataloader_per_step_us"]


def test_header(read: Read) -> None:
    said, m, _ = read
    # Entries of one site's scheduler are no facts of a timeline; the scan's header has them.
    ours = m.header()
    raw = {key: json.loads(value) for key, value, _ in m.scan.head if key in said["header"]}
    assert {key: ours.get(key, raw.get(key)) for key in said["header"]} == said["header"]


def test_kernel_sums_are_wrong_by_the_truth_files_own_columns() -> None:
    """Durations in the text have three decimals at most, so that their sum has no more error."""
    at = "kineto/hta/ns_resolution_trace/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz"
    root = evidence_root()
    assert root is not None
    m = measured(root / at)
    assert truth()[at]["truth"]["kernel_sum_us"] == 468173.25
    assert us(int(m.timeline.rows.dur_ns[m.kernels].sum())) == 468153.602


def test_every_error_listed_is_of_a_file_there_is() -> None:
    assert set(ERRORS) <= {kineto_id(p) for p in kineto_files()}


def _one(part: str) -> tuple[dict[str, Any], Measured]:
    path = next(p for p in kineto_files() if part in kineto_id(p))
    return truth()[kineto_id(path)]["truth"], measured(path)


def test_kernels_called_multimem() -> None:
    said, m = _one("b200/eager_trace")
    found = m.kernels_named("multimem")
    assert len(found) == said["multimem_all_reduce_kernels"]["count"]
    assert m.sum_us(found) == said["multimem_all_reduce_kernels"]["sum_us"]


def test_rccl_kernels_under_one_name() -> None:
    said, m = _one("mi300/resnet_act_checkpoint")
    rows = m.timeline.rows
    of = m.nccl[rows.start_ns[m.nccl].argsort(kind="stable")]
    assert [round(us(d), 1) for d in rows.dur_ns[of].tolist()] == said["nccl_kernel_durations_us"]
    assert {rows.name_of(r).split("(")[0] for r in of.tolist()} == {"ncclDevKernel_Generic"}
    mark = list(rows.categories).index("user_annotation")
    marks = [rows.names[i] for i in rows.name[rows.category == mark].tolist()]
    assert sum(n.startswith("nccl:all_reduce") for n in marks) == 6
    assert sum(n.startswith("nccl:broadcast") for n in marks) == 6


def test_critical_path_overlay() -> None:
    said, m = _one("overlaid_critical_path")
    critical = sum(1 for a in m.args if a and a.get("critical") == 1)
    assert critical == said["critical_path"]["x_events_with_args_critical_1"]
    flows = m.flow_events()
    assert flows["critical_path:s"] == said["critical_path"]["flow_pairs_cat_critical_path"]
    assert flows["critical_path:f"] == flows["critical_path:s"]
