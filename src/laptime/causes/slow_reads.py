"""Cause: what loads stands still for storage."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.counted import counted
from laptime.causes.limits import INPUT_SHARE, WORKERS_STARVED
from laptime.causes.loader import loader_rows, loader_time
from laptime.causes.view import device_views, feeding_lanes, lane_rows
from laptime.causes.workers import loading


class SlowReads:
    """Slow reads from storage.

    What it is
        The loader's workers (or the training process, without workers) wait for the disk or for a
        file system, and the lap waits for them.

    How it shows
        Account ``input_wait`` of at least 5 % of the lap, and at least 30 % of the loading
        processes' time in uninterruptible sleep (state D) at the sampler's ticks.

    Why it costs
        No batch is made while a read is under way, and reads of one worker come one by one.

    How the gain is predicted
        Bound: the time in account ``input_wait`` x the share of loading time spent in reads.

    What is not flagged
        Waiting for the network by sockets: the kernel shows it as ordinary sleep (the finding
        ``input-starvation`` says how much the workers sleep). Reads from the page cache: they do
        not sleep. Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "slow-reads"
    title = "Loading waits for storage"
    layer = "data"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS, Need.SCHED, Need.LOADER_SPANS)
    silences: Sequence[str] = ("input-starvation",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that waits longest for input."""
        rank = case.timeline.rank
        views = [v for v in device_views(case) if v.knows("input_wait")]
        if not views:
            return Clear(self.id, "the ledger tells no waiting for input", rank)
        view = max(views, key=lambda v: v.share(v.time_in("input_wait")))
        wait = view.time_in("input_wait")
        spent = loader_time(view, lane_rows(case, loader_rows(case), feeding_lanes(view)))
        seen = loading(case, spent.spans)
        if seen is None or view.share(wait) < INPUT_SHARE.value:
            told = wording.below(view.share(wait), INPUT_SHARE.value, "of the lap")
            return Clear(self.id, f"waiting for input takes {told}", rank)
        who = "the loader's workers" if seen.workers else "the training process"
        reads = f"in {wording.percent(seen.reading)} of the samples' time"
        if seen.reading < WORKERS_STARVED.value:
            return Clear(self.id, f"{who} stand still for storage {reads}", rank)
        of = counted(case)
        bound = round(view.mean_ns(wait) * seen.reading)
        got = [of.part(p, "read_bytes") for p in of.workers() or [of.own]]
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Waiting for input takes {view.of_lap(view.mean_ns(wait))} "
                f"({wording.percent(view.share(wait))}), and {who} stand still for storage "
                f"{reads}{_rate(got)}."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "input_wait x share of loading time in reads = "
                f"{wording.time(view.mean_ns(wait))} x {seen.reading:.2f}"
            ),
            device=view.device,
            rank=rank,
            events=view.longest(spent.spans),
            events_in_all=len(spent.spans),
            why=(f"{seen.phrase[:1].upper()}{seen.phrase[1:]}", of.over),
            next_step=seen.next_steps(),
        )


def _rate(got: Sequence[float | None]) -> str:
    """What processes read together, from bytes each nanosecond; nothing where of none it is known,
    and the least that it is where some are not."""
    known = [bytes_ns for bytes_ns in got if bytes_ns is not None]
    if not known:
        return ""
    least = "at least " if len(known) < len(got) else ""
    who = "together they read" if len(got) > 1 else "it reads"
    return f": {who} {least}{wording.number(sum(known) * 1e9 / 1e6)} MB/s from it"


CAUSE = SlowReads()
