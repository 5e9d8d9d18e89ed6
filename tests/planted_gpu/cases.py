"""A case: the same program with a fault and without it, and what the simulation says it cost."""

from __future__ import annotations

from dataclasses import dataclass

from tests.planted_gpu import device_plants, host_plants
from tests.planted_gpu.device_plants import Healthy
from tests.planted_gpu.engine import DEVICE_KINDS, Simulator
from tests.planted_gpu.program import Plant, Program
from tests.planted_gpu.spec import Spec, draw

_ALL: tuple[type[Plant], ...] = (*host_plants.ALL, *device_plants.ALL, Healthy)
PLANTS: dict[str, type[Plant]] = {plant.id: plant for plant in _ALL}
"""Every fault by its id. ``accepted`` of each is the table of first findings that are right."""


def lap_ns(simulator: Simulator) -> int:
    """The truth: device time from the first work to the end of the last, a mean per lap."""
    work = [r for r in simulator.rows if r.kind in DEVICE_KINDS]
    first, last = min(r.start_ns for r in work), max(r.end_ns for r in work)
    return (last - first) // simulator.spec.laps


def waste(simulator: Simulator) -> float:
    """The share of device time without a kernel that computes: idle, copies, communication."""
    work = [r for r in simulator.rows if r.kind in DEVICE_KINDS]
    whole = max(r.end_ns for r in work) - min(r.start_ns for r in work)
    computing = sorted(
        (r.start_ns, r.end_ns) for r in work if r.kind == "kernel" and "nccl" not in r.name
    )
    covered, until = 0, 0
    for start, end in computing:
        covered += max(0, end - max(start, until))
        until = max(until, end)
    return 1 - covered / whole


@dataclass(frozen=True)
class Case:
    """One fault, one seed."""

    fault: str
    spec: Spec
    planted: Simulator
    clean: Simulator
    planted_lap_ns: int
    clean_lap_ns: int

    @property
    def cost_ns(self) -> int:
        return self.planted_lap_ns - self.clean_lap_ns

    @property
    def cost(self) -> float:
        """How much longer the planted lap is, as a share of the clean one."""
        return self.cost_ns / self.clean_lap_ns


def run(fault: str, seed: int, planted: bool) -> Simulator:
    plant = PLANTS[fault]
    spec = draw(seed * 1000 + list(PLANTS).index(fault), plant.needs)
    return Program(spec, plant(planted)).run()


def make(fault: str, seed: int) -> Case:
    """The case of a fault and a seed, always the same."""
    with_it, without = run(fault, seed, True), run(fault, seed, False)
    return Case(fault, with_it.spec, with_it, without, lap_ns(with_it), lap_ns(without))
