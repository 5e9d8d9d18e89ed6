"""Cause: the control group's CPU quota stops the program."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import cpu_bound_ns, main_view, on_cpu_time
from laptime.causes.counted import counted
from laptime.causes.limits import THROTTLED_SHARE


class CpuThrottling:
    """CPU quota throttles the program.

    What it is
        The control group (container, job, slice) grants so much CPU time in each period of,
        usually, 100 ms. A group that has used it up stops until the next one, all its threads.

    How it shows
        ``cpu.stat`` of the group that sets the quota: ``nr_throttled`` and the throttled time grow
        inside the laps. Found from 2 % of the laps' time.

    Why it costs
        Nothing of the program runs, however many cores are idle; ranks that wait for it stop too.

    How the gain is predicted
        Bound: no more than the throttled time in a lap (summed over CPUs, as the kernel counts it),
        and no more than the lap's time in which a thread is to run: min of both.

    What is not flagged
        Throttling before or after the laps; a quota that is never reached. Needs a capture, and a
        control group whose files are visible.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "cpu-throttling"
    title = "CPU quota throttles the program"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS)
    silences: Sequence[str] = ("cpu-contention", "cpu-oversubscription")

    def look(self, case: Case) -> Outcome:
        """Count what the quota stopped inside the laps."""
        of, rank, view = counted(case), case.timeline.rank, main_view(case)
        stopped, times = of.host("cgroup.throttled_ns"), of.host("cgroup.nr_throttled")
        if stopped is None or times is None or view is None:
            return Abstention(
                self.id,
                ("throttling of the control group",),
                "record where the group's cpu.stat is visible (/sys/fs/cgroup)",
                rank,
            )
        share = stopped / of.wall_ns
        quota = of.run.cpu_quota
        granted = f" of {wording.count(quota)} cores" if quota is not None else ""
        if share < THROTTLED_SHARE.value:
            told = wording.below(share, THROTTLED_SHARE.value, "of the laps' time")
            return Clear(self.id, f"throttled {wording.times(round(times))}, {told}", rank)
        per_lap = stopped / of.laps
        bound = cpu_bound_ns(view, per_lap)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"The control group's quota{granted} stops the program "
                f"{wording.times(round(times))} in {wording.counted(of.laps, 'lap')}, for "
                f"{wording.part_of(per_lap, of.lap_ns, 'each {} lap')} (summed over CPUs)."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "min(throttled time per lap, lap time in which a thread is to run) = "
                f"min({wording.time(per_lap)}, {wording.time(view.mean_ns(on_cpu_time(view)))})"
            ),
            device=view.device,
            rank=rank,
            why=(f"{of.over}: cpu.stat of the control group",),
            next_step=(
                "raise the quota (Kubernetes: limits.cpu; systemd: CPUQuota), or take it away and "
                "keep only a request",
                "or run no more threads than the quota grants: torch.set_num_threads, num_workers; "
                "os.sched_getaffinity and os.cpu_count do not see a quota",
            ),
        )


CAUSE = CpuThrottling()
