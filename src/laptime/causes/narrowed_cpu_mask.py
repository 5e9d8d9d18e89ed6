"""Cause: a process is pinned to fewer CPUs than the job may use."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import free_cores, main_view, on_cpu_time
from laptime.causes.counted import Counted, counted
from laptime.causes.limits import IDLE_BESIDE, MASK_BUSY, WANTED_OVER_CORES
from laptime.model.counters import ProcessCounters


class NarrowedCpuMask:
    """A narrowed CPU mask.

    What it is
        The training process, or its loader's workers, may run on fewer CPUs than the job was given:
        a library (OpenMP's KMP_AFFINITY or GOMP_CPU_AFFINITY, a launcher, numactl) set the mask,
        and children inherit it.

    How it shows
        The affinity of the process (and of its workers) is smaller than the CPUs that `laptime run`
        itself was allowed; the threads want a tenth more CPUs than the mask has; and it is full
        (used for at least 85 % by the program) or a quarter of a core is idle beside it.

    Why it costs
        Threads take turns on the CPUs of the mask while others are idle.

    How the gain is predicted
        Bound: with all allowed CPUs the lap's time in which a thread is to run could at best shrink
        in the ratio of the mask to them: that time x (1 - CPUs of the mask / CPUs allowed).

    What is not flagged
        A mask that is not full: the threads fit it. One rank pinned to its own set of cores
        is judged by that set's use alone: where it is full and threads wait, the cause speaks.
        Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "narrowed-cpu-mask"
    title = "Pinned to too few CPUs"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS, Need.SCHED)
    silences: Sequence[str] = ("cpu-oversubscription", "cpu-contention")

    def look(self, case: Case) -> Outcome:
        """Hold the mask against what is allowed, and its use against its size."""
        of, rank, view = counted(case), case.timeline.rank, main_view(case)
        mask, allowed = of.process.affinity or of.own.cpus, of.run.cpus_allowed
        if mask is None or allowed is None or view is None:
            return Abstention(
                self.id, ("the CPU mask of the process",), "record with `laptime run`", rank
            )
        members = [of.own, *(p for p in of.workers() if p.cpus and set(p.cpus) <= set(mask))]
        used = sum(of.used(p) for p in members)
        wanted = used + sum(of.part(p, "wait_ns") or 0.0 for p in members)
        told = (
            f"{_who(members)} may run on {len(mask)} of {allowed} CPUs and "
            f"{'use' if len(members) > 1 else 'uses'} {wording.count(used)} of them"
        )
        idle = free_cores(of) or 0.0
        full = used >= MASK_BUSY.value * len(mask) or idle >= IDLE_BESIDE.value
        if len(mask) >= allowed or not full or wanted < WANTED_OVER_CORES.value * len(mask):
            return Clear(self.id, told, rank)
        return self._finding(of, mask, allowed, wanted, told, case)

    def _finding(
        self, of: Counted, mask: Sequence[int], allowed: int, wanted: float, told: str, case: Case
    ) -> Finding:
        view = main_view(case)
        assert view is not None
        time = view.mean_ns(on_cpu_time(view))
        bound = round(time * (1 - len(mask) / allowed))
        return Finding(
            id=self.id,
            title=self.title,
            sentence=f"{told[:1].upper()}{told[1:]}; the threads want {wording.count(wanted)}.",
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "lap time in which a thread is to run x (1 - CPUs of the mask / CPUs allowed) = "
                f"{wording.time(time)} x (1 - {len(mask)}/{allowed})"
            ),
            device=view.device,
            rank=case.timeline.rank,
            why=(of.over, f"mask: CPUs {wording.listed(map(str, mask), most=8)}"),
            next_step=(
                "find who sets the mask: KMP_AFFINITY, GOMP_CPU_AFFINITY, OMP_PROC_BIND, taskset, "
                "numactl, the launcher's binding",
                "in workers: os.sched_setaffinity(0, range(os.cpu_count())) in worker_init_fn",
            ),
        )


def _who(members: Sequence[ProcessCounters]) -> str:
    workers = len(members) - 1
    if not workers:
        return "the training process"
    return "the training process and its workers"


CAUSE = NarrowedCpuMask()
