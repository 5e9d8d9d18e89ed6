"""The ledger of a CPU-only run: the laps of the thread that owns them, by its own rows.

Without samples or scheduler data the classes of off-CPU time collapse: what no row covers may be
Python, dispatch or time off the CPU, and is shown as such.
"""

from __future__ import annotations

from laptime.ledger import intervals
from laptime.ledger.accounts import CPU_ACCOUNTS, MERGES
from laptime.ledger.blocks import BLOCK_ROWS
from laptime.ledger.canvas import Canvas, Layer
from laptime.ledger.host import HostStates
from laptime.ledger.intervals import EMPTY
from laptime.ledger.ledger import DeviceLedger
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


def thread_ledger(
    timeline: Timeline, laps: Laps, host: HostStates, block_rows: int = BLOCK_ROWS
) -> DeviceLedger | None:
    """Partition the host windows of the owning thread; None where no thread owns laps."""
    lane = laps.owner_lane
    if lane is None or not laps.laps:
        return None
    owner = timeline.lanes[lane]
    prefix = f"rank{timeline.rank}/" if timeline.rank is not None else ""
    device = f"{prefix}thread {owner.tid}"
    windows = [DeviceLap(device, lap.id, lap.start_ns, lap.dur_ns, False) for lap in laps.laps]
    canvas = Canvas(windows, CPU_ACCOUNTS)
    for block, low, high in host.blocks(canvas.inside, [], block_rows):
        inside = intervals.clip(canvas.inside, low, high)
        thread = block.thread(lane)
        layers: list[Layer] = [(a, thread.inside.get(s, EMPTY)) for s, a in ORDER]
        layers += [("between_ops", thread.extent), ("unattributed", inside)]
        canvas.paint(inside, layers)
    note = (
        "no device work inside the laps: the ledger is that of the thread that owns them"
        if timeline.devices
        else "no device rows: the ledger is that of the thread that owns the laps"
    )
    merged = {"between_ops": MERGES["between_ops"]}
    return canvas.ledger(device, merged, (note,), CPU_ACCOUNTS, cpu=True)
