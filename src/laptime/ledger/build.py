"""A timeline's ledger: work, laps, and the partition of each device (or of the owning thread)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from laptime.kernels.names import KernelName
from laptime.ledger import intervals
from laptime.ledger.blocks import BLOCK_ROWS
from laptime.ledger.cpu import thread_ledger
from laptime.ledger.device_work import device_work
from laptime.ledger.held import Floors
from laptime.ledger.host import HostStates
from laptime.ledger.laps import find_laps
from laptime.ledger.ledger import Ledger
from laptime.ledger.loaders import Loaders
from laptime.ledger.partition import Partition
from laptime.ledger.unseen import unseen_calls
from laptime.ledger.work import Work
from laptime.model.laps import Laps
from laptime.model.run import Timeline


def build_ledger(
    timeline: Timeline,
    names: Mapping[int, KernelName],
    mark: str | None = None,
    laps: Laps | None = None,
    floors: Mapping[str, Floors] | None = None,
    loaders: Loaders | None = None,
    block_rows: int = BLOCK_ROWS,
) -> tuple[Ledger, dict[str, Work]]:
    """The ledger of one timeline and the device work it partitions.

    ``names`` are the decoded kernel names (``device_work.kernel_names``); ``mark`` names the lap
    marks to use; ``laps`` and ``floors`` (by device) replace what would be found and measured;
    ``loaders`` holds the user's own names of loading. Devices are partitioned in blocks of time of
    about ``block_rows`` rows, which changes the memory that it takes and nothing else.
    Raises ``UsageError`` where ``mark`` does not exist.
    """
    loaders = loaders or Loaders()
    host = HostStates(timeline.rows, loaders)
    work = device_work(timeline, names)
    if laps is None:
        laps = find_laps(timeline, work, host, mark)
    unseen = unseen_calls(host)
    partitions = []
    for device in timeline.devices:
        windows = [w for w in laps.by_device if w.device == device.id]
        if device.id in work and windows:
            floor = floors.get(device.id) if floors else None
            mine = work[device.id]
            partitions.append(Partition(timeline, mine, windows, unseen, laps.owner_lane, floor))
    inside = intervals.union_of([p.canvas.inside for p in partitions] or [intervals.EMPTY])
    starts = [work[p.device].start_ns for p in partitions]
    for block, low, high in host.blocks(inside, starts, block_rows):
        for partition in partitions:
            partition.add(block, low, high)
    devices = [p.ledger() for p in partitions]
    if not devices:
        own = thread_ledger(timeline, laps, host, block_rows)
        if own is not None:
            devices.append(own)
            laps = replace(laps, by_device=own.windows)
    return Ledger(timeline.id, laps, devices, loaders), work
