"""The share of the evidence's kernels that is read: time, names, communication."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from laptime.kernels import UNKNOWN, decode, is_comm
from laptime.kernels.operations import DTYPES, LIBRARIES, OPERATIONS
from tests.evidence_files import SKIP_REASON, kineto_files, kineto_id, needs_evidence, truth

FILES: Sequence[object] = kineto_files() or [
    pytest.param(Path("none"), marks=pytest.mark.skip(reason=SKIP_REASON))
]

TIME_SHARE = 0.97
NAME_SHARE = 0.90


def kernels_of(path: Path) -> tuple[Mapping[str, float], Counter[str]]:
    """Time (in the file's own unit) and number of kernels by name."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    document: Any = json.loads(text.decode("utf-8", "replace"), strict=False)
    events = document if isinstance(document, list) else document["traceEvents"]
    spent: defaultdict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    for event in events:
        if event.get("ph") == "X" and str(event.get("cat", "")).lower() == "kernel":
            spent[event["name"]] += float(event["dur"])
            count[event["name"]] += 1
    return spent, count


def is_read(name: str) -> bool:
    seen = decode(name)
    return UNKNOWN not in (seen.library, seen.operation)


@needs_evidence
@pytest.mark.parametrize("path", FILES, ids=kineto_id)
def test_most_kernels_are_read(path: Path) -> None:
    spent, _ = kernels_of(path)
    if not spent:
        pytest.skip("the file holds no kernels")
    unread = sorted(name for name in spent if not is_read(name))
    read_time = sum(time for name, time in spent.items() if is_read(name))
    assert read_time >= TIME_SHARE * sum(spent.values()), unread
    assert len(spent) - len(unread) >= NAME_SHARE * len(spent), unread


@needs_evidence
@pytest.mark.parametrize("path", FILES, ids=kineto_id)
def test_readings_keep_to_the_vocabulary(path: Path) -> None:
    for name in kernels_of(path)[0]:
        seen = decode(name)
        assert seen.library in LIBRARIES or seen.library == UNKNOWN, name
        assert seen.operation in OPERATIONS or seen.operation == UNKNOWN, name
        assert seen.dtype in DTYPES or seen.dtype is None, name


@needs_evidence
@pytest.mark.parametrize("path", FILES, ids=kineto_id)
def test_communication_holds_every_nccl_kernel(path: Path) -> None:
    """The truth counts names with nccl or rccl; symmetric memory's all-reduce has neither word."""
    _, count = kernels_of(path)
    comm = {name: n for name, n in count.items() if is_comm(name)}
    named = Counter({n: c for n, c in count.items() if re.search("nccl|rccl", n, re.I)})
    assert set(comm) >= set(named)
    assert all("multimem_all_reduce" in name for name in set(comm) - set(named))
    facts = truth().get(kineto_id(path), {}).get("truth", {})
    if "nccl_kernels" in facts:
        assert named.total() == facts["nccl_kernels"]
