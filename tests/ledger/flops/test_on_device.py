"""Use of a device's peak and the way down to it, on cases whose every time is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from laptime.kernels.names import KernelName
from laptime.ledger.flops import on_device
from laptime.ledger.flops.on_device import DeviceFlops, device_flops
from laptime.ledger.flops.waterfall import Waterfall, waterfall
from laptime.model.rows import Ints
from tests.causes.made import MS, Made

GEMM = KernelName("gemm", "cuBLAS", "gemm", "bf16", None, True, "sm80")
ADD = KernelName("add", "ATen", "elementwise", "bf16")
SIZE = 4096
FLOPS = 2 * SIZE**3
DIMS = [[SIZE, SIZE], [SIZE, SIZE]]


def looked_at(
    made: Made, args: dict[str, Any] | None, decoded: KernelName = GEMM
) -> tuple[DeviceFlops, Waterfall]:
    """Laps of 100 ms: 20 ms idle, then a product of 10 ms and 70 ms of addition."""
    for at in made.each():
        made.account("host_ops", at, at + 20)
        made.op("aten::mm", at, 2)
        call = made.call("cudaLaunchKernel", at + 0.5, 0.5)
        made.activity(decoded.name, at + 20, 10, call=call, decoded=decoded)
        other = made.call("cudaLaunchKernel", at + 3, 0.5)
        made.activity("add", at + 30, 70, call=other, decoded=ADD)
    case = made.case()

    def read(rows: Ints) -> list[dict[str, Any] | None]:
        return [args for _ in np.asarray(rows)]

    case.timeline.rows.read_args = read
    found = device_flops(case.timeline, case.ledger, case.work, case.kernel_names)["gpu0"]
    fall = waterfall(case.ledger, case.ledger.devices[0], found)
    assert fall is not None
    assert fall.window_ns == sum(s.ns for s in fall.steps) + fall.steps[-1].left_ns
    return found, fall


def shapes(dtype: str = "c10::BFloat16") -> dict[str, Any]:
    return {"Input Dims": DIMS, "Input type": [dtype, dtype]}


def test_share_of_peak_is_work_at_peak_over_the_window() -> None:
    found, fall = looked_at(Made(), shapes())
    at_peak_ns = FLOPS / 312e12 * 1e9
    assert found.at_peak_ns == pytest.approx(at_peak_ns)
    assert found.of_peak == pytest.approx(at_peak_ns / (100 * MS))
    assert found.coverage == 1.0
    assert found.flops == pytest.approx(FLOPS)
    family = next(f for f in found.families if f.operation == "gemm")
    assert family.flops_per_s == pytest.approx(FLOPS / 0.010)
    # 3 x 32 MB at 2039 GB/s take 49 us: arithmetic sets the roofline.
    assert family.roofline_ns == pytest.approx(at_peak_ns)
    steps = {s.id: s.ns / fall.laps for s in fall.steps}
    assert steps["host_ops"] == 20 * MS
    assert steps["other_kernels"] == 70 * MS
    assert steps["below_peak"] == pytest.approx(10 * MS - at_peak_ns, abs=1)
    assert fall.useful


def test_memory_sets_the_roofline_of_a_thin_product() -> None:
    thin = {"Input Dims": [[1, SIZE], [SIZE, SIZE]], "Input type": ["c10::BFloat16"] * 2}
    found, _ = looked_at(Made(), thin)
    family = next(f for f in found.families if f.operation == "gemm")
    moved = 2 * (SIZE + SIZE * SIZE + SIZE)
    assert family.bytes == pytest.approx(moved)
    assert family.roofline_ns == pytest.approx(moved / 2039)
    # Which of the two memories this one has is not recorded.
    found, _ = looked_at(Made(device_name="NVIDIA A100-PG509-200"), thin)
    family = next(f for f in found.families if f.operation == "gemm")
    assert (family.at_peak_ns is None, family.roofline_ns) == (False, None)


@pytest.mark.parametrize(
    ("made", "args", "why"),
    [
        (Made(), None, "record_shapes=True"),
        (Made(device_name="NVIDIA Z1"), shapes(), "no specification of NVIDIA Z1"),
        (Made(), shapes("float"), "do not tell whether they go as tf32"),
    ],
)
def test_abstains_with_the_reason(made: Made, args: dict[str, Any] | None, why: str) -> None:
    decoded = KernelName("gemm", "cuBLAS", "gemm") if args and "float" in str(args) else GEMM
    found, fall = looked_at(made, args, decoded if "BFloat16" not in str(args) else GEMM)
    assert found.of_peak is None
    assert why in found.why_not
    assert (fall.useful, fall.why_not) == (False, found.why_not)
    assert [s.id for s in fall.steps] == ["host_ops"]
    assert fall.steps[-1].left_ns == 4 * 80 * MS


def test_more_than_the_peak_is_not_believed() -> None:
    huge = {"Input Dims": [[SIZE * 100, SIZE], [SIZE, SIZE]], "Input type": ["c10::BFloat16"] * 2}
    found, fall = looked_at(Made(), huge)
    assert found.of_peak is None
    assert "more than the specification's peak" in found.why_not
    assert not fall.useful


def test_algorithms_with_fewer_operations_are_left_out() -> None:
    winograd = KernelName("cudnn_winograd_nonfused", "cuDNN", "conv", "bf16", None, True)
    found, _ = looked_at(Made(), shapes(), winograd)
    assert (found.counted_ns, found.of_peak) == (0.0, None)
    family = next(f for f in found.families if f.operation == "conv")
    assert "Winograd" in family.why_not


def test_threads_have_none() -> None:
    case = Made(cpu=True)
    case.op("aten::mm", 0, 5)
    made = case.case()
    assert device_flops(made.timeline, made.ledger, made.work, made.kernel_names) == {}
    assert waterfall(made.ledger, made.ledger.devices[0], None) is None


def test_long_recordings_are_read_of_their_first_laps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means and the waterfall are then those of the laps that were read, and say so."""
    whole, _ = looked_at(Made(), shapes())
    monkeypatch.setattr(on_device, "ENOUGH_KERNELS", 1)
    monkeypatch.setattr(on_device, "FEWEST_LAPS", 2)
    part, fall = looked_at(Made(), shapes())
    assert whole.laps == whole.of_laps == part.of_laps > 2
    assert (part.laps, fall.laps, fall.window_ns) == (2, 2, 200 * MS)
    assert part.at_peak_ns == pytest.approx(whole.at_peak_ns)
    assert part.windows == whole.windows[:2]
