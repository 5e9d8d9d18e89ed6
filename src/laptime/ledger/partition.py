"""One device's windows partitioned into accounts: by instant, in order, first match wins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.ledger import held, intervals, states
from laptime.ledger.accounts import DEVICE_ACCOUNTS, DEVICE_PARENTS, MERGES, Account
from laptime.ledger.held import Floors
from laptime.ledger.host import HostStates
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.ledger import DeviceLedger, Segments
from laptime.ledger.states import State
from laptime.ledger.unseen import Unseen
from laptime.ledger.work import Work, WorkClass
from laptime.model.laps import DeviceLap
from laptime.model.rows import I64, Ints, Kind, Mask
from laptime.model.run import Timeline

STATE_ACCOUNT: tuple[tuple[State, str], ...] = (
    (State.INPUT_WAIT, "input_wait"),
    (State.BLOCKED, "host_sync"),
    (State.ALLOCATOR, "allocator"),
    (State.GC, "gc"),
    (State.COMPILE, "compile"),
    (State.SIDE_WORK, "side_work"),
)

Layer = tuple[str, Span]


def device_ledger(
    timeline: Timeline,
    work: Work,
    windows: Sequence[DeviceLap],
    host: HostStates,
    unseen: Unseen,
    owner_lane: int | None,
    floor: Floors | None = None,
) -> DeviceLedger:
    """Partition the windows of one device.

    ``owner_lane`` is the thread that owns the laps. ``floor`` replaces the measured floors.
    """
    inside = intervals.union(
        np.array([w.start_ns for w in windows], dtype=np.int64),
        np.array([w.end_ns for w in windows], dtype=np.int64),
    )
    notes: list[str] = []
    layers, busy = _busy(work)
    merged: dict[str, Sequence[str]] = {"exposed_comm": MERGES["exposed_comm"]}
    overhead = _overhead(timeline, loading=False)
    layers.append(("unattributed", unseen.span(work)))
    layers.append(("profiler", overhead))
    if work.launched.any():
        floor = floor or held.floors(work)
        notes.append(floor.sentence())
        layers += held.held_layers(work, floor, _of_graphs(timeline, work))
        idle = intervals.subtract(intervals.subtract(inside, busy), unseen.span(work))
        layers += _host_layers(timeline, work, host, unseen, owner_lane, idle)
        merged["host_between_ops"] = MERGES["host_between_ops"]
        if len(overhead[0]) == 0:
            notes.append(
                "no profiler overhead rows: what the profiler cost is inside the other accounts"
            )
    else:
        layers.append(("idle", inside))
        merged["idle"] = MERGES["idle"]
        notes.append("no launch calls: idle time cannot be split")
    layers.append(("unattributed", inside))
    used = {account for account, _ in layers}
    leaves = [a for a in DEVICE_ACCOUNTS if a.id in used or _plain_leaf(a.id, used)]
    return paint(work.device, layers, inside, windows, merged, notes, leaves, DEVICE_ACCOUNTS)


def _of_graphs(timeline: Timeline, work: Work) -> Mask:
    """Which activities a graph launch enqueued."""
    rows = timeline.rows
    graph = rows.names_like(states.GRAPH_LAUNCH)
    out: Mask = work.launched & graph[rows.name[np.maximum(work.call_row, 0)]]
    return out


def _busy(work: Work) -> tuple[list[Layer], Span]:
    """Layers of busy time, and their union."""

    def of(klass: WorkClass) -> Span:
        pick = work.klass == klass
        return intervals.union(work.start_ns[pick], work.end_ns[pick])

    compute, comm, copy = of(WorkClass.COMPUTE), of(WorkClass.COMM), of(WorkClass.COPY)
    layers = [
        ("compute_with_comm", intervals.intersect(compute, comm)),
        ("compute", compute),
        ("exposed_comm", comm),
        ("exposed_copy", copy),
    ]
    return layers, intervals.union(work.start_ns, work.end_ns)


def _overhead(timeline: Timeline, loading: bool) -> Span:
    """Time covered by overhead rows: the profiler's own, or module loading by the driver."""
    rows = timeline.rows
    pick = rows.of_kind(Kind.OVERHEAD)
    if len(pick) == 0:
        return EMPTY
    driver = rows.names_like(states.MODULE_LOADING)
    pick = pick[driver[rows.name[pick]] == loading]
    return intervals.union(rows.start_ns[pick], rows.end_ns(pick))


def _feeding(work: Work, unseen: Unseen) -> list[tuple[int, Span]]:
    """For each thread, the time in which it is the one that enqueues next (-1: not known).

    The one that enqueues next launched the next activity to start, or makes the next call whose
    activity has no row. Of those that start together, the one that was called first.
    """
    when = np.concatenate((work.start_ns, unseen.end_ns))
    called = np.concatenate((work.called_ns, unseen.start_ns))
    who = np.concatenate((work.thread, unseen.lane))
    order = np.lexsort((who, called, when))
    when, who = when[order], who[order]
    since = np.concatenate((np.array([np.iinfo(np.int64).min // 4]), when[:-1]))
    return [
        (lane, intervals.union(since[who == lane], when[who == lane]))
        for lane in np.unique(who).tolist()
    ]


def _host_layers(
    timeline: Timeline,
    work: Work,
    host: HostStates,
    unseen: Unseen,
    owner_lane: int | None,
    idle: Span,
) -> list[Layer]:
    """Layers of time in which nothing is enqueued, by the state of the thread that feeds."""
    found: dict[str, list[Span]] = {}
    loading = _overhead(timeline, loading=True)

    def add(account: str, span: Span, within: Span) -> None:
        found.setdefault(account, []).append(intervals.intersect(within, span))

    for lane, turn in _feeding(work, unseen):
        if lane < 0:
            continue
        within = intervals.intersect(idle, turn)
        if len(within[0]) == 0:
            continue
        thread = host.thread(lane)
        for state, account in STATE_ACCOUNT:
            if state in thread.inside:
                add(account, thread.inside[state], within)
        add("compile", loading, within)
        add("refill", thread.refill, within)
        add("host_launch", thread.inside.get(State.LAUNCH, EMPTY), within)
        add("host_ops", thread.inside.get(State.OPS, EMPTY), within)
        add("host_ops", thread.inside.get(State.PYTHON, EMPTY), within)
        if (
            owner_lane is not None
            and owner_lane != lane
            and _same_process(timeline, owner_lane, lane)
        ):
            # The engine's thread has no rows while the owner still prepares its work.
            add("host_ops", host.thread(owner_lane).covered(), within)
        add("host_between_ops", thread.extent, within)
    order = [a for _, a in STATE_ACCOUNT] + [
        "refill",
        "host_launch",
        "host_ops",
        "host_between_ops",
    ]
    layers: list[Layer] = []
    for account in order:
        if account in found:
            span = intervals.union_of(found.pop(account))
            layers.append(("host_sync" if account == "refill" else account, span))
    return layers


def _same_process(timeline: Timeline, a: int, b: int) -> bool:
    return timeline.lanes[a].pid == timeline.lanes[b].pid


def paint(
    device: str,
    layers: Sequence[Layer],
    inside: Span,
    windows: Sequence[DeviceLap],
    merged: dict[str, Sequence[str]],
    notes: Sequence[str],
    leaves: Sequence[Account],
    tree: Sequence[Account],
    cpu: bool = False,
) -> DeviceLedger:
    """Give each instant of ``inside`` to the first layer that has it."""
    column = {a.id: j for j, a in enumerate(leaves)}
    low = np.array([w.start_ns for w in windows], dtype=np.int64)
    high = np.array([w.end_ns for w in windows], dtype=np.int64)
    ns = np.zeros((len(windows), len(leaves)), dtype=np.int64)
    starts: list[I64] = []
    ends: list[I64] = []
    accounts: list[Ints] = []
    left = inside
    for account, span in layers:
        hit = intervals.intersect(left, span)
        if len(hit[0]) == 0:
            continue
        left = intervals.subtract(left, hit)
        ns[:, column[account]] += intervals.by_window(hit, low, high)
        starts.append(hit[0])
        ends.append(hit[1])
        accounts.append(np.full(len(hit[0]), column[account], dtype=np.int8))
    order = np.argsort(np.concatenate(starts), kind="stable") if starts else np.zeros(0, np.int64)
    segments = Segments(
        np.concatenate(starts)[order] if starts else np.zeros(0, np.int64),
        np.concatenate(ends)[order] if ends else np.zeros(0, np.int64),
        np.concatenate(accounts)[order] if accounts else np.zeros(0, np.int8),
    )
    return DeviceLedger(
        device=device,
        cpu=cpu,
        leaves=leaves,
        tree=tree,
        windows=windows,
        ns=ns,
        segments=segments,
        merged={k: v for k, v in merged.items() if k in column},
        notes=notes,
    )


def _plain_leaf(account: str, used: set[str]) -> bool:
    """Leaves that a ledger of this evidence has even when empty.

    ``idle`` replaces its parts where they cannot be told; the split of exposed communication
    needs the other ranks.
    """
    if account in DEVICE_PARENTS or account in ("idle", "off_cpu"):
        return False
    if account in ("exposed_comm_transfer", "exposed_comm_wait"):
        return False
    parts = ("launch_latency", "kernel_gap", "event_wait", "host_between_ops", "host_ops")
    host = ("host_launch", "input_wait", "host_sync", "allocator", "gc", "compile", "side_work")
    return not ("idle" in used and account in parts + host)
