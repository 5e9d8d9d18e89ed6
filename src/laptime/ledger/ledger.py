"""The ledger: device windows partitioned into accounts, to the nanosecond."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger.accounts import Account
from laptime.ledger.loaders import RECOGNISED_ONLY, Loaders
from laptime.model.laps import DeviceLap, Laps
from laptime.model.rows import I64, Ints, Mask


@dataclass(frozen=True)
class Segments:
    """Disjoint, ascending stretches of one device's time, each in one account.

    Times in the timeline's clock; ``account`` indexes ``DeviceLedger.leaves``.
    They cover the device windows without a hole.
    """

    start_ns: I64
    end_ns: I64
    account: Ints

    def of(self, account: int) -> tuple[I64, I64]:
        """Start and end of the stretches in one account."""
        hit = self.account == account
        return self.start_ns[hit], self.end_ns[hit]


@dataclass(frozen=True)
class DeviceLedger:
    """One device's partition. ``ns[i, j]`` is the time of window ``i`` in account ``leaves[j]``.

    For CPU-only runs the device is the thread that owns the laps (``cpu`` is True).
    ``merged`` maps an account that holds more than its own to the ids it may hold.
    ``notes`` say in one sentence each what the evidence did not allow.
    """

    device: str
    cpu: bool
    leaves: Sequence[Account]
    tree: Sequence[Account]
    windows: Sequence[DeviceLap]
    ns: I64
    segments: Segments
    merged: Mapping[str, Sequence[str]]
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        """The device, its windows, and the accounts with time."""
        used = [a.id for a, ns in zip(self.leaves, self.ns.sum(axis=0).tolist(), strict=True) if ns]
        return f"DeviceLedger({self.device!r}, windows={len(self.windows)}, accounts={used})"

    def index(self, account: str) -> int:
        """Column of an account; KeyError where the ledger has no such account."""
        for j, leaf in enumerate(self.leaves):
            if leaf.id == account:
                return j
        raise KeyError(account)

    def window_ns(self, account: str) -> I64:
        """Time of one account (a leaf, or a parent: the sum of its leaves), by window."""
        wanted = [j for j, leaf in enumerate(self.leaves) if account in self._line(leaf)]
        total: I64 = self.ns[:, wanted].sum(axis=1)
        return total

    def _line(self, leaf: Account) -> list[str]:
        by_id = {a.id: a for a in self.tree}
        line = [leaf.id]
        parent = leaf.parent
        while parent is not None:
            line.append(parent)
            parent = by_id[parent].parent
        return line


@dataclass(frozen=True)
class Ledger:
    """The ledger of one timeline: its laps and the partition of each device that it used.

    ``loaders`` says which rows counted as waiting for input.
    """

    timeline: str
    laps: Laps
    devices: Sequence[DeviceLedger]
    loaders: Loaders = RECOGNISED_ONLY

    def __repr__(self) -> str:
        """The timeline, its laps and devices."""
        devices = [d.device for d in self.devices]
        return f"Ledger({self.timeline!r}, {self.laps!r}, devices={devices})"

    def counted(self, device: DeviceLedger) -> Mask:
        """The windows that statistics use: steady laps, without the open window at the end.

        The open window lacks the idle time before the next lap, so its mix is not a whole lap's;
        one that runs over laps without work of their own is more than a lap. Where no closed steady
        window of one lap exists, closed steady ones count, else all closed, else all.
        """
        steady = {lap.id for lap in self.laps.laps if lap.steady}
        closed = np.array([not w.open for w in device.windows], dtype=np.bool_)
        best = closed & np.array([w.lap in steady for w in device.windows], dtype=np.bool_)
        number = {lap.id: i for i, lap in enumerate(self.laps.laps)}
        place = np.array([number[w.lap] for w in device.windows], dtype=np.int64)
        single = np.append(np.diff(place) == 1, True)
        for mask in (best & single, best, closed):
            if mask.any():
                return mask
        return np.ones(len(device.windows), dtype=np.bool_)

    def mean_ns(self, device: DeviceLedger, account: str) -> float:
        """Mean time of an account (leaf or parent) per counted window."""
        mask = self.counted(device)
        return float(device.window_ns(account)[mask].mean()) if mask.any() else 0.0

    def mean_window_ns(self, device: DeviceLedger) -> float:
        """Mean length of the counted windows."""
        mask = self.counted(device)
        lengths = np.array([w.dur_ns for w in device.windows], dtype=np.int64)[mask]
        return float(lengths.mean()) if len(lengths) else 0.0

    def share(self, device: DeviceLedger, account: str) -> float | None:
        """Share of counted window time in an account; None where the windows have no length."""
        whole = self.mean_window_ns(device)
        return self.mean_ns(device, account) / whole if whole else None
