"""One device's windows partitioned into accounts: by instant, in order, first match wins.

What an instant is depends on no other instant, so that blocks of time are partitioned one after
another, each from the rows that reach into it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.ledger import intervals, states
from laptime.ledger.accounts import DEVICE_ACCOUNTS, DEVICE_PARENTS, MERGES
from laptime.ledger.canvas import Canvas, Layer
from laptime.ledger.held import Floors, Held, floors
from laptime.ledger.host import HostBlock
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.ledger import DeviceLedger
from laptime.ledger.reach import Reaching
from laptime.ledger.states import State
from laptime.ledger.turns import Turns
from laptime.ledger.unseen import Unseen
from laptime.ledger.work import Work, WorkClass
from laptime.model.laps import DeviceLap
from laptime.model.rows import Kind, Mask
from laptime.model.run import Timeline

STATE_ACCOUNT: tuple[tuple[State, str], ...] = (
    (State.INPUT_WAIT, "input_wait"),
    (State.BLOCKED, "host_sync"),
    (State.ALLOCATOR, "allocator"),
    (State.GC, "gc"),
    (State.COMPILE, "compile"),
    (State.SIDE_WORK, "side_work"),
)

HOST_ORDER = tuple(
    dict.fromkeys(
        [
            *(account for _, account in STATE_ACCOUNT),
            "refill",
            "host_launch",
            "host_ops",
            "host_between_ops",
        ]
    )
)
"""Layers of the feeding thread in the order of their tests; ``refill`` is host_sync too."""


class Partition:
    """The windows of one device, partitioned block by block in ascending order.

    ``owner_lane`` is the thread that owns the laps. ``floor`` replaces the measured floors.
    """

    def __init__(
        self,
        timeline: Timeline,
        work: Work,
        windows: Sequence[DeviceLap],
        unseen: Unseen,
        owner_lane: int | None,
        floor: Floors | None = None,
    ) -> None:
        self.device = work.device
        self._timeline, self._work, self._owner_lane = timeline, work, owner_lane
        self._merged: dict[str, Sequence[str]] = {"exposed_comm": MERGES["exposed_comm"]}
        self._notes: list[str] = []
        self._running = Reaching(work.start_ns, work.end_ns)
        self._profiler = _overhead(timeline, loading=False)
        self._unseen = unseen.span(work) if len(unseen.row) else EMPTY
        self._held: Held | None = None
        if work.launched.any():
            floor = floor or floors(work)
            self._held = Held(work, floor, _of_graphs(timeline, work))
            self._loading = _overhead(timeline, loading=True)
            self._turns = Turns(work, unseen)
            self._merged["host_between_ops"] = MERGES["host_between_ops"]
            self._notes.append(floor.sentence())
            if len(self._profiler[0]) == 0:
                self._notes.append(
                    "no profiler overhead rows: what the profiler cost is inside the other accounts"
                )
        else:
            self._merged["idle"] = MERGES["idle"]
            self._notes.append("no launch calls: idle time cannot be split")
        split = self._held is not None
        leaves = [a for a in DEVICE_ACCOUNTS if _is_leaf(a.id, split)]
        self.canvas = Canvas(windows, leaves)

    def add(self, host: HostBlock, low_ns: int, high_ns: int) -> None:
        """Partition the next block."""
        inside = intervals.clip(self.canvas.inside, low_ns, high_ns)
        layers, busy = self._busy(low_ns, high_ns)
        layers += [("unattributed", self._unseen), ("profiler", self._profiler)]
        if self._held is not None:
            layers += self._held.layers(low_ns, high_ns)
            idle = intervals.subtract(intervals.subtract(inside, busy), self._unseen)
            layers += self._host_layers(host, idle, low_ns, high_ns)
        else:
            layers.append(("idle", inside))
        layers.append(("unattributed", inside))
        self.canvas.paint(inside, layers)

    def ledger(self) -> DeviceLedger:
        """The ledger of all blocks."""
        return self.canvas.ledger(self._work.device, self._merged, self._notes, DEVICE_ACCOUNTS)

    def _busy(self, low_ns: int, high_ns: int) -> tuple[list[Layer], Span]:
        """Layers of busy time, and their union."""
        work = self._work
        mine = self._running.within(low_ns, high_ns)
        start, end, klass = work.start_ns[mine], work.end_ns[mine], work.klass[mine]

        def of(one: WorkClass) -> Span:
            pick = klass == one
            return intervals.union(start[pick], end[pick])

        compute, comm, copy = of(WorkClass.COMPUTE), of(WorkClass.COMM), of(WorkClass.COPY)
        layers = [
            ("compute_with_comm", intervals.intersect(compute, comm)),
            ("compute", compute),
            ("exposed_comm", comm),
            ("exposed_copy", copy),
        ]
        return layers, intervals.union(start, end)

    def _host_layers(self, host: HostBlock, idle: Span, low_ns: int, high_ns: int) -> list[Layer]:
        """Layers of time in which nothing is enqueued, by the state of the thread that feeds."""
        found: dict[str, list[Span]] = {}

        def add(account: str, span: Span, within: Span) -> None:
            found.setdefault(account, []).append(intervals.intersect(within, span))

        owner = self._owner_lane
        for lane, turn in self._turns.within(low_ns, high_ns):
            within = intervals.intersect(idle, turn)
            if lane < 0 or len(within[0]) == 0:
                continue
            thread = host.thread(lane)
            for state, account in STATE_ACCOUNT:
                if state in thread.inside:
                    add(account, thread.inside[state], within)
            add("compile", self._loading, within)
            add("refill", thread.refill, within)
            add("host_launch", thread.inside.get(State.LAUNCH, EMPTY), within)
            add("host_ops", thread.inside.get(State.OPS, EMPTY), within)
            add("host_ops", thread.inside.get(State.PYTHON, EMPTY), within)
            if owner is not None and owner != lane and _same_process(self._timeline, owner, lane):
                # The engine's thread has no rows while the owner still prepares its work.
                add("host_ops", host.thread(owner).covered(), within)
            add("host_between_ops", thread.extent, within)
        return [
            (
                "host_sync" if account == "refill" else account,
                intervals.union_of(found.get(account, [EMPTY])),
            )
            for account in HOST_ORDER
        ]


def _of_graphs(timeline: Timeline, work: Work) -> Mask:
    """Which activities a graph launch enqueued."""
    rows = timeline.rows
    graph = rows.names_like(states.GRAPH_LAUNCH)
    out: Mask = work.launched & graph[rows.name[np.maximum(work.call_row, 0)]]
    return out


def _overhead(timeline: Timeline, loading: bool) -> Span:
    """Time covered by overhead rows: the profiler's own, or module loading by the driver."""
    rows = timeline.rows
    pick = rows.of_kind(Kind.OVERHEAD)
    if len(pick) == 0:
        return EMPTY
    driver = rows.names_like(states.MODULE_LOADING)
    pick = pick[driver[rows.name[pick]] == loading]
    return intervals.union(rows.start_ns[pick], rows.end_ns(pick))


def _same_process(timeline: Timeline, a: int, b: int) -> bool:
    return timeline.lanes[a].pid == timeline.lanes[b].pid


def _is_leaf(account: str, split: bool) -> bool:
    """Leaves of a ledger, empty or not. ``split``: whether idle time can be split.

    ``idle`` replaces its parts where they cannot be told; the split of exposed communication
    needs the other ranks.
    """
    if account == "idle":
        return not split
    if account in DEVICE_PARENTS or account == "off_cpu":
        return False
    if account in ("exposed_comm_transfer", "exposed_comm_wait"):
        return False
    parts = ("launch_latency", "kernel_gap", "event_wait", "host_between_ops", "host_ops")
    host = ("host_launch", "input_wait", "host_sync", "allocator", "gc", "compile", "side_work")
    return split or account not in parts + host
