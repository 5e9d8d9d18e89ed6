"""Cause: settings for debugging are on while the run is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.checks import checked_and_read
from laptime.causes.launches import device_unseen
from laptime.causes.limits import ANOMALY_NODES, BLOCKING_LAUNCHES, DEBUG_SHARE
from laptime.causes.needs import abstention
from laptime.causes.row_cost import cost_of_rows
from laptime.causes.view import DeviceView, device_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.states import KERNEL_LAUNCH
from laptime.model.rows import Ints, Kind

IDLE_OF_BLOCKING = ("host_launch", "host_ops", "host_between_ops", "launch_latency", "kernel_gap")
"""Idle accounts that a host running ahead would not show."""
LEAST_LAUNCHES = 20
NODES = re.compile(r"^autograd::engine::evaluate_function: (?!.*AccumulateGrad)")
VARIABLES = ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL")


@dataclass(frozen=True)
class Debugging:
    """What shows of debugging on one device, with the time that goes by for it."""

    blocking: Span
    launches: int
    blocked: int
    longest: Ints
    anomaly: Span
    nodes: int
    checked: int
    checks: Ints

    @property
    def span(self) -> Span:
        """The time of both."""
        return intervals.both(self.blocking, self.anomaly)


class DebugSettings:
    """Settings for debugging.

    What it is
        ``CUDA_LAUNCH_BLOCKING=1`` (``HIP_LAUNCH_BLOCKING``, ``AMD_SERIALIZE_KERNEL``) or autograd's
        anomaly mode is on.

    How it shows
        Blocking launches: the calls that launch kernels return after their kernel has ended.
        Anomaly mode: inside the nodes that autograd's engine evaluates, gradients are checked for
        NaN and the outcome is read.

    Why it costs
        The host can never run ahead of the device; anomaly mode also passes over every gradient.

    How the gain is predicted
        Bound: for blocking launches the counted time in which the device is idle in
        ``host_launch``, ``host_ops``, ``host_between_ops``, ``launch_latency`` and ``kernel_gap``,
        the most that a host running ahead could hide; for anomaly mode the time of its checks, on
        CPU-only runs the owning thread's.

    What is not flagged
        What the profiler's own options cost (shapes, stacks, memory); checks that the program makes
        itself (checks-in-hot-path has them).

    Must not flag
        - ``kineto/tracelens/h100/gaunernst_bert-small``: launch-bound, and no call waits for its
          kernel.
        - ``kineto/tracelens/inference/sglang_decode/sglang_Qwen3``: nine eager launches.
    """

    id = "debug-settings"
    title = "Debug settings are on"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("launch-bound", "host-sync")

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for such settings."""
        rank = case.timeline.rank
        if Need.GPU_ROWS in case.has and Need.LAUNCH_CALLS not in case.has:
            return abstention(self.id, [Need.LAUNCH_CALLS], rank)
        looked = [(view, _debugging(view)) for view in device_views(case)]
        if not looked or device_unseen(case):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        view, found = max(looked, key=lambda v: (v[0].share(v[1].span), v[1].blocked))
        share = view.share(found.span)
        if share < DEBUG_SHARE.value:
            told = []
            if not view.ledger.cpu:
                launches = f"{found.blocked} of {found.launches} launches"
                told.append(f"{launches} last until their kernel has ended")
            if found.nodes or view.ledger.cpu:
                told.append(f"{found.checked} of {found.nodes} nodes of autograd check for NaN")
            return Clear(self.id, "; ".join(told), rank)
        return self._finding(view, found, share)

    def _finding(self, view: DeviceView, found: Debugging, share: float) -> Finding:
        rank = view.case.timeline.rank
        parts, steps, why = [], [], []
        if intervals.total(found.blocking):
            parts.append(
                f"{found.blocked} of {found.launches} launches return only when their kernel has "
                f"ended, and the device is idle between them for "
                f"{wording.time(view.mean_ns(found.blocking))}"
            )
            steps.append("unset CUDA_LAUNCH_BLOCKING (HIP_LAUNCH_BLOCKING, AMD_SERIALIZE_KERNEL)")
            why += _variables(view)
        if intervals.total(found.anomaly):
            parts.append(
                f"{found.checked} of {found.nodes} nodes of autograd check their gradients for NaN "
                f"(anomaly mode), for {wording.time(view.mean_ns(found.anomaly))}"
            )
            steps.append("torch.autograd.set_detect_anomaly(False), and no detect_anomaly() around")
        bound = view.mean_ns(found.span)
        events = np.concatenate((found.longest, found.checks))
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Settings for debugging cost {view.of_lap(bound)} ({wording.percent(share)}): "
                f"{'; '.join(parts)}."
            ),
            share=share,
            bound_ns=bound,
            formula=(
                "idle of blocking launches + checks of anomaly mode, as sets of time = "
                f"{wording.time(view.mean_ns(found.blocking))} and "
                f"{wording.time(view.mean_ns(found.anomaly))}, {wording.time(bound)} together"
            ),
            device=view.device,
            rank=rank,
            events=view.events(events),
            events_in_all=view.number(events),
            why=tuple(why),
            next_step=tuple(steps),
        )


def _debugging(view: DeviceView) -> Debugging:
    launches, calls = _launches(view)
    ends = launches if view.work is None else view.work.end_ns[launches]
    until_end = view.case.timeline.rows.end_ns(calls) >= ends
    blocked = int(until_end.sum())
    blocks = len(launches) >= LEAST_LAUNCHES and blocked >= BLOCKING_LAUNCHES.value * len(launches)
    nodes, checked, checks = _anomaly(view)
    anomalous = nodes > 0 and checked >= ANOMALY_NODES.value * nodes
    return Debugging(
        blocking=view.time_in(*IDLE_OF_BLOCKING) if blocks else intervals.EMPTY,
        launches=len(launches),
        blocked=blocked,
        longest=calls[until_end] if blocks else calls[:0],
        anomaly=cost_of_rows(view, checks) if anomalous else intervals.EMPTY,
        nodes=nodes,
        checked=checked,
        checks=checks if anomalous else checks[:0],
    )


def _launches(view: DeviceView) -> tuple[Ints, Ints]:
    """Kernels of the counted windows that a launch call of their own enqueued, and those calls."""
    rows, work = view.case.timeline.rows, view.work
    if work is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    at = np.flatnonzero(work.launched & (rows.kind[work.row] == Kind.KERNEL))
    at = at[view.touching(work.start_ns[at], work.end_ns[at])]
    calls = work.call_row[at].astype(np.int64)
    kept = rows.names_like(KERNEL_LAUNCH)[rows.name[calls]]
    return at[kept], calls[kept]


def _anomaly(view: DeviceView) -> tuple[int, int, Ints]:
    """Nodes that autograd's engine evaluates in the counted laps (without those that only add up a
    parameter's gradient: they have nothing to check), how many of them check for NaN,
    and the operators of the checks."""
    rows = view.case.timeline.rows
    nodes = rows.like(NODES, Kind.CPU_OP)
    nodes = nodes[view.touching(rows.start_ns[nodes], rows.end_ns(nodes))]
    checks = checked_and_read(view)[1]
    held = 0
    for lane in np.unique(rows.lane[checks]).tolist():
        mine = nodes[rows.lane[nodes] == lane]
        starts = np.sort(rows.start_ns[checks[rows.lane[checks] == lane]])
        low = np.searchsorted(starts, rows.start_ns[mine])
        high = np.searchsorted(starts, rows.end_ns(mine))
        held += int((high > low).sum())
    return len(nodes), held, checks


def _variables(view: DeviceView) -> list[str]:
    """What a capture says of the variables that make launches block."""
    capture = view.case.timeline.capture
    if capture is None:
        return ["no capture: the environment is not known, the calls show it"]
    env = capture.process.env
    said = [f"{name}={env[name]}" for name in VARIABLES if name in env]
    return [f"environment: {', '.join(said)}"] if said else []


CAUSE = DebugSettings()
