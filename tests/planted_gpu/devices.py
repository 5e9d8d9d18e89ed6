"""The simulated devices: what the profiler writes of them, and how fast the simulation has them.

``properties`` are those that PyTorch reports for the named device. Rates are datasheet figures
times a share that well-made kernels reach; they are the simulation's truth, not laptime's.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Device:
    """One accelerator of the simulation. Rates in FLOP/s and bytes/s."""

    key: str
    vendor: str
    properties: dict[str, object]
    sms: int
    half: float
    single: float
    memory: float
    bus: float
    """Bytes per second of an all-reduce, bus bandwidth."""
    pcie: float
    dtype: str
    hidden: int


def _nvidia(
    name: str, memory: int, major: int, minor: int, sms: int, shared: int, optin: int
) -> dict[str, object]:
    return {
        "id": 0,
        "name": name,
        "totalGlobalMem": memory,
        "computeMajor": major,
        "computeMinor": minor,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerBlock": 65536,
        "regsPerMultiprocessor": 65536,
        "warpSize": 32,
        "sharedMemPerBlock": 49152,
        "sharedMemPerMultiprocessor": shared,
        "numSms": sms,
        "sharedMemPerBlockOptin": optin,
    }


def _amd(name: str, memory: int, minor: int, sms: int) -> dict[str, object]:
    return {
        "id": 0,
        "name": name,
        "totalGlobalMem": memory,
        "computeMajor": 9,
        "computeMinor": minor,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiprocessor": 2048,
        "regsPerBlock": 65536,
        "warpSize": 64,
        "sharedMemPerBlock": 65536,
        "numSms": sms,
        "maxSharedMemoryPerMultiProcessor": 65536,
    }


V100 = Device(
    "V100",
    "nvidia",
    _nvidia("Tesla V100-SXM2-32GB", 34079637504, 7, 0, 80, 98304, 98304),
    80, 125e12 * 0.74, 15.7e12 * 0.88, 900e9 * 0.86, 120e9, 11e9, "c10::Half", 1024,
)  # fmt: skip
A100 = Device(
    "A100",
    "nvidia",
    _nvidia("NVIDIA A100-SXM4-80GB", 84990623744, 8, 0, 108, 167936, 166912),
    108, 312e12 * 0.82, 19.5e12 * 0.9, 2039e9 * 0.86, 220e9, 24e9, "c10::BFloat16", 2048,
)  # fmt: skip
H100 = Device(
    "H100",
    "nvidia",
    _nvidia("NVIDIA H100 80GB HBM3", 85045477376, 9, 0, 132, 233472, 232448),
    132, 989e12 * 0.72, 67e12 * 0.72, 3350e9 * 0.85, 350e9, 52e9, "c10::BFloat16", 2048,
)  # fmt: skip
MI250 = Device(
    "MI250",
    "amd",
    _amd("AMD Instinct MI250", 68702699520, 0, 104),
    104, 181e12 * 0.7, 45.3e12 * 0.6, 1638e9 * 0.78, 110e9, 24e9, "c10::BFloat16", 2048,
)  # fmt: skip
MI300 = Device(
    "MI300",
    "amd",
    _amd("AMD Instinct MI300X", 206141652992, 4, 304),
    304, 1307e12 * 0.48, 163.4e12 * 0.6, 5300e9 * 0.76, 300e9, 52e9, "c10::BFloat16", 2048,
)  # fmt: skip
ALL = (V100, A100, H100, MI250, MI300)
