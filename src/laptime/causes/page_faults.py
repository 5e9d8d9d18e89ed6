"""Cause: memory is given back and mapped anew in every lap."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import cpu_bound_ns, main_view, on_cpu_time
from laptime.causes.counted import counted
from laptime.causes.limits import FAULT_KERNEL_SHARE, FAULTS_PER_LAP


class PageFaults:
    """Page faults in every lap.

    What it is
        Large host buffers are allocated and freed in each lap. The allocator returns them to the
        kernel, and each page of the next one faults and is zeroed when it is first touched.

    How it shows
        Minor faults of the training process: at least 2,000 a lap, with at least 5 % of the laps'
        time spent in the kernel (``stime``) by its threads.

    Why it costs
        A fault takes the kernel about half a microsecond, and more where pages must be zeroed; the
        thread that touches the memory stands still for it.

    How the gain is predicted
        Bound: the process's kernel time in a lap (all of it: faults are not counted apart), and no
        more than the lap's time in which a thread is to run: min of both.

    What is not flagged
        Faults at start-up and in warm-up; kernel time without faults (copies, system calls). Faults
        that had to read a disk are told beside. Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "page-faults"
    title = "Host memory is mapped anew each lap"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Count faults and kernel time in the laps."""
        of, rank, view = counted(case), case.timeline.rank, main_view(case)
        minor, kernel = (of.own.increase(n, of.span) for n in ("minflt", "stime"))
        if minor is None or kernel is None or view is None:
            return Abstention(
                self.id, ("faults and kernel time",), "record with `laptime run` on Linux", rank
            )
        faults, in_kernel = minor / of.laps, kernel / of.laps
        share = kernel / of.wall_ns
        told = (
            f"{wording.count(faults)} page faults a lap, and {wording.percent(share)} of its time "
            "in the kernel"
        )
        if faults < FAULTS_PER_LAP.value or share < FAULT_KERNEL_SHARE.value:
            return Clear(self.id, told, rank)
        bound = cpu_bound_ns(view, in_kernel)
        major = round(of.own.increase("majflt", of.span) or 0)
        disk = f"; {wording.counted(major, 'fault')} in all read a disk" if major else ""
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The training process takes {wording.count(faults)} page faults a lap "
                f"({faults * 4096 / 1e6:.0f} MB in pages of 4 KiB) and spends "
                f"{wording.part_of(in_kernel, of.lap_ns, 'each {} lap')} in the kernel "
                f"({wording.percent(share)}, all threads together){disk}."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "min(kernel time per lap, lap time in which a thread is to run) = "
                f"min({wording.time(in_kernel)}, {wording.time(view.mean_ns(on_cpu_time(view)))})"
            ),
            device=view.device,
            rank=rank,
            why=(of.over,),
            next_step=(
                "reuse host buffers from lap to lap (out=, preallocated tensors) instead of making "
                "new ones",
                "keep freed memory: jemalloc or tcmalloc by LD_PRELOAD, or glibc's "
                "MALLOC_MMAP_THRESHOLD_ and MALLOC_TRIM_THRESHOLD_ set large",
            ),
        )


CAUSE = PageFaults()
