"""Cause: other programs of the host take the CPUs that this one wants."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import (
    busy_cores,
    main_view,
    others_cores,
    outnumbered,
    run_queue_share,
)
from laptime.causes.counted import counted
from laptime.causes.limits import OTHERS_CORES, RUN_QUEUE_SHARE


class CpuContention:
    """Other programs on the same CPUs.

    What it is
        The program's threads fit the cores that it may use, and yet wait for a CPU: other programs
        of the host use them, or the hypervisor gives them to another guest.

    How it shows
        Run-queue delay of at least a tenth of the time that the process's threads want to run,
        while the program does not outnumber its cores, and others use at least a twentieth of them
        (the host's busy and stolen time, less the program's own).

    Why it costs
        The lap's thread is ready and does not run.

    How the gain is predicted
        There is none, and no bound: the delay lies inside every account and every other finding of
        the recording, all of which are longer for it. Read them with that in mind, or record again
        on a quiet host.

    What is not flagged
        A program that outnumbers its own cores (``cpu-oversubscription``), alone or not. Needs a
        capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "cpu-contention"
    title = "Other programs take the CPUs"
    layer = "evidence"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS, Need.SCHED)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Hold the process's run-queue delay against what others use."""
        of, rank = counted(case), case.timeline.rank
        others, usable, view = others_cores(of), of.run.usable_cores, main_view(case)
        if others is None or usable is None or view is None:
            return Abstention(
                self.id,
                ("CPU time of the host, or the cores allowed",),
                "record where /proc/stat is readable",
                rank,
            )
        stolen = (of.host("cpu.steal_ns") or 0.0) / of.wall_ns
        share = run_queue_share(of)
        taken = others + stolen
        least = OTHERS_CORES.value * usable
        queue = f"without a CPU for {wording.percent(share)} of the time they want to run"
        used = f"others use {wording.count(others)} cores of the host"
        if share < RUN_QUEUE_SHARE.value or taken < least or outnumbered(of):
            return Clear(self.id, f"threads of the process are {queue}; {used}", rank)
        waited = (of.own.increase("wait_ns", of.span) or 0.0) / of.laps
        steal = (
            f", and {wording.count(stolen)} are stolen by the hypervisor" if stolen >= 0.05 else ""
        )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Threads of the training process are {queue} ({wording.time(waited)} a lap, all "
                f"threads together) while the program itself uses {wording.count(busy_cores(of))} "
                f"of its {wording.count(usable)} cores: {used}{steal}."
            ),
            share=None,
            bound_ns=None,
            formula="no bound: the delay lies inside every account and finding of this recording",
            device=view.device,
            rank=rank,
            why=(f"{of.over}: host busy less the program's own time; delay from schedstat",),
            next_step=(
                "find what else runs on the host (top), and give the job cores of its own "
                "(cpuset, taskset, exclusive nodes)",
            ),
        )


CAUSE = CpuContention()
