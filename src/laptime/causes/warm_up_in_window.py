"""Cause: laps of the warm-up are recorded, and a mean over all laps would hold them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from laptime.causes import wording
from laptime.causes.case import Case, Clear, EventRef, Finding, Need, Outcome
from laptime.causes.limits import WARM_UP_EXCESS
from laptime.model.laps import Lap

WARM_UP = "warm-up"


class WarmUpInWindow:
    """Warm-up in the recording.

    What it is
        The first recorded laps still warm up: allocators fill, kernels are chosen and loaded,
        workers start. They are longer, and whoever averages all laps takes them for the run's.

    How it shows
        Laps that are not steady for ``warm-up``, beside steady ones.

    Why it costs
        It costs the run nothing lasting; it makes a mean of all laps too high.

    How the gain is predicted
        There is none, and no bound: laptime's own means leave these laps out.

    What is not flagged
        A mean over all laps within 2 % of that of the steady ones; laps while the launch queue
        fills, which are shorter on the host.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: six steady laps.
        - ``kineto/hta/df_index_resolver``: five steady laps.
    """

    id = "warm-up-in-window"
    title = "Warm-up is in the recording"
    layer = "laps"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Compare the mean of all laps with that of the steady ones."""
        laps, rank = case.ledger.laps, case.timeline.rank
        warming = [lap for lap in laps.laps if not lap.steady and lap.why_not == WARM_UP]
        steady = laps.steady
        if laps.source == "window" or not warming:
            return Clear(self.id, "no lap is told to be warm-up", rank)
        if not steady:
            return Clear(self.id, "no steady lap to compare the warm-up with", rank)
        typical, every = _mean(steady), _mean([*warming, *steady])
        excess = every / typical - 1
        often = wording.counted(len(warming), "lap")
        if excess < WARM_UP_EXCESS.value:
            return Clear(
                self.id,
                f"{often} of warm-up changes the mean by {wording.percent(excess)}",
                rank,
            )
        whole = len(warming) + len(steady)
        takes = "takes" if len(warming) == 1 else "take a mean of"
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{often} of {whole} {takes} {wording.time(_mean(warming))} where steady laps take "
                f"a mean of {wording.time(typical)} "
                f"({wording.number(_mean(warming) / typical)} times); the mean of all {whole} is "
                f"{wording.time(every)}, {wording.percent(excess)} above that of the steady ones."
            ),
            share=None,
            bound_ns=None,
            formula=(
                f"mean of {whole} laps / mean of {len(steady)} steady laps - 1 = "
                f"{wording.time(every)} / {wording.time(typical)} - 1 = "
                f"{wording.percent(excess)}; no bound, since the run loses nothing lasting"
            ),
            device=None,
            rank=rank,
            events=tuple(
                EventRef(lap.label, "laps", lap.start_ns, lap.dur_ns) for lap in warming[:8]
            ),
            events_in_all=len(warming),
            why=(
                *(f"{lap.label}: {wording.time(lap.dur_ns)}, warm-up" for lap in warming[:8]),
                f"{often} of warm-up, {_each(warming, typical)}; laptime's means leave them out",
            ),
            next_step=(
                "leave the first laps out of averages, or profile later: "
                "schedule(wait=5, warmup=2, active=5)",
            ),
        )


def _each(warming: Sequence[Lap], typical: float) -> str:
    """The warm-up's mean lap against that of steady ones ("182 ms / 131 ms = 1.38 times")."""
    mean = _mean(warming)
    return (
        f"{wording.time(mean)} / {wording.time(typical)} = {wording.number(mean / typical)} times"
    )


def _mean(laps: Sequence[Lap]) -> float:
    return fmean(lap.dur_ns for lap in laps)


CAUSE = WarmUpInWindow()
