"""Cause: the thread of the laps is in Python between operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.gaps import Gaps, gaps, operators
from laptime.causes.limits import BETWEEN_SHARE, LAUNCH_GAP_NS
from laptime.causes.side_calls import SUPPLY, cannot_tell
from laptime.causes.side_cost import (
    Usual,
    in_most_laps,
    judged,
    recording_adds,
    usual,
    watched,
    without_cpu,
)
from laptime.causes.view import DeviceView
from laptime.ledger import intervals


class PythonBetweenOps:
    """Python between operators.

    What it is
        Between one operator and the next, the thread that owns or feeds the lap does something
        that is neither: Python of the program or its libraries, NumPy, file and socket calls, or
        it stands without a CPU.

    How it shows
        Accounts ``python`` and ``between_ops`` (CPU-only) while no other thread is in an operator;
        with a device its idle times above 1 ms with nothing enqueued, as far as the feeding thread
        is in no operator and no call. Where stacks were recorded, by the program's functions; else
        by the operators around the longest gaps. Found from 10 % of the lap: some Python between
        operators is how eager programs are.

    Why it costs
        Nothing computes in that time, and nothing is launched.

    How the gain is predicted
        Bound: that time, a mean per lap. Where few laps make the mean (above twice the middle
        lap's), those with more than twice the middle lap's are left out of it, and said to be: they
        were held up, by what no row tells. Loading, garbage collection, compilation, logging and
        saving are accounts of their own, and not in it where rows show them.

    What is not flagged
        What recording may have added, where laps without the profiler were timed too. What a trace
        without stacks shows: anything may be in its gaps, and the cause abstains (a
        capture knows its loaders, collections and calls). Python beside device work, and in
        shorter idle times: those are ``launch-bound``. The wait for operators of other threads.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: the device waits for launches, which
          are operators and calls.
        - ``kineto/hta/ns_resolution_trace``: the device is never out of work.
    """

    id = "python-between-ops"
    title = "Time between operators"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device whose thread is longest between operators."""
        rank = case.timeline.rank
        views = judged(case)
        if not views:
            lacking = (Need.CAPTURE.value, Need.STACKS.value)
            return (
                cannot_tell(self, case)
                if watched(case)
                else Abstention(self.id, lacking, SUPPLY, rank)
            )
        looked = [gaps(view, operators(view)) for view in views]
        worst = max(looked, key=lambda g: g.view.share(g.span))
        share = worst.view.share(worst.span)
        if share < BETWEEN_SHARE.value:
            told = wording.below(share, BETWEEN_SHARE.value, "of the lap")
            return Clear(self.id, f"gaps between operators take {told}", rank)
        rare = in_most_laps(worst.view, worst.span, BETWEEN_SHARE.value)
        if rare:
            return Clear(self.id, f"gaps between operators take {rare}", rank)
        if case.timeline.capture is None and not watched(case):
            # A loader, a logger, anything may be in the gaps of which the rows are not there.
            return Abstention(
                self.id, (Need.CAPTURE.value, Need.STACKS.value), f"{SUPPLY}: {_told(share)}", rank
            )
        return self._finding(worst, usual(worst.view, worst.span))

    def _finding(self, all_: Gaps, rest: Usual) -> Finding:
        found = all_.inside(rest.laps) if rest.left_out else all_
        view, ns = found.view, found.view.mean_ns(found.span)
        share = view.share(found.span)
        longest = int(found.dur_ns.max())
        functions = found.functions()
        between = found.between()
        place, _, spent = between[0]
        who = "The owning thread is" if view.ledger.cpu else "The device is idle while its host is"
        most = (
            f"; most in {functions[0][0]} ({wording.time(functions[0][1])}{view.per_lap})"
            if functions
            else f"; most {place} ({wording.time(spent)}{view.per_lap})"
        )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{who} between operators for {view.of_lap(ns)} ({wording.percent(share)}), in "
                f"{wording.counted(len(found.dur_ns) / view.laps, 'gap')}{view.per_lap}, the "
                f"longest {wording.time(longest)}{most}{rest.told(view)}."
            ),
            share=share,
            bound_ns=ns,
            formula=(
                f"{_summed(view.ledger.cpu)} = {wording.time(ns)}{view.per_lap}{rest.told(view)}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.longest(_ending(found)),
            events_in_all=len(found.dur_ns),
            why=(
                f"{view.number_in_all(len(found.dur_ns), 'gap')}: "
                f"{view.in_total(intervals.total(found.span))}; the longest {longest:,} ns, "
                f"which is {wording.time(longest)}",
                *(f"in {name}: {wording.time(t)}{view.per_lap}" for name, t in functions),
                *(
                    f"{p}: {wording.counted(n, 'gap')}, {wording.time(t)}{view.per_lap}"
                    for p, n, t in between
                ),
                *_without_cpu(view.case),
                *_recording(view),
                "the events are the operators at which the longest gaps end",
            ),
            next_step=(
                "take work out of the lap (once before it, in a loader's worker, every N laps), or "
                "do it in one call of NumPy or torch for all items"
                if functions
                else "record with --stacks (with_stack=True) to see the functions: which of them "
                "has the time cannot be told without",
            ),
        )


def _told(share: float) -> str:
    return f"gaps between operators take {wording.percent(share)} of the lap"


def _summed(cpu: bool) -> str:
    """The accounts that the bound is made of."""
    if cpu:
        return (
            "accounts python + between_ops of the owning thread, between one operator and the "
            "next, outside autograd's engine"
        )
    return (
        "accounts host_between_ops, and host_ops outside operators and calls, in idle times above "
        f"{wording.time(LAUNCH_GAP_NS.value)}"
    )


def _ending(found: Gaps) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The operators at the end of the longest gaps."""
    order = np.argsort(-found.dur_ns, kind="stable")[:8]
    return np.unique(found.after[order]).astype(np.int64)


def _without_cpu(case: Case) -> tuple[str, ...]:
    """How much of the laps the main thread waits for a CPU, where that was counted."""
    waits = without_cpu(case)
    if waits is None:
        return ()
    return (
        f"the main thread is without a CPU for {wording.percent(waits)} of the laps: some of that "
        "is in these gaps",
    )


def _recording(view: DeviceView) -> tuple[str, ...]:
    """What recording adds to a lap: the profiler's work around operators is in no row."""
    adds = recording_adds(view)
    if adds is None:
        return ()
    return (
        f"recording makes a lap {wording.time(adds)} longer: some of that may be in these gaps",
    )


CAUSE = PythonBetweenOps()
