"""The script for a real device, here on the CPU at a small scale: it records, and can be judged.

Whether the findings are right on a device is for the script itself to say, where there is one.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch

from laptime.causes.registry import causes
from tests.gpu.faults import FAULTS, Fault
from tests.gpu.judge import Judged, judged
from tests.gpu.record import main


def test_accepted_findings_exist() -> None:
    assert len(FAULTS) >= 15
    known = {c.id for c in causes()}
    assert {f.name for f in FAULTS if not f.accepted & known} == set()


@pytest.mark.parametrize("fault", [f for f in FAULTS if not f.cuda_only], ids=lambda f: f.name)
@pytest.mark.parametrize("planted", [True, False])
def test_steps_run(fault: Fault, planted: bool) -> None:
    step = fault.build(planted, torch.device("cpu"), 0.005)
    step(0)
    step(1)


def test_records_and_judges(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [f for f in FAULTS if f.name in ("loads_without_workers", "multiplies_in_fp32")]
    monkeypatch.setattr("tests.gpu.record.FAULTS", wanted)
    folder = str(tmp_path)
    assert main([folder, "--device", "cpu", "--scale", "0.01"]) == 0
    recorded = json.loads((tmp_path / "recorded.json").read_text())
    assert [c["name"] for c in recorded["cases"]] == [f.name for f in wanted]
    cases = {c.name: c for c in judged(tmp_path)}
    assert all(c.failed is None for c in cases.values())
    # On the CPU it is the script that is tried, and not the findings.
    for case in cases.values():
        assert case.ratio is not None
        assert case.ratio > 0
        assert case.line().startswith(f"{case.name}: {case.ratio:.2f} x clean, found ")


def test_cases_count_by_their_cost() -> None:
    assert Judged("a", 1.10, "x", ["x"], ()).counts
    assert not Judged("a", 1.09, "x", ["x"], ()).counts
    assert not Judged("a", None, None, ["x"], (), "out of memory").counts
    assert "WRONG" in Judged("a", 2.0, "y", ["x"], ()).line()
