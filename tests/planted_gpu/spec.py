"""What varies between traces and is no fault: vendor, device, schema generation, threads, noise."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.planted_gpu import devices
from tests.planted_gpu.devices import Device

G2021, G2023, G2025 = "2021", "2022-2023", "2024-2026"


@dataclass(frozen=True)
class Spec:
    """One way of recording one program. Nothing here depends on the fault but ``needs``."""

    seed: int
    device: Device
    ordinal: int
    generation: str
    time_form: str
    """``us`` (epoch, whole microseconds), ``decimal`` (epoch, three digits), ``base`` (three digits
    and baseTimeNanoseconds)."""
    laps: int
    flows: bool
    stacks: bool
    shapes: bool
    sync_rows: bool
    marks: str
    """``ProfilerStep`` or a user's name with ``{}`` for the lap's number."""
    pid: int
    autograd_tid: int
    compute_stream: int
    copy_stream: int
    comm_stream: int
    epoch_ns: int
    first_step: int
    host_noise: float
    device_noise: float
    host_cost: float
    """How slow this host is at everything: 1 is a fast one."""
    grids: bool
    item_each_lap: bool
    ranks: int

    @property
    def amd(self) -> bool:
        return self.device.vendor == "amd"


@dataclass(frozen=True)
class Needs:
    """What a fault must have in the trace to be visible at all."""

    stacks: bool = False
    nvidia: bool = False
    grids: bool = False
    base: str = "transformer"
    distributed: bool = False


def draw(seed: int, needs: Needs) -> Spec:
    """A way of recording, from ``seed`` alone (and from what the fault cannot do without)."""
    r = random.Random(f"spec {seed}")
    pool = [d for d in devices.ALL if not (needs.nvidia and d.vendor != "nvidia")]
    device = r.choice(pool)
    generations = {
        "V100": [G2021, G2023, G2025],
        "A100": [G2021, G2023, G2025],
        "H100": [G2023, G2025],
        "MI250": [G2023, G2025],
        "MI300": [G2025],
    }[device.key]
    if needs.stacks:
        generations = [g for g in generations if g != G2021]
    generation = r.choice(generations)
    stacks = generation != G2021 and (needs.stacks or r.random() < 0.4)
    time_form = "us" if generation != G2025 else r.choice(["decimal", "base", "base"])
    laps = r.randint(5, 12)
    amd = device.vendor == "amd"
    pid = r.randint(300, 4_000_000)
    streams = (0, r.randint(1, 6), r.randint(7, 12)) if amd else (7, r.choice([20, 24]), 28)
    return Spec(
        seed=seed,
        device=device,
        ordinal=r.choice([0, 0, 1, 3]),
        generation=generation,
        time_form=time_form,
        laps=laps,
        flows=r.random() < 0.8,
        stacks=stacks,
        shapes=r.random() < 0.6,
        sync_rows=not amd and generation == G2025 and r.random() < 0.6,
        marks=r.choice(["ProfilerStep"] * 3 + ["train_step", "## iteration {} ##"]),
        pid=pid,
        autograd_tid=pid + r.randint(40, 900),
        compute_stream=streams[0],
        copy_stream=streams[1],
        comm_stream=streams[2],
        epoch_ns={G2021: 1623, G2023: 1683, G2025: 1752}[generation] * 10**15
        + r.randint(0, 10**14),
        first_step=r.choice([1, 3, 10, 101, 2000]),
        host_noise=r.uniform(0.04, 0.2),
        device_noise=r.uniform(0.005, 0.03),
        host_cost=r.uniform(0.8, 1.5),
        grids=not amd or needs.grids or (generation == G2025 and r.random() < 0.5),
        item_each_lap=r.random() < 0.7,
        ranks=r.choice([4, 8, 16]),
    )  # fmt: skip
