"""Cause: operators run on one thread while cores are idle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import free_cores, main_view, trainers
from laptime.causes.counted import Counted, counted
from laptime.causes.limits import LARGE_OPERATOR_NS, OPERATOR_SHARE
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Kind


class TooFewThreads:
    """Too few threads for the operators.

    What it is
        On CPU-only runs an operator is spread over intra-op threads. With one (the default of
        torchrun, which sets OMP_NUM_THREADS=1), or with far fewer than the cores, it uses as many.

    How it shows
        The probe reads the number of intra-op threads; the process gets at most half of the cores
        that each training process could have; cores are idle; and operators that work for at
        least 0.2 ms at a stretch (large enough to be split) take a quarter of the lap or more.

    Why it costs
        The lap waits for an operator that could run on several cores.

    How the gain is predicted
        Bound: the time inside those operators x (1 - threads / cores for each training process): no
        operator is sped up beyond the cores.

    What is not flagged
        Laps of small operators, which threads do not speed up; runs with device work; cores that
        others use. Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "too-few-threads"
    title = "Operators run on too few threads"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Hold the threads against the cores, and the operators against their size."""
        of, rank, view = counted(case), case.timeline.rank, main_view(case)
        if view is None or not view.ledger.cpu:
            return Clear(self.id, "operators run on a device", rank)
        threads, usable, free = of.process.threads_intraop, of.run.usable_cores, free_cores(of)
        if threads is None or usable is None or free is None:
            return Abstention(
                self.id,
                ("the number of intra-op threads, or of idle cores",),
                "record with `laptime run` where /proc/stat is readable",
                rank,
            )
        each = usable / trainers(of)
        told = (
            f"{wording.counted(threads, 'intra-op thread')} where {wording.count(each)} cores are "
            f"there for the process, {wording.count(free)} of them idle"
        )
        large = large_operators(view)
        share = view.share(large)
        if 2 * threads > each or free < threads or share < OPERATOR_SHARE.value:
            return Clear(
                self.id, f"{told}; large operators take {wording.percent(share)} of the lap", rank
            )
        return self._finding(of, view, large, threads, each, told)

    def _finding(
        self, of: Counted, view: DeviceView, large: Span, threads: int, each: float, told: str
    ) -> Finding:
        time = view.mean_ns(large)
        bound = round(time * (1 - threads / each))
        variable = of.process.env.get("OMP_NUM_THREADS")
        by = f" (OMP_NUM_THREADS={variable})" if variable else ""
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{told[:1].upper()}{told[1:]}{by}: operators of at least "
                f"{wording.time(LARGE_OPERATOR_NS.value)} take {view.of_lap(time)} "
                f"({wording.percent(view.share(large))})."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "time in large operators x (1 - threads / cores) = "
                f"{wording.time(time)} x (1 - {threads}/{wording.count(each)})"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            why=(of.over,),
            next_step=(
                f"torch.set_num_threads({int(each)}), or OMP_NUM_THREADS={int(each)} in the "
                "environment (torchrun sets it to 1 where it is not set)",
            ),
        )


def large_operators(view: DeviceView) -> Span:
    """The counted time of the owning thread in which it is inside operators and none begins or ends
    for long enough to be split over threads."""
    rows, owner = view.case.timeline.rows, view.case.ledger.laps.owner_lane
    operators = rows.of_kind(Kind.CPU_OP)
    operators = operators[rows.lane[operators] == owner]
    edges = np.unique(np.concatenate((rows.start_ns[operators], rows.end_ns(operators))))
    long = np.flatnonzero(np.diff(edges) >= LARGE_OPERATOR_NS.value)
    return intervals.intersect(
        view.time_in("operators"), intervals.union(edges[long], edges[long + 1])
    )


CAUSE = TooFewThreads()
