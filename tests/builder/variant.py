"""Which profiler wrote a built trace: the year, the vendor, and the flags it ran under."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DEVICES: Mapping[str, tuple[str, tuple[int, int], int]] = {
    "nvidia": ("NVIDIA A100-SXM4-80GB", (8, 0), 108),
    "amd": ("AMD Instinct MI300X", (9, 4), 304),
}
"""Name, compute capability and multiprocessors of the device a vendor's traces are from."""


@dataclass(frozen=True)
class Variant:
    """The form of a trace. What the trace says of time does not depend on it, only its text does.

    ``year`` sets vocabulary and clock: 2021 (``Operator``, ``Kernel``, whole microseconds, flows
    ``async``, streams as texts), 2023 (``cpu_op``, whole epoch microseconds, flows ``ac2g``), 2024
    and later (microseconds with three decimals). ``base_time`` writes ``baseTimeNanoseconds`` after
    the array and times relative to it (2024 and later only).
    ``host_rows`` False leaves out operators, annotations and Python rows; ``calls`` False leaves
    out runtime and driver calls: both False is a trace of device rows only.
    ``collective_args`` is the generation of collective arguments, "a" to "d", None for none.
    ``queue_for_stream`` (AMD) writes the queue and no stream. ``shuffle`` is the seed of a random
    order of rows, None for the writer's order. ``pairs`` writes operators and annotations as B and
    E rows. ``layout`` is "kineto" (its writer's own lines) or "compact" (one line). A device that
    is not named is the vendor's in ``DEVICES``.
    """

    year: int = 2025
    vendor: str = "nvidia"
    stacks: bool = False
    shapes: bool = False
    flows: bool = True
    base_time: bool = True
    sync_rows: bool = False
    step_marks: bool = True
    device_annotations: bool = False
    host_rows: bool = True
    calls: bool = True
    device_rows: bool = True
    collective_args: str | None = None
    vendor_copy_names: bool = False
    queue_for_stream: bool = False
    shuffle: int | None = None
    pairs: bool = False
    layout: str = "kineto"
    device_name: str = ""
    compute_capability: tuple[int, int] = (0, 0)
    sms: int = 0
    rank: int | None = None
    world_size: int = 1

    def __post_init__(self) -> None:
        if self.base_time and self.year < 2024:
            object.__setattr__(self, "base_time", False)
        if not self.device_name:
            name, capability, sms = DEVICES.get(self.vendor, DEVICES["nvidia"])
            object.__setattr__(self, "device_name", name)
            object.__setattr__(self, "compute_capability", capability)
            object.__setattr__(self, "sms", sms)
        if self.collective_args not in (None, "a", "b", "c", "d"):
            raise ValueError(f"collective_args is a, b, c, d or None, not {self.collective_args!r}")

    @property
    def whole_us(self) -> bool:
        """Times are whole microseconds in the text."""
        return self.year < 2024
