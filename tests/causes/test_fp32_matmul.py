"""fp32 products: only where the device has matrix units, and bounded by its sourced peaks."""

from __future__ import annotations

from typing import Any

import pytest

from laptime.causes.case import Abstention, Clear, Finding, Need
from laptime.causes.fp32_matmul import CAUSE
from laptime.causes.registry import outcome
from laptime.kernels.names import KernelName
from tests.causes.made import A100, ALL_NEEDS, MS, SIDE, V100, Made

SGEMM = KernelName("ampere_sgemm_128x64_tn", "cuBLAS", "gemm", "fp32", tensor_core=False)
TF32 = KernelName("cutlass_80_tensorop_s1688gemm", "CUTLASS", "gemm", "tf32", tensor_core=True)
VAGUE = KernelName("some_gemm_kernel", "cuBLAS", "gemm", "fp32", tensor_core=None)


def multiplying(kernel: KernelName = SGEMM, **device: Any) -> Made:
    """40 ms of products a lap, of which 10 ms run beside an elementwise kernel."""
    made = Made(**device)
    for lap in made.each():
        made.activity(kernel.name, lap + 10.0, 40.0, decoded=kernel)
        made.activity("elementwise", lap + 40.0, 20.0, lane=SIDE)
    return made


def test_bound_by_the_peaks_of_a_known_device() -> None:
    found = CAUSE.look(multiplying().case())
    assert isinstance(found, Finding)
    assert found.bound_ns == round(30 * MS * (1 - 19.5 / 156))
    assert found.sentence == (
        "Products and convolutions in fp32 take 30.0 of each 100 ms lap (30 %) on a device whose "
        "matrix units take tf32, bf16, fp16; at most 26.2 ms of it could go."
    )
    assert "x (1 - 19.5 / 156 TFLOP/s, fp32 / tf32 dense, specification" in found.formula
    assert found.share == pytest.approx(0.3)


def test_whole_time_is_the_bound_where_peaks_are_not_known() -> None:
    found = CAUSE.look(multiplying(device_name="NVIDIA Z999", properties=A100).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == 30 * MS
    assert "no dense peaks of NVIDIA Z999 are known" in found.formula
    assert found.sentence.endswith(
        "how much of it could go is not known, since no dense peaks of NVIDIA Z999 are known."
    )


def test_volta_has_fp16_only() -> None:
    found = CAUSE.look(multiplying(device_name="Tesla V100-SXM2-32GB", properties=V100).case())
    assert isinstance(found, Finding)
    assert found.bound_ns == round(30 * MS * (1 - 15.7 / 125))
    assert "take fp16" in found.sentence
    assert "float16" in found.next_step[0]


@pytest.mark.parametrize("kernel", [TF32, VAGUE])
def test_tensor_core_kernels_and_vague_names_are_not_flagged(kernel: KernelName) -> None:
    clear = CAUSE.look(multiplying(kernel).case())
    assert isinstance(clear, Clear)
    assert clear.why == "fp32 products without tensor cores take 0.0 % of the lap, below 5.0 %"


def test_a_device_without_matrix_units_is_clear() -> None:
    pascal = {"computeMajor": 6, "computeMinor": 0, "warpSize": 32}
    clear = CAUSE.look(multiplying(device_name="Tesla P100", properties=pascal).case())
    assert isinstance(clear, Clear)
    assert clear.why == "no device with matrix units"


def test_abstains_where_attributes_do_not_tell() -> None:
    amd = {"computeMajor": 9, "computeMinor": 0, "warpSize": 64}
    answer = CAUSE.look(multiplying(device_name="AMD Radeon Graphics", properties=amd).case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("whether the device has matrix units",)


def test_abstains_without_device_properties() -> None:
    answer = outcome(CAUSE, multiplying().case(ALL_NEEDS - {Need.DEVICE_PROPERTIES}))
    assert isinstance(answer, Abstention)
    assert answer.missing == ("device_properties",)


def test_abstains_where_no_name_could_be_decoded() -> None:
    made = Made()
    made.activity("zzz", 0.0, 300.0)
    answer = CAUSE.look(made.case())
    assert isinstance(answer, Abstention)
    assert answer.missing == ("kernel names that can be decoded",)
