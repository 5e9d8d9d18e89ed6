"""The fast ledger and its oracle side by side; and what any ledger must fulfil."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from laptime.kernels.names import KernelName
from laptime.ledger.held import Floors, floors
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.work import Work
from laptime.model.run import Timeline
from tests.ledger.oracle import Oracle

Stretch = tuple[int, int, str]


def floors_of(work: Mapping[str, Work]) -> dict[str, Floors]:
    """The floors that the ledger measures, by device."""
    return {device: floors(one) for device, one in work.items() if one.launched.any()}


def oracle_of(timeline: Timeline, names: Mapping[int, KernelName], ledger: Ledger) -> Oracle:
    """The oracle of a timeline, with the owner that the ledger used."""
    comm = {timeline.rows.names[i] for i, name in names.items() if name.comm}
    return Oracle(timeline, comm, ledger.laps.owner_lane)


def stretches(device: DeviceLedger) -> list[Stretch]:
    """The fast ledger's segments, neighbours of one account joined."""
    segments = device.segments
    return joined(
        [
            (start, end, device.leaves[account].id)
            for start, end, account in zip(
                segments.start_ns.tolist(),
                segments.end_ns.tolist(),
                segments.account.tolist(),
                strict=True,
            )
        ]
    )


def joined(found: list[Stretch]) -> list[Stretch]:
    """Stretches with touching neighbours of one account made one."""
    out: list[Stretch] = []
    for start, end, account in found:
        if out and out[-1][1] == start and out[-1][2] == account:
            out[-1] = (out[-1][0], end, account)
        else:
            out.append((start, end, account))
    return out


def sums(device: DeviceLedger) -> list[dict[str, int]]:
    """Time by account of each window, without empty accounts."""
    return [
        {a.id: int(n) for a, n in zip(device.leaves, row, strict=True) if n} for row in device.ns
    ]


def by_account(found: list[Stretch]) -> dict[str, int]:
    """Time by account of some stretches."""
    out: dict[str, int] = {}
    for start, end, account in found:
        out[account] = out.get(account, 0) + end - start
    return out


def check_partition(device: DeviceLedger) -> None:
    """Conservation: every nanosecond of every window in exactly one account."""
    lengths = np.array([w.dur_ns for w in device.windows], dtype=np.int64)
    assert (device.ns >= 0).all()
    assert device.ns.sum(axis=1).tolist() == lengths.tolist()
    segments = device.segments
    assert (segments.end_ns > segments.start_ns).all()
    assert (segments.start_ns[1:] >= segments.end_ns[:-1]).all()
    assert all(0 <= a < len(device.leaves) for a in np.unique(segments.account).tolist())
    for window, row in zip(device.windows, device.ns, strict=True):
        inside: dict[int, int] = {}
        clipped = np.minimum(segments.end_ns, window.end_ns) - np.maximum(
            segments.start_ns, window.start_ns
        )
        for account, length in zip(segments.account.tolist(), clipped.tolist(), strict=True):
            if length > 0:
                inside[account] = inside.get(account, 0) + length
        assert inside == {j: int(n) for j, n in enumerate(row) if n}
    covered = joined([(a, b, "") for a, b, _ in stretches(device)])
    windows = sorted((w.start_ns, w.end_ns) for w in device.windows if w.dur_ns)
    assert covered == joined([(a, b, "") for a, b in windows])
