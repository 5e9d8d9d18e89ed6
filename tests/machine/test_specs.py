"""Device specifications: attributes win, figures carry their source, nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

from laptime.machine.specifications import CHIPS, Chip
from laptime.machine.specs import spec_of
from laptime.model.run import Device


def device(name: str | None, **properties: Any) -> Device:
    return Device("gpu0", 0, name, properties=properties)


def hopper(sms: int = 132) -> dict[str, Any]:
    return {"computeMajor": 9, "computeMinor": 0, "numSms": sms, "warpSize": 32}


@pytest.mark.parametrize(
    ("name", "properties", "fp32", "tf32", "bf16"),
    [
        ("NVIDIA H100 80GB HBM3", hopper(), 67.0, 494.5, 989.0),
        ("NVIDIA H100 PCIe", hopper(114), 51.0, 378.0, 756.0),
        ("NVIDIA H200", hopper(), 67.0, 494.5, 989.0),
        (
            "NVIDIA A100-SXM4-80GB",
            {"computeMajor": 8, "computeMinor": 0, "numSms": 108},
            19.5,
            156.0,
            312.0,
        ),
        (
            "NVIDIA B200",
            {"computeMajor": 10, "computeMinor": 0, "numSms": 148},
            80.0,
            1125.0,
            2250.0,
        ),
        (
            "AMD Instinct MI300X VF",
            {"computeMajor": 9, "computeMinor": 4, "numSms": 304, "warpSize": 64},
            163.4,
            653.7,
            1300.0,
        ),
    ],
)
def test_known_devices(
    name: str, properties: dict[str, Any], fp32: float, tf32: float, bf16: float
) -> None:
    spec = spec_of(device(name, **properties))
    values = {d: p.value for d in ("fp32", "tf32", "bf16") if (p := spec.peak(d)) is not None}
    assert values == {"fp32": fp32, "tf32": tf32, "bf16": bf16}
    figure = spec.peak("tf32")
    assert figure is not None
    assert (figure.unit, figure.kind) == ("TFLOP/s", "specification")
    assert figure.source
    assert figure.form_factor


def test_attributes_win_over_the_table() -> None:
    cut_down = spec_of(device("NVIDIA H100 80GB HBM3", **hopper(sms=78)))
    assert cut_down.peaks == {}
    assert cut_down.matrix_dtypes == frozenset({"tf32", "bf16", "fp16"})


def test_unknown_chip_has_attributes_only() -> None:
    spec = spec_of(device("NVIDIA Z1", computeMajor=12, computeMinor=0, warpSize=32))
    assert spec.matrix_dtypes == frozenset({"tf32", "bf16", "fp16"})
    assert spec.peak("fp32") is None


@pytest.mark.parametrize(("major", "minor"), [(7, 0), (7, 5)])
def test_volta_and_turing_take_fp16_only(major: int, minor: int) -> None:
    spec = spec_of(device("Tesla X", computeMajor=major, computeMinor=minor))
    assert spec.matrix_dtypes == frozenset({"fp16"})


def test_turing_without_tensor_cores() -> None:
    spec = spec_of(device("NVIDIA GeForce GTX 1660", computeMajor=7, computeMinor=5))
    assert spec.matrix_dtypes == frozenset()


def test_pascal_has_none() -> None:
    assert (
        spec_of(device("Tesla P100", computeMajor=6, computeMinor=0)).matrix_dtypes == frozenset()
    )


def test_a_wavefront_of_64_is_amd_whatever_the_capability_says() -> None:
    nameless = spec_of(
        device("", computeMajor=9, computeMinor=4, warpSize=64, numSms=304), "nvidia"
    )
    assert nameless.vendor == "amd"
    assert nameless.matrix_dtypes == frozenset({"tf32", "bf16", "fp16"})
    assert nameless.peaks == {}
    assert nameless.name is None


def test_gfx9_0_is_told_apart_by_name_only() -> None:
    same = {"computeMajor": 9, "computeMinor": 0, "warpSize": 64, "numSms": 104}
    assert spec_of(device("AMD Radeon Graphics", **same)).matrix_dtypes is None
    assert spec_of(device("AMD Instinct MI210", **same)).matrix_dtypes == frozenset(
        {"bf16", "fp16"}
    )


@pytest.mark.parametrize("major", ["9", None, True, 9.0])
def test_odd_attributes_are_not_known(major: Any) -> None:
    assert spec_of(device("NVIDIA Z1", computeMajor=major)).matrix_dtypes is None


def test_nothing_recorded() -> None:
    spec = spec_of(device(None))
    assert (spec.vendor, spec.matrix_dtypes, spec.peaks) == (None, None, {})


GB = 10**9


@pytest.mark.parametrize(
    ("name", "properties", "gb_per_s"),
    [
        ("NVIDIA A100-SXM4-80GB", {"totalGlobalMem": 85_899_345_920}, 2039),
        ("NVIDIA A100-SXM4-40GB", {}, 1555),
        ("NVIDIA A100-PG509-200", {"totalGlobalMem": 42_506_321_920}, 1555),
        ("NVIDIA A100-PG509-200", {}, None),
        ("NVIDIA A100-PCIE-40GB", {}, 1555),
        ("NVIDIA A100 80GB PCIe", {"totalGlobalMem": 84_987_740_160}, 1935),
        ("Tesla V100-DGXS-32GB", {"totalGlobalMem": 34_084_028_416}, 900),
        ("NVIDIA B200", {"totalGlobalMem": 191_503_138_816}, 8000),
        ("NVIDIA H100 80GB HBM3", {"totalGlobalMem": 85_018_279_936}, 3350),
        ("NVIDIA H100 80GB HBM3", {"totalGlobalMem": 10 * GB}, None),
        ("AMD Instinct MI300X", {"totalGlobalMem": 206_141_652_992, "warpSize": 64}, 5300),
        ("AMD Instinct MI250X", {"warpSize": 64}, 1638),
        ("AMD Radeon Graphics", {"warpSize": 64}, None),
    ],
)
def test_bandwidth_is_that_of_the_memory_it_has(
    name: str, properties: dict[str, Any], gb_per_s: float | None
) -> None:
    major = {"A": 8, "T": 7, "B": 10, "H": 9}[name.removeprefix("NVIDIA ")[0]]
    if "MI300X" in name:
        properties = {**properties, "computeMajor": 9, "computeMinor": 4}
    elif "AMD" not in name:
        properties = {**properties, "computeMajor": major, "computeMinor": 0}
    found = spec_of(device(name, **properties)).bandwidth
    assert (found.value if found else None) == gb_per_s
    if found:
        assert (found.unit, found.kind) == ("GB/s", "specification")
        assert found.source


def test_v100_of_dgx_station_is_known() -> None:
    spec = spec_of(
        device("Tesla V100-DGXS-32GB", computeMajor=7, computeMinor=0, numSms=80, warpSize=32)
    )
    # 80 SMs at 1530 MHz: 64 fp32 units and 8 x 64 fp16 multiply-adds of tensor cores in each.
    assert spec.peaks["fp32"].value == pytest.approx(80 * 64 * 2 * 1.53e9 / 1e12, rel=0.005)
    assert spec.peaks["fp16"].value == pytest.approx(80 * 512 * 2 * 1.53e9 / 1e12, rel=0.005)


def test_each_name_is_one_chip_s() -> None:
    names = ["Tesla V100-SXM2-32GB", "Tesla V100-PCIE-16GB", "Tesla T4", "NVIDIA A10", "NVIDIA L4"]
    names += ["NVIDIA A100 80GB PCIe", "NVIDIA A100-SXM4-40GB", "NVIDIA A30", "NVIDIA A40"]
    names += ["NVIDIA RTX A6000", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4090"]
    names += ["NVIDIA L40", "NVIDIA L40S", "NVIDIA H100 PCIe", "NVIDIA H200", "NVIDIA B200"]
    names += ["AMD Instinct MI210", "AMD Instinct MI250", "AMD Instinct MI250X"]
    names += ["AMD Instinct MI300X VF", "NVIDIA H100 80GB HBM3", "Tesla V100-DGXS-16GB"]
    for name in names:
        assert len([c for c in CHIPS if c.name.search(name)]) == 1, name
    for other in ("NVIDIA A1000", "NVIDIA A10G", "NVIDIA H200 NVL", "NVIDIA GeForce RTX 4090 D"):
        assert not [c for c in CHIPS if c.name.search(other)], other


@pytest.mark.parametrize("chip", CHIPS, ids=lambda c: c.form_factor)
def test_figures_are_in_order(chip: Chip) -> None:
    order = [chip.peaks[d] for d in ("fp32", "tf32", "bf16", "fp8") if d in chip.peaks]
    assert order == sorted(order)
    assert chip.source
    assert chip.memory
