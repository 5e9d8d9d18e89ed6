"""Cause: the trace itself is too short, damaged or incomplete to be trusted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.launches import launches
from laptime.causes.limits import (
    LOST_ACTIVITY_SHARE,
    PROFILER_SHARE,
    STEADY_LAPS,
    UNATTRIBUTED_SHARE,
)
from laptime.causes.view import device_views, steady_counted


class UnhealthyTrace:
    """Trace too short or unhealthy.

    What it is
        The evidence lacks something that every other answer rests on.

    How it shows
        Fewer than three steady laps with a counted window; items lost while reading; kernel
        launches without an activity (the profiler dropped them, or recorded no device rows at all);
        more than 2 % of the time unattributed; the profiler's own overhead above 5 %.

    Why it costs
        It costs nothing in the run; it costs the certainty of everything said about it.

    How the gain is predicted
        There is none, and no bound.

    What is not flagged
        Launches inside graph capture, which run nothing; traces without host or device rows by
        choice, as long as what was recorded is whole.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: six laps, whole, under 2 % unattributed.
        - ``kineto/hta/df_index_resolver``: four steady laps are counted, and nothing is lost.
    """

    id = "unhealthy-trace"
    title = "Trace too short or unhealthy"
    layer = "evidence"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """List what is wrong with the evidence of one timeline."""
        problems, steps = _problems(case)
        rank = case.timeline.rank
        if not problems:
            every = "an activity for every launch" if launches(case).all else "no launch call"
            return Clear(
                self.id,
                f"{wording.counted(steady_counted(case), 'steady lap')} counted, nothing lost, "
                f"{every}, unattributed {wording.percent(_worst(case)[0])}",
                rank,
            )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=f"The trace does not carry firm conclusions: {'; '.join(problems)}.",
            share=None,
            bound_ns=None,
            formula="no bound: this is about the evidence, not about the run",
            device=None,
            rank=rank,
            why=tuple(problems),
            next_step=tuple(dict.fromkeys(steps)),
        )


def _problems(case: Case) -> tuple[list[str], list[str]]:
    """What is wrong, in the order of the catalogue page, and what would mend it."""
    problems: list[str] = []
    steps: list[str] = []

    def say(problem: str, step: str) -> None:
        problems.append(problem)
        steps.append(step)

    laps = case.ledger.laps
    steady = steady_counted(case)
    if laps.source == "window":
        say(
            "no laps could be told, the whole recording counts as one",
            "mark the steps: prof.step() once per step, or record_function around it",
        )
    elif steady < STEADY_LAPS.value:
        say(
            f"{wording.counted(steady, 'steady lap')} counted where a spread needs "
            f"{STEADY_LAPS.value:g}",
            "profile more steps: schedule(wait=1, warmup=1, active=5)",
        )
    source = case.timeline.source
    for loss in case.run.health.losses:
        if loss.source == source:
            say(f"{loss.reason} ({loss.count} lost)", "export the trace again and copy it whole")
    found = launches(case)
    if found.lost and not found.seen:
        say(
            f"{wording.counted(found.lost, 'launch call')} but no device rows",
            "find out why the profiler recorded no kernels (another profiler attached, counters "
            "collected instead, or missing rights)",
        )
    elif found.lost_share >= LOST_ACTIVITY_SHARE.value:
        say(
            f"{found.lost} of {found.all} launches have no activity",
            "profile fewer steps, or without shapes and memory, so that buffers do not overflow",
        )
    unattributed, profiler = _worst(case)
    if unattributed > UNATTRIBUTED_SHARE.value:
        say(
            f"{wording.percent(unattributed)} of the time is unattributed",
            "profile with ProfilerActivity.CPU and with_stack=True",
        )
    if profiler > PROFILER_SHARE.value:
        say(
            f"the profiler itself takes {wording.percent(profiler)} of the time",
            "profile without with_stack, record_shapes and profile_memory",
        )
    return problems, steps


def _worst(case: Case) -> tuple[float, float]:
    """Largest share of unattributed and of profiler time over the devices."""
    views = device_views(case)
    shares = [(v.share(v.time_in("unattributed")), v.share(v.time_in("profiler"))) for v in views]
    if not shares:
        return 0.0, 0.0
    worst = np.array(shares).max(axis=0)
    return float(worst[0]), float(worst[1])


CAUSE = UnhealthyTrace()
