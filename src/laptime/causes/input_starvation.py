"""Cause: the device waits for the data loader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.launches import device_unseen
from laptime.causes.limits import INPUT_SHARE
from laptime.causes.loader import LoaderTime, has_workers, loader_rows, loader_time
from laptime.causes.needs import abstention
from laptime.causes.view import DeviceView, device_views, feeding_lanes, lane_rows
from laptime.causes.workers import Loading, loading
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints


class InputStarvation:
    """Input starvation.

    What it is
        The thread that feeds the device waits for the next batch, and nothing is enqueued.

    How it shows
        Account ``input_wait``: the device is idle while that thread is inside the loader's next or
        a queue get, by the names below or one that ``--loader`` gives. On CPU-only runs: the owning
        thread is there.

    Why it costs
        The device could run the next lap's work in that time; only data is missing.

    How the gain is predicted
        Bound: taking the loader away shortens a lap by no more than the loader's time in it, and by
        no more than the device is idle in it: min(loader span, idle), the means of a host lap and
        of a device window. A span inside another one of its thread counts once.

    What is not flagged
        A loader's span, however long, that overlaps device work: it costs nothing. Where launches
        are recorded but no device rows, that cannot be known, and the cause abstains; so it does
        where only threads that do not feed the device load.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: the loader's next returns at once in
          every lap but the first, which waits for its workers.
        - ``kineto/param-dlrm-8ranks/worker0``: a loader's span is recorded, but lasts microseconds.
    """

    id = "input-starvation"
    title = "Waits for input"
    layer = "data"
    needs: Sequence[Need] = (Need.LOADER_SPANS,)
    silences: Sequence[str] = ("launch-bound",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest."""
        views = [v for v in device_views(case) if v.knows("input_wait")]
        if not views or device_unseen(case):
            return self._cannot_tell(case)
        view = max(views, key=lambda v: v.share(v.time_in("input_wait")))
        loader = lane_rows(case, loader_rows(case), feeding_lanes(view))
        wait = view.time_in("input_wait")
        share = view.share(wait)
        if share < INPUT_SHARE.value:
            spent = loader_time(view, loader)
            if spent.span_ns == 0:
                return self._elsewhere(view, loader)
            taken = _taken(view, spent)
            left = (
                f"the owning thread waits {wording.percent(share)} of the lap"
                if view.ledger.cpu
                else f"the device is idle for it {wording.percent(share)} of its own time"
            )
            return Clear(self.id, f"the loader takes {taken}, and {left}", case.timeline.rank)
        return self._finding(view, loader, wait)

    def _elsewhere(self, view: DeviceView, mine: Ints) -> Clear | Abstention:
        """No loader on the threads that feed the device: what other threads load bounds the wait
        for them, which their rows do not show."""
        rank = view.case.timeline.rank
        others = np.setdiff1d(loader_rows(view.case), mine)
        spent = loader_time(view, others)
        if spent.span_ns == 0:
            return Clear(self.id, "no loader's span in the counted laps", rank)
        taken = f"the loader runs on another thread for {_taken(view, spent)}"
        if spent.span_ns < INPUT_SHARE.value * spent.lap_ns:
            return Clear(self.id, taken, rank)
        return Abstention(
            self.id,
            (f"rows of the wait for it: {taken}",),
            "profile with with_stack=True, so that the feeding thread's queue get is recorded",
            rank,
        )

    def _cannot_tell(self, case: Case) -> Abstention:
        """The ledger could not tell waiting for input from other idle time."""
        lacking = [n for n in (Need.GPU_ROWS, Need.LAUNCH_CALLS) if n not in case.has]
        return abstention(self.id, lacking or [Need.LAUNCH_CALLS], case.timeline.rank)

    def _finding(self, view: DeviceView, loader: Ints, wait: Span) -> Finding:
        share, wait_ns = view.share(wait), view.mean_ns(wait)
        spent = loader_time(view, loader)
        workers = has_workers(view.case.timeline.rows, loader)
        if view.ledger.cpu:
            bound = wait_ns
            formula = f"time of the owning thread in account input_wait = {wording.time(wait_ns)}"
            taken = _taken(view, spent)
            sentence = f"The loader takes {taken} ({wording.percent(share)}) of the owning thread"
        else:
            idle_ns = view.mean_ns(view.time_in("idle"))
            span_ns = max(spent.span_ns, wait_ns)
            bound = min(span_ns, idle_ns)
            host = " a host lap" if spent.laps > 1 else ""
            window = " a device window" if view.laps > 1 else ""
            formula = (
                f"min(loader span{host}, device idle{window}) = "
                f"min({wording.time(span_ns)}, {wording.time(idle_ns)})"
            )
            sentence = _what_it_left(view, spent, wait_ns, share)
        sentence += {
            False: "; it runs in the training process (num_workers 0)",
            True: "; workers already load (num_workers above 0), and are behind",
            None: "",
        }[workers]
        seen = loading(view.case, spent.spans) if workers is not None else None
        steps = _next_steps(workers)
        if seen is not None:
            what = seen.diagnosis()
            sentence += f": {seen.phrase}" + (f": {what}" if what else "")
            steps = seen.next_steps() or steps
        return Finding(
            id=self.id,
            title=self.title,
            sentence=sentence + ".",
            share=share,
            bound_ns=bound,
            formula=formula,
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.longest(spent.spans),
            events_in_all=len(spent.spans),
            why=(*_why(view, spent, wait), *_named(workers), *_sampled(seen)),
            next_step=steps,
        )


def _why(view: DeviceView, spent: LoaderTime, wait: Span) -> tuple[str, ...]:
    """How the sentence's figures come about: sums, what they are over, and their means."""
    each = f"{wording.counted(len(spent.spans), 'span')} in {_laps(view, spent)}"
    span = f"loader's next: {each}, {_sum(spent.span_all_ns, spent.laps)}"
    waits = intervals.total(wait)
    if view.ledger.cpu:
        return (span, f"account input_wait of the owning thread: {_sum(waits, view.laps)}")
    windows = "its window" if view.laps == 1 else f"its own {view.laps} counted windows"
    laps_ns = round(spent.lap_ns * spent.laps)
    return (
        span,
        f"length of {_laps(view, spent)}: {_sum(laps_ns, spent.laps)}",
        f"of it the device is idle for {_sum(spent.idle_all_ns, spent.laps)}, "
        f"and at work for {_sum(spent.hidden_all_ns, spent.laps)}",
        f"in {windows} the device is idle while the thread that enqueues next is in the loader's "
        f"next: {_sum(waits, view.laps, 'a window')}",
    )


def _named(workers: bool | None) -> tuple[str, ...]:
    """How it is known whether workers load."""
    if workers is None:
        return ()
    whose = "of one with (num_workers above 0)" if workers else "of one without (num_workers 0)"
    return (f"workers: the iterator's name is that {whose}",)


def _sampled(seen: Loading | None) -> tuple[str, ...]:
    """What the workers' shares rest on."""
    if seen is None:
        return ()
    cores = "" if seen.cores is None else f" of {wording.count(seen.cores)}"
    return (
        f"shares of time from the kernel's totals, interpolated between {seen.ticks} samples; the "
        f"program uses {wording.count(seen.busy_cores)}{cores} cores over the laps",
    )


def _laps(view: DeviceView, spent: LoaderTime) -> str:
    """The laps that the loader's time is taken in: the host's, where there is a device."""
    if view.case.ledger.laps.source == "window":
        return "the recording"
    whose = "" if view.ledger.cpu else "host "
    return f"the one {whose}lap" if spent.laps == 1 else f"{spent.laps} {whose}laps"


def _sum(ns: int, laps: int, each: str = "a lap") -> str:
    """A sum to the nanosecond and, of several laps, their mean."""
    return f"{ns:,} ns" + (
        f" in all, {wording.time(ns / laps)} {each}"
        if laps > 1
        else f", which is {wording.time(ns)}"
    )


def _taken(view: DeviceView, spent: LoaderTime) -> str:
    """The loader's span and its host lap ("69.3 of each 175 ms lap")."""
    window = view.case.ledger.laps.source == "window"  # the host's, longer than the device's
    return wording.part_of(spent.span_ns, spent.lap_ns, "the {} recording" if window else view.each)


def _what_it_left(view: DeviceView, spent: LoaderTime, wait_ns: int, share: float) -> str:
    """The loader's span in the host's laps, and what of it left the device idle.

    The share is the ledger's, of device windows; where its time reads differently from that in the
    host's laps, both are given with their lap, so that neither looks like the other.
    """
    sentence = (
        f"The loader takes {_taken(view, spent)} and leaves the device idle for "
        f"{wording.time(spent.idle_ns)}"
    )
    if wording.time(wait_ns) == wording.time(spent.idle_ns):
        sentence += f" ({wording.percent(share)})"
    if spent.hidden_ns > 0:
        sentence += f"; the other {wording.time(spent.hidden_ns)} overlap device work"
    if wording.time(wait_ns) != wording.time(spent.idle_ns):
        sentence += (
            f"; of the device's own {'window' if view.laps == 1 else 'windows'} that is "
            f"{view.of_lap(wait_ns)} "
            f"({wording.percent(share)})"
        )
    return sentence


def _next_steps(workers: bool | None) -> tuple[str, ...]:
    """Advice that fits how the loader is already configured."""
    if workers is False:
        return (
            "load in worker processes: DataLoader(num_workers=N, persistent_workers=True), "
            "N from 2 up to the cores free",
        )
    if workers is True:
        return (
            "find what each worker spends its time on (decode, storage, collate): more workers "
            "help only while cores are idle",
            "raise prefetch_factor if single batches are slow and the mean is not",
        )
    return ("profile the loader's own process: read, decode and collate time per batch",)


CAUSE = InputStarvation()
