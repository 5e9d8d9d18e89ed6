"""Specifications of devices, as data: what the makers' sheets say, with the sheet.

Every figure is a specification, none is measured. Peaks are TFLOP/s of dense products (no sparsity)
with fp32 accumulation where the sheet tells it apart; "fp32" is that of the ordinary units,
"fp32_matrix" that of matrix units where they are faster at fp32 itself (CDNA 2), "fp64" the faster
of the two. A device that reports itself in parts (a die of MI250X) is given as the part. Chips that
are not here are not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Memory:
    """A variant by its memory: capacity in GB, as named; bandwidth in GB/s; where it is from."""

    capacity_gb: int
    gb_per_s: float
    source: str


@dataclass(frozen=True)
class Chip:
    """One device: how the driver names it, what its attributes must be, what its sheet says.

    ``name`` is searched in the driver's name; ``units`` are SMs or compute units and
    ``capability`` is that of the driver: a recorded attribute that differs rules the chip out.
    ``clock_mhz`` is the clock that the peaks hold at, None where the sheet does not say.
    """

    name: re.Pattern[str]
    form_factor: str
    units: int
    capability: tuple[int, int]
    peaks: Mapping[str, float]
    source: str
    memory: Sequence[Memory]
    clock_mhz: int | None = None


_COLLECTED = "vendor data sheets as collected in stas00/ml-engineering (2026-08)"


def _same(*rates: float, of: Sequence[str] = ("bf16", "fp16")) -> dict[str, float]:
    return {dtype: rate for rate in rates for dtype in of}


def _chip(
    name: str,
    form_factor: str,
    units: int,
    capability: tuple[int, int],
    peaks: Mapping[str, float],
    memory: Sequence[tuple[int, float]],
    source: str,
    clock_mhz: int | None = None,
) -> Chip:
    kept = [Memory(gb, rate, source) for gb, rate in memory]
    return Chip(re.compile(name), form_factor, units, capability, peaks, source, kept, clock_mhz)


CHIPS: Sequence[Chip] = (
    _chip(
        r"V100-SXM[23]", "V100 SXM2", 80, (7, 0),
        {"fp64": 7.8, "fp32": 15.7, "fp16": 125.0},
        [(16, 900), (32, 900)], "NVIDIA V100 data sheet",
    ),
    _chip(
        # The sheet gives 500 TFLOP/s of fp16 for four; 125 is 80 SMs x 1024 at the 1530 MHz of
        # SXM2, at which fp32 is 15.7.
        r"V100-DGXS", "V100 of DGX Station", 80, (7, 0),
        {"fp32": 15.7, "fp16": 125.0},
        [(16, 900), (32, 900)],
        "NVIDIA DGX Station data sheet (fp16; fp32 at the same clock), V100 data sheet (memory)",
        1530,
    ),
    _chip(
        r"V100-PCIE", "V100 PCIe", 80, (7, 0),
        {"fp64": 7.0, "fp32": 14.0, "fp16": 112.0},
        [(16, 900), (32, 900)], "NVIDIA V100 data sheet",
    ),
    _chip(
        r"\bT4\b", "T4", 40, (7, 5),
        {"fp32": 8.1, "fp16": 65.0}, [(16, 320)], "NVIDIA T4 product brief",
    ),
    _chip(
        r"A100-(SXM|PG509)", "A100 SXM", 108, (8, 0),
        {"fp64": 19.5, "fp32": 19.5, "tf32": 156.0, **_same(312.0)},
        [(40, 1555), (80, 2039)], "NVIDIA A100 data sheet",
    ),
    _chip(
        r"A100(-|\s)(PCIE|PCIe|80GB PCIe)", "A100 PCIe", 108, (8, 0),
        {"fp64": 19.5, "fp32": 19.5, "tf32": 156.0, **_same(312.0)},
        [(40, 1555), (80, 1935)], "NVIDIA A100 data sheet",
    ),
    _chip(
        r"\bA30\b", "A30", 56, (8, 0),
        {"fp64": 10.3, "fp32": 10.3, "tf32": 82.0, **_same(165.0)},
        [(24, 933)], "NVIDIA A30 data sheet",
    ),
    _chip(
        r"\bA10\b", "A10", 72, (8, 6),
        {"fp32": 31.2, "tf32": 62.5, **_same(125.0)}, [(24, 600)], "NVIDIA A10 data sheet",
    ),
    _chip(
        r"\bA40\b", "A40", 84, (8, 6),
        {"fp32": 37.4, "tf32": 74.8, **_same(149.7)}, [(48, 696)], "NVIDIA A40 data sheet",
    ),
    _chip(
        r"\bRTX A6000\b", "RTX A6000", 84, (8, 6),
        {"fp32": 38.7, "tf32": 77.4, **_same(154.8)}, [(48, 768)], "NVIDIA RTX A6000 data sheet",
    ),
    _chip(
        r"\bRTX 3090\b(?! Ti)", "RTX 3090", 82, (8, 6),
        {"fp32": 35.6, "tf32": 35.6, **_same(71.0)},
        [(24, 936)], "NVIDIA Ampere GA102 white paper",
    ),
    _chip(
        r"\bRTX 4090\b(?! D| Laptop)", "RTX 4090", 128, (8, 9),
        {"fp32": 82.6, "tf32": 82.6, **_same(165.2)},
        [(24, 1008)], "NVIDIA Ada white paper",
    ),
    _chip(
        # 58 of the full AD104's 60 SMs.
        r"\bL4\b", "L4", 58, (8, 9),
        {"fp32": 30.3, "tf32": 60.0, **_same(121.0), "fp8": 242.0},
        [(24, 300)], "NVIDIA L4 data sheet",
    ),
    _chip(
        r"\bL40S\b", "L40S", 142, (8, 9),
        {"fp32": 91.6, "tf32": 183.0, **_same(362.0), "fp8": 733.0}, [(48, 864)], _COLLECTED,
    ),
    _chip(
        r"\bL40\b", "L40", 142, (8, 9),
        {"fp32": 90.5, "tf32": 90.5, **_same(181.0), "fp8": 362.0},
        [(48, 864)], "NVIDIA L40 data sheet",
    ),
    _chip(
        r"H100 80GB HBM3", "H100 SXM", 132, (9, 0),
        {"fp64": 67.0, "fp32": 67.0, "tf32": 494.5, **_same(989.0), "fp8": 1979.0},
        [(80, 3350)], _COLLECTED, 1830,
    ),
    _chip(
        r"H100 PCIe", "H100 PCIe", 114, (9, 0),
        {"fp32": 51.0, "tf32": 378.0, **_same(756.0), "fp8": 1513.0}, [(80, 2000)], _COLLECTED,
    ),
    _chip(
        r"\bH200\b(?! NVL)", "H200 SXM", 132, (9, 0),
        {"fp64": 67.0, "fp32": 67.0, "tf32": 494.5, **_same(989.0), "fp8": 1979.0},
        [(141, 4800)], _COLLECTED, 1830,
    ),
    _chip(
        r"\bB200\b", "B200 SXM", 148, (10, 0),
        {"fp64": 40.0, "fp32": 80.0, "tf32": 1125.0, **_same(2250.0), "fp8": 4500.0},
        [(180, 8000)], _COLLECTED,
    ),
    _chip(
        r"\bMI210\b", "MI210", 104, (9, 0),
        {"fp64": 45.3, "fp32": 22.6, "fp32_matrix": 45.3, **_same(181.0)},
        [(64, 1638)], "AMD Instinct MI210 data sheet",
    ),
    _chip(
        r"\bMI250\b", "MI250, one of two dies", 104, (9, 0),
        {"fp64": 45.3, "fp32": 22.6, "fp32_matrix": 45.3, **_same(181.0)},
        [(64, 1638)], "AMD Instinct MI250 data sheet, halved",
    ),
    _chip(
        r"\bMI250X\b", "MI250X, one of two dies", 110, (9, 0),
        {"fp64": 47.9, "fp32": 23.9, "fp32_matrix": 47.9, **_same(191.5)},
        [(64, 1638)], "AMD Instinct MI250X data sheet, halved",
    ),
    _chip(
        r"MI300X", "MI300X", 304, (9, 4),
        {"fp64": 163.4, "fp32": 163.4, "tf32": 653.7, **_same(1300.0), "fp8": 2610.0},
        [(192, 5300)], _COLLECTED,
    ),
)  # fmt: skip
