"""Cause: the loader's workers are started again and again."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.counted import counted
from laptime.causes.limits import REMADE_SHARE
from laptime.causes.view import device_views


class WorkersRemade:
    """Loader workers made again.

    What it is
        Each new iterator over a DataLoader starts its worker processes anew, unless
        ``persistent_workers=True``. With short epochs, or an iterator made in every lap, the start
        is paid again and again: processes are forked or spawned, modules imported, the first batch
        awaited with nothing prefetched.

    How it shows
        Worker processes that were first seen inside the laps. The laps in which that happened are
        held against the median of the others.

    Why it costs
        The lap waits for processes to start.

    How the gain is predicted
        Bound: what the laps with a start took more than the median of the laps without, summed, as
        a mean over all laps. None where every lap has a start: there is no lap to compare with.

    What is not flagged
        The first start, before the laps; starts that cost less than 5 % of the laps' time. Needs a
        capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "workers-remade"
    title = "Loader workers are made again"
    layer = "data"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Find the laps in which workers start, and what they took more."""
        of, rank = counted(case), case.timeline.rank
        started = [p.lifetime()[0] for p in of.workers()]
        laps = of.process.of_phase("plain", "recorded")
        period = of.counters.period_ns or 0
        # A process is first seen at the tick after its start.
        starting = [
            lap
            for lap in laps
            if any(lap.start_ns <= at - period // 2 < lap.end_ns for at in started)
        ]
        starts = sum(any(x.start_ns <= at - period // 2 < x.end_ns for x in laps) for at in started)
        if not starting:
            return Clear(self.id, "no worker was started inside the laps", rank)
        rest = [lap.dur_ns for lap in laps if lap not in starting]
        whole = max(1, sum(lap.dur_ns for lap in laps))
        usual = median_low(rest) if rest else None
        extra = 0 if usual is None else sum(max(0, lap.dur_ns - usual) for lap in starting)
        told = (
            f"{wording.counted(starts, 'worker')} started in {len(starting)} of "
            f"{wording.counted(len(laps), 'lap')}"
        )
        if usual is not None and extra < REMADE_SHARE.value * whole:
            share = wording.below(extra / whole, REMADE_SHARE.value, "of the laps' time")
            return Clear(self.id, f"{told}, which cost {share}", rank)
        took = sum(lap.dur_ns for lap in starting) / len(starting)
        views = device_views(case)
        bound = None if usual is None else round(extra / len(laps))
        against = "" if usual is None else f", against {wording.time(usual)} (median of the others)"
        return Finding(
            id=self.id,
            title=self.title,
            sentence=f"{told}: those laps take {wording.time(took)} each{against}{_set(of)}.",
            share=None if bound is None else extra / whole,
            bound_ns=bound,
            formula=(
                "no bound: every lap has a start"
                if usual is None
                else "sum over laps with a start of (lap - median of the others) / laps = "
                f"{wording.time(extra)} / {len(laps)}"
            ),
            device=views[0].device if views else None,
            rank=rank,
            why=(of.over,),
            next_step=(
                "DataLoader(..., persistent_workers=True), and one iterator for the whole epoch",
                "or longer epochs: a sampler that repeats the data set",
            ),
        )


def _set(of: object) -> str:
    """What the probe told of ``persistent_workers``."""
    process = getattr(of, "process")  # noqa: B009
    said = {loader.persistent_workers for loader in process.loaders if loader.num_workers}
    return f"; persistent_workers is {said.pop()}" if len(said) == 1 and None not in said else ""


CAUSE = WorkersRemade()
