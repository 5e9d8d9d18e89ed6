"""Cause: the device is idle between replays of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import GRAPH_GAP_SHARE
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger import intervals
from laptime.ledger.intervals import EMPTY, Span
from laptime.ledger.states import GRAPH_LAUNCH
from laptime.model.rows import I64, Ints

WAITING = ("host_launch", "host_ops", "host_between_ops", "off_cpu", "launch_latency")


@dataclass(frozen=True)
class Replays:
    """Replays of graphs that touch the counted windows: their calls, starts and ends on the device,
    and the idle gaps right before or behind one that other device work or a replay bounds."""

    call: Ints
    start_ns: I64
    end_ns: I64
    gaps: Span
    waiting: Span


class GraphGaps:
    """Gaps between graph replays.

    What it is
        The work of an iteration is captured in a graph and replays without gaps, but the host is
        late with the next replay: it schedules, samples or copies inputs first.

    How it shows
        Activities of ``cudaGraphLaunch`` (``hipGraphLaunch``), and idle time of the device right
        before the first or behind the last of them, while nothing is enqueued.

    Why it costs
        A replay takes the launches off the host, not what it does between replays.

    How the gain is predicted
        Bound: the counted idle time in ``host_launch``, ``host_ops``, ``host_between_ops``,
        ``off_cpu`` and ``launch_latency`` in gaps that end with a replay's first activity or begin
        with its last.

    What is not flagged
        Gaps between eager kernels (launch-bound has them); waiting for input, blocking calls,
        collection and compilation there, which have causes of their own; a single replay.

    Must not flag
        - ``kineto/tracelens/inference/vllm_decode_full/graph_execution``: one replay, and no gap.
        - ``kineto/hta/negative_queue_length_values_check``: 14 replays a lap, whose kernels are
          not all recorded; no time there is the host's.
    """

    id = "graph-gaps"
    title = "Gaps between graph replays"
    layer = "host"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest beside its replays."""
        rank = case.timeline.rank
        looked = [(view, _replays(view)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, found = max(looked, key=lambda v: (v[0].share(v[1].waiting), len(v[1].call)))
        if len(found.call) < 2:
            told = "one replay" if len(found.call) else "no replay"
            return Clear(self.id, f"{told} of a graph in the counted laps", rank)
        share = view.share(found.waiting)
        often = f"{wording.counted(len(found.call) / view.laps, 'replay')}{view.per_lap}"
        if share < GRAPH_GAP_SHARE.value:
            told = wording.below(share, GRAPH_GAP_SHARE.value, "of the lap")
            return Clear(self.id, f"beside {often} the device waits for the host for {told}", rank)
        bound = view.mean_ns(found.waiting)
        number = len(found.gaps[0])
        each = intervals.total(found.waiting) / number
        inside = view.inside(intervals.union(found.start_ns, found.end_ns))
        where = main_origin(case, found.call)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The device waits {view.of_lap(bound)} ({wording.percent(share)}) for the host "
                f"right before or behind replays of graphs: {often}, "
                f"{wording.counted(number / view.laps, 'gap')}{view.per_lap} of mean "
                f"{wording.time(each)}" + (f", replayed from {where}." if where else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                f"idle in {' + '.join(a for a in WAITING if view.knows(a))}, in gaps that end or "
                f"begin with a replay = {wording.time(bound)}{view.per_lap}"
            ),
            device=view.device,
            rank=rank,
            events=view.events(found.call),
            events_in_all=view.number(found.call),
            why=(
                f"{wording.counted(len(found.call), 'replay')} and "
                f"{wording.counted(number, 'gap')} {view.in_all}: {often}, "
                f"{wording.time(intervals.total(found.waiting))} of waiting, a mean of "
                f"{wording.time(each)}",
                f"replays last {wording.time(view.mean_ns(inside))}{view.per_lap} on the device",
                *origin_lines(case, found.call, view.laps, "replay"),
            ),
            next_step=(
                "prepare the next replay while this one runs: schedule one step ahead, copy inputs "
                "on a stream of their own, read tokens one step late",
                "capture what runs between replays too (sampling, copies of inputs)",
            ),
        )


def _replays(view: DeviceView) -> Replays:
    rows, work = view.case.timeline.rows, view.work
    none = np.zeros(0, dtype=np.int64)
    if work is None:
        return Replays(none, none, none, EMPTY, EMPTY)
    graph = rows.names_like(GRAPH_LAUNCH)
    mine = np.flatnonzero(work.launched)
    mine = mine[graph[rows.name[work.call_row[mine]]]]
    mine = mine[view.touching(work.start_ns[mine], work.end_ns[mine])]
    if len(mine) == 0:
        return Replays(none, none, none, EMPTY, EMPTY)
    call, of = np.unique(work.call_row[mine], return_inverse=True)
    start = np.full(len(call), np.iinfo(np.int64).max, dtype=np.int64)
    end = np.zeros(len(call), dtype=np.int64)
    np.minimum.at(start, of, work.start_ns[mine])
    np.maximum.at(end, of, work.end_ns[mine])
    idle = view.time_in("idle")
    beside = np.isin(idle[1], start) | np.isin(idle[0], end)
    gaps = idle[0][beside], idle[1][beside]
    waiting = intervals.intersect(view.time_in(*WAITING), gaps)
    held = intervals.by_window(waiting, *gaps) > 0
    return Replays(call.astype(np.int64), start, end, (gaps[0][held], gaps[1][held]), waiting)


CAUSE = GraphGaps()
