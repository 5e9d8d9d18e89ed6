"""Cause: the program has more threads ready to run than cores to run them on."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import (
    busy_cores,
    cpu_bound_ns,
    main_view,
    on_cpu_time,
    outnumbered,
    run_queue_share,
    trainers,
    wanted_cores,
)
from laptime.causes.counted import counted
from laptime.causes.limits import RUN_QUEUE_SHARE


class CpuOversubscription:
    """More threads than cores.

    What it is
        The program's own threads (intra-op threads of each process, loader workers, helpers) want
        more cores than it may use, and take turns.

    How it shows
        Run-queue delay (``schedstat``): the time in which threads were ready and had no CPU. Found
        where the training process's threads wait so for at least a tenth of the time they want to
        run, and all processes of the program together want more cores than they may use (CPUs
        allowed, or the control group's quota where it is less).

    Why it costs
        Threads of one operator wait for the last of them; while one has no CPU, the others spin or
        sleep. Each switch also costs caches.

    How the gain is predicted
        Bound: no more than the delay of all its threads in a lap, and no more than the lap's time
        in which a thread is to run (operators, Python, launches): min of both.

    What is not flagged
        Delay that other programs of the host cause (``cpu-contention``): where the program is set
        to no more intra-op threads than cores and uses less than 60 % of them itself, its wish for
        more is not told from theirs. Many threads that sleep. Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "cpu-oversubscription"
    title = "More threads than cores"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS, Need.SCHED)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Hold what the program's threads want against the cores that it may use."""
        of, rank = counted(case), case.timeline.rank
        share, wanted, usable = run_queue_share(of), wanted_cores(of), of.run.usable_cores
        queue = (
            f"threads of the process are without a CPU for {wording.percent(share)} of the time "
            "they want to run"
        )
        view = main_view(case)
        if usable is None or view is None:
            return Clear(self.id, f"{queue}; how many cores it may use is not known", rank)
        cores = wording.count(usable)
        if share < RUN_QUEUE_SHARE.value or not outnumbered(of):
            wants = f"the program's threads want {wording.count(wanted)} of {cores} cores"
            return Clear(self.id, f"{wants}, and {queue}", rank)
        waited = (of.own.increase("wait_ns", of.span) or 0.0) / of.laps
        bound = cpu_bound_ns(view, waited)
        setup = _setup(of.process.threads_intraop, trainers(of), len(of.workers()))
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The program's threads want {wording.count(wanted)} cores and may use {cores}: "
                f"those of the training process are without a CPU for {wording.percent(share)} of "
                f"the time they want to run ({wording.time(waited)} a lap, all threads together)"
                f"{setup}."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "min(run-queue delay of all threads per lap, lap time in which a thread is to run)"
                f" = min({wording.time(waited)}, {wording.time(view.mean_ns(on_cpu_time(view)))})"
            ),
            device=view.device,
            rank=rank,
            why=(
                f"{of.over}: the program's processes ({len(of.counters.processes)} were seen) use "
                f"{wording.count(busy_cores(of))} cores and want {wording.count(wanted)}",
            ),
            next_step=(
                f"size threads to the cores: OMP_NUM_THREADS (or torch.set_num_threads) of at most "
                f"{max(1, int(usable) // trainers(of))} in each training process, fewer where "
                "loader workers compute; torch.set_num_threads(1) in the workers",
            ),
        )


def _setup(threads: int | None, processes: int, workers: int) -> str:
    """How the program is set up, as far as the probe told."""
    parts = []
    if threads is not None:
        each = f" in each of {processes} processes" if processes > 1 else ""
        parts.append(f"{wording.counted(threads, 'intra-op thread')}{each}")
    if workers:
        parts.append(wording.counted(workers, "loader worker"))
    return f"; it is set to {' and '.join(parts)}" if parts else ""


CAUSE = CpuOversubscription()
