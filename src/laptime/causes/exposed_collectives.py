"""Cause: communication that no computation hides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.launches import device_unseen
from laptime.causes.limits import COMM_SHARE
from laptime.causes.needs import abstention
from laptime.causes.slack import capped, too_small
from laptime.causes.thread_comm import (
    longest_names,
    runs_on_device,
    thread_comm,
    thread_comm_rows,
)
from laptime.causes.view import DeviceView, device_views, gpu_views
from laptime.kernels.operations import COMM_OPERATIONS
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.ledger.work import WorkClass
from laptime.model.rows import Ints

EXPOSED = ("exposed_comm", "exposed_comm_transfer", "exposed_comm_wait")


class ExposedCollectives:
    """Exposed collectives.

    What it is
        Communication runs while no compute kernel does: the lap waits for it.

    How it shows
        Accounts ``exposed_comm``, ``exposed_comm_transfer``, ``exposed_comm_wait``. On CPU-only
        runs: the owning thread is inside ``gloo:``, ``mpi:`` or ``c10d::`` rows and in no operator
        that began since; or it starts them, and is in no row while another thread of the process is
        in such a row of gloo or MPI.

    Why it costs
        The device's multiprocessors stand still, whether bytes move or another rank is late.

    How the gain is predicted
        Bound: the counted time in these accounts, the most that perfect overlap could hide, and
        never more than the host waits for the device. One rank's trace does not show when the
        others arrived, so transfer and waiting are not split.

    What is not flagged
        Communication under compute kernels, however much of it; copies beside it do not hide it.
        Communication for which the host leaves no time to gain.

    Must not flag
        - ``kineto/hta/ns_resolution_trace``: a world of one rank, no communication.
        - ``kineto/tracelens/h100/Qwen``: one device, no communication.
    """

    id = "exposed-collectives"
    title = "Exposed communication"
    layer = "communication"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device with most exposed communication."""
        rank = case.timeline.rank
        if Need.GPU_ROWS not in case.has:
            return self._on_thread(case)
        looked = [(view, view.time_in(*EXPOSED)) for view in gpu_views(case)]
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, span = max(looked, key=lambda v: v[0].share(v[1]))
        share = view.share(span)
        if share < COMM_SHARE.value:
            why = (
                f"exposed communication is {wording.below(share, COMM_SHARE.value, 'of the lap')}"
                if len(_communication(view))
                else "no communication in the counted laps"
            )
            return Clear(self.id, why, rank)
        exposed = view.mean_ns(span)
        bound, host_bound = capped(view, exposed)
        if host_bound and too_small(view, bound):
            return Clear(
                self.id,
                f"communication without computation takes {view.of_lap(exposed)} "
                f"({wording.percent(share)}), but {host_bound}",
                rank,
            )
        kinds = _by_kind(view, span)
        named = wording.listed(
            f"{wording.count(number / view.laps)} {name} {wording.time(ns)}"
            for name, ns, number in kinds
        )
        covered = view.mean_ns(view.time_in("compute_with_comm"))
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Communication without computation takes {view.of_lap(exposed)} "
                f"({wording.percent(share)}): {named}{view.per_lap}; transfer and waiting for "
                "late ranks cannot be told apart on one rank"
                + (f"; {host_bound}." if host_bound else ".")
            ),
            share=share,
            bound_ns=bound,
            formula=(
                f"time in {', '.join(a for a in EXPOSED if view.knows(a))} = "
                f"{wording.time(exposed)}{view.per_lap}" + (f"; {host_bound}" if host_bound else "")
            ),
            device=view.device,
            rank=rank,
            events=view.events(_communication(view)),
            events_in_all=view.number(_communication(view)),
            why=(
                f"communication beside computation: {wording.time(covered)}{view.per_lap}, "
                "not counted",
                *(
                    f"{name}: {view.number_in_all(number, 'row')}; exposed {wording.time(ns)}"
                    f"{view.per_lap}"
                    for name, ns, number in kinds[:8]
                ),
            ),
            next_step=(
                "look at the other ranks' traces for who arrives last: each rank is explained by "
                "itself, and waiting is not yet told from transfer",
                "start communication earlier (DDP bucket_cap_mb, FSDP prefetch), or move less",
            ),
        )

    def _on_thread(self, case: Case) -> Outcome:
        """Judge the owning thread of a CPU-only run by its rows of communication."""
        rank = case.timeline.rank
        views = [v for v in device_views(case) if len(thread_comm_rows(v))]
        if not views or device_unseen(case):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        on_device = runs_on_device(case.timeline.rows)
        view = views[0]
        span, names = thread_comm(view), longest_names(view)
        share, alone = view.share(span), view.mean_ns(span)
        if on_device or (on_device is None and share < COMM_SHARE.value):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        if share < COMM_SHARE.value:
            return Clear(
                self.id,
                "the owning thread only communicates for "
                f"{wording.below(share, COMM_SHARE.value, 'of the lap')}",
                rank,
            )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The owning thread does nothing but communicate for {view.of_lap(alone)} "
                f"({wording.percent(share)}), most of it in {names[0]}; transfer and waiting for "
                "late ranks cannot be told apart on one rank."
            ),
            share=share,
            bound_ns=alone,
            formula=(
                "time of the owning thread inside rows of communication, without operators that "
                f"begin inside them = {wording.time(alone)}{view.per_lap}"
            ),
            device=view.device,
            rank=rank,
            events=view.events(thread_comm_rows(view)),
            events_in_all=view.number(thread_comm_rows(view)),
            why=(f"rows: {wording.listed(names)}",),
            next_step=("start communication earlier (DDP bucket_cap_mb), or move less",),
        )


def _communication(view: DeviceView) -> Ints:
    """Rows of communication inside the counted windows."""
    work = view.work
    if work is None:
        return np.zeros(0, dtype=np.int64)
    inside = view.touching(work.start_ns, work.end_ns)
    found: Ints = work.row[inside[work.klass[inside] == int(WorkClass.COMM)]]
    return found


def _by_kind(view: DeviceView, exposed: Span) -> list[tuple[str, int, int]]:
    """(collective, exposed ns per lap, number in the counted laps), most time first."""
    rows = view.case.timeline.rows
    every = _communication(view)
    said = rows.texts.get("Collective name")
    labels = said.of(every) if said is not None else [None] * len(every)
    decoded = view.case.kernel_names
    groups: dict[str, list[int]] = {}
    for row, label in zip(every.tolist(), labels, strict=True):
        kernel = decoded.get(int(rows.name[row]))
        operation = kernel.operation if kernel is not None and kernel.comm else "collective"
        groups.setdefault(_operation(label) or operation, []).append(row)
    found = []
    for name, members in groups.items():
        span = intervals.intersect(exposed, view.rows_span(np.array(members, dtype=np.int64)))
        found.append((name, view.mean_ns(span), len(members)))
    return sorted(found, key=lambda f: (-f[1], f[0]))


def _operation(label: str | None) -> str | None:
    """A recorded collective's name in the words of kernel names ("_allgather_base": all_gather).

    The record is asked before the kernel's name, which may be generic.
    """
    if not label:
        return None
    plain = label.lower().strip("_").removesuffix("_base").removesuffix("_coalesced")
    for operation in COMM_OPERATIONS:
        if plain.replace("_", "") == operation.replace("_", ""):
            return operation
    return plain


CAUSE = ExposedCollectives()
