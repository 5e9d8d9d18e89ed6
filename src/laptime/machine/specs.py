"""What a device is known to be able to do: matrix units by its attributes, peaks by its data sheet.

Attributes that the driver recorded win over this table: a row is used only if it agrees with them.
A chip that is not in the table has attributes and no peaks; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from laptime.model.run import Device


@dataclass(frozen=True)
class Figure:
    """One figure with its provenance. ``kind``: "datasheet", "paper" or "measured".

    Peaks are dense (no sparsity). ``clock_mhz`` is the clock it holds at, None where not stated.
    """

    value: float
    unit: str
    source: str
    kind: str
    form_factor: str
    clock_mhz: int | None = None


@dataclass(frozen=True)
class DeviceSpec:
    """One device: ``matrix_dtypes`` its matrix units take (None: not known; empty: it has none),
    with ``matrix_source`` saying how that is known, and dense ``peaks`` by data type."""

    name: str | None
    vendor: str | None
    matrix_dtypes: frozenset[str] | None
    matrix_source: str
    peaks: Mapping[str, Figure] = field(default_factory=dict)

    def peak(self, dtype: str) -> Figure | None:
        """Dense peak of a data type in TFLOP/s; None where no source gives it."""
        return self.peaks.get(dtype)


@dataclass(frozen=True)
class _Row:
    """A chip of the table: how the driver names it, what it must look like, its peaks."""

    name: re.Pattern[str]
    form_factor: str
    units: int
    capability: tuple[int, int]
    source: str
    peaks: Mapping[str, float]
    clock_mhz: int | None = None


_ML_ENGINEERING = "vendor data sheets as collected in stas00/ml-engineering (2026-08)"
_VOLTA = "NVIDIA V100 data sheet"
_TURING = "NVIDIA T4 data sheet"
_ADA = "NVIDIA L4 data sheet"

_TABLE: Sequence[_Row] = (
    _Row(
        re.compile(r"V100-SXM2"),
        "V100 SXM2",
        80,
        (7, 0),
        _VOLTA,
        {"fp32": 15.7, "fp16": 125.0},
    ),
    _Row(
        re.compile(r"V100-PCIE"),
        "V100 PCIe",
        80,
        (7, 0),
        _VOLTA,
        {"fp32": 14.0, "fp16": 112.0},
    ),
    _Row(re.compile(r"\bT4\b"), "T4", 40, (7, 5), _TURING, {"fp32": 8.1, "fp16": 65.0}),
    _Row(
        re.compile(r"A100(-|\s)(SXM|PCIE|PCIe|PG509|80GB|40GB)"),
        "A100",
        108,
        (8, 0),
        _ML_ENGINEERING,
        {"fp32": 19.5, "tf32": 156.0, "bf16": 312.0, "fp16": 312.0},
    ),
    _Row(re.compile(r"\bL4\b"), "L4", 58, (8, 9), _ADA, {"fp32": 30.3, "bf16": 121.0}),
    _Row(
        re.compile(r"\bL40S\b"),
        "L40S",
        142,
        (8, 9),
        _ML_ENGINEERING,
        {"fp32": 91.6, "tf32": 183.0, "bf16": 362.0, "fp16": 362.0},
    ),
    _Row(
        re.compile(r"H100 80GB HBM3"),
        "H100 SXM",
        132,
        (9, 0),
        _ML_ENGINEERING,
        {"fp32": 67.0, "tf32": 494.5, "bf16": 989.0, "fp16": 989.0},
        1830,
    ),
    _Row(
        re.compile(r"H100 PCIe"),
        "H100 PCIe",
        114,
        (9, 0),
        _ML_ENGINEERING,
        {"fp32": 51.0, "tf32": 378.0, "bf16": 756.0, "fp16": 756.0},
    ),
    _Row(
        re.compile(r"\bH200\b(?! NVL)"),
        "H200 SXM",
        132,
        (9, 0),
        _ML_ENGINEERING,
        {"fp32": 67.0, "tf32": 494.5, "bf16": 989.0, "fp16": 989.0},
        1830,
    ),
    _Row(
        re.compile(r"\bB200\b"),
        "B200 SXM",
        148,
        (10, 0),
        _ML_ENGINEERING,
        {"fp32": 80.0, "tf32": 1125.0, "bf16": 2250.0, "fp16": 2250.0},
    ),
    _Row(
        re.compile(r"MI300X"),
        "MI300X",
        304,
        (9, 4),
        _ML_ENGINEERING,
        {"fp32": 163.4, "tf32": 653.7, "bf16": 1300.0, "fp16": 1300.0},
    ),
)

AMD_WARP = 64
"""Threads of a wavefront on AMD's compute chips; a warp has 32 everywhere else."""


def spec_of(device: Device, vendor: str | None = None) -> DeviceSpec:
    """What is known of a device, from its recorded attributes and name.

    ``vendor`` is the timeline's; the attributes decide where they tell (a wavefront of 64 threads
    is AMD's: its capability 9.4 is not NVIDIA's 9.0).
    """
    made_by = _vendor(device, vendor)
    dtypes, source = _matrix(device, made_by)
    row = next((r for r in _TABLE if _is(r, device)), None)
    peaks: dict[str, Figure] = {}
    if row is not None and dtypes is not None:
        peaks = {
            dtype: Figure(value, "TFLOP/s", row.source, "datasheet", row.form_factor, row.clock_mhz)
            for dtype, value in row.peaks.items()
        }
    return DeviceSpec(device.name or None, made_by, dtypes, source, peaks)


def _vendor(device: Device, vendor: str | None) -> str | None:
    """Maker of the device: by its warp, then its name, then the timeline's word."""
    if _whole(device.properties, "warpSize") == AMD_WARP:
        return "amd"
    name = (device.name or "").lower()
    for word, made_by in (
        ("amd", "amd"),
        ("radeon", "amd"),
        ("nvidia", "nvidia"),
        ("tesla", "nvidia"),
    ):
        if word in name:
            return made_by
    return vendor


def _matrix(device: Device, vendor: str | None) -> tuple[frozenset[str] | None, str]:
    """Formats of the matrix units, and how they are known."""
    major = _whole(device.properties, "computeMajor")
    minor = _whole(device.properties, "computeMinor")
    if vendor == "nvidia" and major is not None:
        said = f"compute capability {major}.{minor or 0} as recorded"
        if major < 7:
            return frozenset(), said
        if major == 7:
            # GTX 16xx reports 7.5 without tensor cores; the driver says nothing more of it.
            absent = "GTX 16" in (device.name or "")
            return frozenset() if absent else frozenset({"fp16"}), said
        return frozenset({"tf32", "bf16", "fp16"}), said
    if vendor == "amd":
        name = device.name or ""
        if (major, minor) == (9, 4):
            return frozenset({"tf32", "bf16", "fp16"}), "gfx942 by the recorded capability 9.4"
        if (major, minor) == (9, 5):
            return frozenset({"bf16", "fp16"}), "gfx950 by the recorded capability 9.5"
        # 9.0 is gfx900 to gfx90a alike: only the name tells the CDNA chips from the older ones.
        if re.search(r"\bMI(100|2[15]0X?)\b", name):
            return frozenset({"bf16", "fp16"}), f"CDNA by its name {name!r}"
    return None, "not told by the recorded attributes"


def _is(row: _Row, device: Device) -> bool:
    """Whether a row's name fits and nothing recorded contradicts the row."""
    if not row.name.search(device.name or ""):
        return False
    units = _whole(device.properties, "numSms")
    capability = (
        _whole(device.properties, "computeMajor"),
        _whole(device.properties, "computeMinor"),
    )
    return units in (None, row.units) and (None in capability or capability == row.capability)


def _whole(properties: Mapping[str, Any], key: str) -> int | None:
    """An attribute that is a whole number; None where it is absent or something else."""
    value = properties.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
