"""Lap against lap: what the slowest laps had that the median lap had not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.work import Work
from laptime.model.rows import HOST_KINDS, I64, Ints, Rows

SHOWN = 3
"""Slowest laps shown, and names shown for each."""
P99_NEEDS = 100
"""Laps below which a 99th percentile is not a measurement (one lap in a hundred)."""


@dataclass(frozen=True)
class Difference:
    """More (or less) of something than in the median lap, in nanoseconds."""

    what: str
    ns: int


@dataclass(frozen=True)
class SlowLap:
    """One slow lap against the median lap. ``accounts`` sum to the difference in length;
    ``device_names`` and ``host_names`` are summed durations of rows (they overlap)."""

    label: str
    dur_ns: int
    accounts: Sequence[Difference]
    device_names: Sequence[Difference]
    host_names: Sequence[Difference]


@dataclass(frozen=True)
class LapSpread:
    """Lengths of a device's counted windows and the slowest of them.

    ``p99_ns`` is None below ``P99_NEEDS`` laps. ``median_label`` is the lap that the slow ones are
    held against: the one of median length (the shorter of the two middle ones).
    """

    device: str
    laps: int
    mean_ns: float
    p50_ns: int
    p99_ns: int | None
    worst_ns: int
    median_label: str
    slow: Sequence[SlowLap]


def lap_spread(
    rows: Rows, ledger: Ledger, device: DeviceLedger, work: Work | None
) -> LapSpread | None:
    """The spread of one device's counted windows; None below three of them."""
    counted = np.flatnonzero(ledger.counted(device))
    if len(counted) < 3:
        return None
    length = np.array([device.windows[i].dur_ns for i in counted.tolist()], dtype=np.int64)
    order = np.argsort(length, kind="stable")
    middle = int(counted[order[(len(order) - 1) // 2]])
    labels = {lap.id: lap.label for lap in ledger.laps.laps}
    reader = _Names(rows, device, work, ledger.laps.mark_names)
    slow = []
    for at in order[::-1][:SHOWN].tolist():
        i = int(counted[at])
        if device.windows[i].dur_ns <= device.windows[middle].dur_ns:
            break
        delta = device.ns[i] - device.ns[middle]
        accounts = [
            Difference(leaf.id, int(d))
            for leaf, d in zip(device.leaves, delta.tolist(), strict=True)
            if d
        ]
        slow.append(
            SlowLap(
                label=labels[device.windows[i].lap],
                dur_ns=device.windows[i].dur_ns,
                accounts=sorted(accounts, key=lambda d: (-d.ns, d.what)),
                device_names=reader.device(i, middle),
                host_names=reader.host(i, middle),
            )
        )
    return LapSpread(
        device=device.device,
        laps=len(counted),
        mean_ns=float(length.mean()),
        p50_ns=int(np.sort(length)[(len(length) - 1) // 2]),
        p99_ns=int(np.sort(length)[-(-len(length) * 99 // 100) - 1])
        if len(length) >= P99_NEEDS
        else None,
        worst_ns=int(length.max()),
        median_label=labels[device.windows[middle].lap],
        slow=slow,
    )


class _Names:
    """Summed durations by name of the rows that start inside a window."""

    def __init__(
        self, rows: Rows, device: DeviceLedger, work: Work | None, marks: frozenset[str]
    ) -> None:
        self.rows, self.windows = rows, device.windows
        self.work = work.row if work is not None else np.zeros(0, dtype=np.int64)
        self.mark = rows.names_matching(lambda n: n in marks)
        self.on_host = rows.mask_of(*HOST_KINDS)

    def device(self, slow: int, middle: int) -> list[Difference]:
        """Device work that the slow window has more of."""
        starts = self.rows.start_ns[self.work]
        return self._more(
            self.work[self._slice(starts, slow)], self.work[self._slice(starts, middle)]
        )

    def host(self, slow: int, middle: int) -> list[Difference]:
        """Host rows that the slow window has more of."""
        return self._more(self._host_rows(slow), self._host_rows(middle))

    def _host_rows(self, window: int) -> Ints:
        """Host rows other than marks that start inside a window."""
        inside = self.rows.start_ns >= self.windows[window].start_ns
        inside &= self.rows.start_ns < self.windows[window].end_ns
        inside &= self.on_host
        found = np.flatnonzero(inside)
        return found[~self.mark[self.rows.name[found]]]

    def _slice(self, starts: I64, window: int) -> slice:
        """Where the rows that start inside a window stand among ascending starts."""
        bounds = (self.windows[window].start_ns, self.windows[window].end_ns)
        low, high = np.searchsorted(starts, bounds).tolist()
        return slice(low, high)

    def _more(self, slow: Ints, middle: Ints) -> list[Difference]:
        size = len(self.rows.names)
        delta = np.zeros(size, dtype=np.int64)
        np.add.at(delta, self.rows.name[slow], np.maximum(self.rows.dur_ns[slow], 0))
        np.subtract.at(delta, self.rows.name[middle], np.maximum(self.rows.dur_ns[middle], 0))
        top = np.argsort(-delta, kind="stable")[:SHOWN]
        return [Difference(self.rows.names[i], int(delta[i])) for i in top.tolist() if delta[i] > 0]
