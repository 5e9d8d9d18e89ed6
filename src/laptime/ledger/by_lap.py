"""Lap against lap: what the slowest laps had that the median lap had not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from laptime.ledger import frames
from laptime.ledger.blocks import HostPieces, host_pieces, longer_than
from laptime.ledger.innermost import nest
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.sums import add_at
from laptime.ledger.work import Work
from laptime.model.rows import I64, Ints, Kind, Rows

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
    ``device_names`` are summed durations of activities (which may run at once), ``host_names`` self
    time of rows of the threads that own the laps or feed the device."""

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
    owner = ledger.laps.owner_lane
    lanes = np.array([] if owner is None else [owner], dtype=np.int64)
    reader = _Names(rows, device, work, ledger.laps.mark_names, lanes)
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
    """Time by name in a window: of device work, and of the threads that feed it."""

    def __init__(
        self,
        rows: Rows,
        device: DeviceLedger,
        work: Work | None,
        marks: frozenset[str],
        owner: Ints,
    ) -> None:
        self.rows, self.windows = rows, device.windows
        self.work = work.row if work is not None else np.zeros(0, dtype=np.int64)
        self.lanes = owner if work is None else np.union1d(owner, work.thread[work.thread >= 0])
        self.mark = rows.names_matching(lambda n: n in marks)
        self._known: dict[int, I64] = {}
        # Bound to other objects, a function is still the same one.
        self.same = np.arange(len(rows.names), dtype=np.int64)
        first: dict[str, int] = {}
        for i in rows.names_used(Kind.PYTHON):
            self.same[i] = first.setdefault(frames.function(rows.names[i]), i)

    @cached_property
    def _pieces(self) -> HostPieces:
        span = self.windows[-1].end_ns - self.windows[0].start_ns
        return host_pieces(self.rows, longer_than(self.rows, span))

    def _on_host(self, low_ns: int, high_ns: int) -> Ints:
        """Host rows of the threads, other than marks, that take time in a stretch; ascending."""
        found = []
        for mine in self._pieces.touching(low_ns, high_ns):
            mine = mine[~self.mark[self.rows.name[mine]]]
            if len(self.lanes):
                mine = mine[np.isin(self.rows.lane[mine], self.lanes)]
            found.append(mine)
        return np.sort(np.concatenate(found))

    def device(self, slow: int, middle: int) -> list[Difference]:
        """Device work that starts in the window, which the slow one has more of."""
        return self._more(*(self._device_ns(window) for window in (slow, middle)))

    def host(self, slow: int, middle: int) -> list[Difference]:
        """Host rows that the slow window has more self time of."""
        return self._more(*(self._self_ns(window) for window in (slow, middle)))

    def _device_ns(self, window: int) -> I64:
        """Summed durations of the activities that start in a window, by name."""
        bounds = (self.windows[window].start_ns, self.windows[window].end_ns)
        low, high = np.searchsorted(self.rows.start_ns[self.work], bounds).tolist()
        mine = self.work[low:high]
        out = np.zeros(len(self.rows.names), dtype=np.int64)
        add_at(out, self.rows.name[mine], np.maximum(self.rows.dur_ns[mine], 0))
        return out

    def _self_ns(self, window: int) -> I64:
        """Self time of host rows inside a window, by name: rows nest, and each instant of a thread
        counts for the innermost row of any kind."""
        if window in self._known:  # the median one is asked for by each slow one
            return self._known[window]
        rows = self.rows
        low, high = self.windows[window].start_ns, self.windows[window].end_ns
        mine = self._on_host(low, high)
        out = np.zeros(len(rows.names), dtype=np.int64)
        for lane in np.unique(rows.lane[mine]).tolist():
            found = nest(rows, mine[rows.lane[mine] == lane])
            start, end = found.span
            length = np.minimum(end, high) - np.maximum(start, low)
            name = self.same[rows.name[found.row[found.at]]]
            add_at(out, name, np.maximum(length, 0))
        self._known[window] = out
        return out

    def _more(self, slow: I64, middle: I64) -> list[Difference]:
        delta = slow - middle
        top = np.argsort(-delta, kind="stable")[:SHOWN]
        names = self.rows.names
        return [
            Difference(frames.function(names[i]), int(delta[i]))
            for i in top.tolist()
            if delta[i] > 0
        ]
