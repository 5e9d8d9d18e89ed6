"""Device specifications: attributes win, figures carry their source, nothing is guessed."""

from __future__ import annotations

from typing import Any

import pytest

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
    assert (figure.unit, figure.kind) == ("TFLOP/s", "datasheet")
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
