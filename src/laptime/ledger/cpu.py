"""The ledger of a CPU-only run: the laps of the thread that owns them, by its own rows.

Without samples or scheduler data the classes of off-CPU time collapse: what no row covers may be
Python, dispatch or time off the CPU, and is shown as such.
"""

from __future__ import annotations

import numpy as np

from laptime.ledger import intervals
from laptime.ledger.accounts import CPU_ACCOUNTS, MERGES
from laptime.ledger.host import HostStates
from laptime.ledger.intervals import EMPTY
from laptime.ledger.ledger import DeviceLedger
from laptime.ledger.partition import Layer, paint
from laptime.ledger.states import State
from laptime.model.laps import DeviceLap, Laps
from laptime.model.run import Timeline

ORDER: tuple[tuple[State, str], ...] = (
    (State.INPUT_WAIT, "input_wait"),
    (State.GC, "gc"),
    (State.COMPILE, "compile"),
    (State.SIDE_WORK, "side_work"),
    (State.BLOCKED, "operators"),
    (State.ALLOCATOR, "operators"),
    (State.LAUNCH, "operators"),
    (State.OPS, "operators"),
    (State.PYTHON, "python"),
)


def thread_ledger(timeline: Timeline, laps: Laps, host: HostStates) -> DeviceLedger | None:
    """Partition the host windows of the owning thread; None where no thread owns laps."""
    lane = laps.owner_lane
    if lane is None or not laps.laps:
        return None
    owner = timeline.lanes[lane]
    prefix = f"rank{timeline.rank}/" if timeline.rank is not None else ""
    device = f"{prefix}thread {owner.tid}"
    windows = [DeviceLap(device, lap.id, lap.start_ns, lap.dur_ns, False) for lap in laps.laps]
    inside = intervals.union(
        np.array([w.start_ns for w in windows], dtype=np.int64),
        np.array([w.end_ns for w in windows], dtype=np.int64),
    )
    thread = host.thread(lane)
    layers: list[Layer] = [(a, thread.inside.get(s, EMPTY)) for s, a in ORDER]
    layers += [("between_ops", thread.extent), ("unattributed", inside)]
    return paint(
        device,
        layers,
        inside,
        windows,
        {"between_ops": MERGES["between_ops"]},
        (
            "no device work inside the laps: the ledger is that of the thread that owns them"
            if timeline.devices
            else "no device rows: the ledger is that of the thread that owns the laps",
        ),
        CPU_ACCOUNTS,
        CPU_ACCOUNTS,
        cpu=True,
    )
