"""What a device is known to be able to do: matrix units by its attributes, peaks by its data sheet.

Attributes that the driver recorded win over this table: a row is used only if it agrees with them.
A chip that is not in the table has attributes and no peaks; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laptime.machine.specifications import CHIPS, Chip
from laptime.model.run import Device

KIND = "specification"
"""Kind of every figure of the table."""


@dataclass(frozen=True)
class Figure:
    """One figure with its provenance. ``kind``: "specification", "paper" or "measured".

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
    with ``matrix_source`` saying how that is known, dense ``peaks`` by data type in TFLOP/s and
    the ``bandwidth`` of its memory in GB/s, None where no sheet is known to be this device's."""

    name: str | None
    vendor: str | None
    matrix_dtypes: frozenset[str] | None
    matrix_source: str
    peaks: Mapping[str, Figure] = field(default_factory=dict)
    bandwidth: Figure | None = None

    def peak(self, dtype: str) -> Figure | None:
        """Dense peak of a data type in TFLOP/s; None where no source gives it."""
        return self.peaks.get(dtype)


AMD_WARP = 64
"""Threads of a wavefront on AMD's compute chips; a warp has 32 everywhere else."""


def spec_of(device: Device, vendor: str | None = None) -> DeviceSpec:
    """What is known of a device, from its recorded attributes and name.

    ``vendor`` is the timeline's; the attributes decide where they tell (a wavefront of 64 threads
    is AMD's: its capability 9.4 is not NVIDIA's 9.0).
    """
    made_by = _vendor(device, vendor)
    dtypes, source = _matrix(device, made_by)
    chip = next((c for c in CHIPS if _is(c, device)), None)
    if chip is None or dtypes is None:
        return DeviceSpec(device.name or None, made_by, dtypes, source)
    peaks = {
        dtype: Figure(value, "TFLOP/s", chip.source, KIND, chip.form_factor, chip.clock_mhz)
        for dtype, value in chip.peaks.items()
    }
    return DeviceSpec(device.name or None, made_by, dtypes, source, peaks, _bandwidth(chip, device))


def _bandwidth(chip: Chip, device: Device) -> Figure | None:
    """By the recorded size of memory, else the size in the name, else where there is one only."""
    bytes_ = _whole(device.properties, "totalGlobalMem")
    if bytes_ is not None:
        # What the driver leaves to programs is less than the name says, or counts in GiB.
        fits = [m for m in chip.memory if 0.9 <= bytes_ / (m.capacity_gb * 1e9) <= 1.1]
    else:
        fits = [m for m in chip.memory if f"{m.capacity_gb}GB" in (device.name or "")]
        fits = fits or list(chip.memory)
    if len({m.gb_per_s for m in fits}) != 1:
        return None
    return Figure(fits[0].gb_per_s, "GB/s", fits[0].source, KIND, chip.form_factor)


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


def _is(row: Chip, device: Device) -> bool:
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
