"""Cores that a captured program uses, wants and leaves, and the lap's time that they decide."""

from __future__ import annotations

from laptime.causes.case import Case
from laptime.causes.counted import WORKER, Counted
from laptime.causes.limits import MOSTLY_OWN, WANTED_OVER_CORES
from laptime.causes.view import DeviceView, device_views
from laptime.ledger.intervals import Span

ON_THREAD = ("operators", "python", "between_ops", "gc", "side_work", "compile")
ON_HOST = (
    "host_ops", "host_between_ops", "off_cpu", "host_launch", "gc", "side_work", "compile",
    "allocator",
)  # fmt: skip
"""Accounts in which a thread of the program is to run: with a CPU at once they could be shorter."""


def busy_cores(of: Counted) -> float:
    """Cores that all processes of the program use together, over the laps."""
    return float(sum(of.used(p) for p in of.counters.processes.values()))


def wanted_cores(of: Counted) -> float:
    """Cores that they would use if none had to wait for one: threads that are ready to run."""
    all_ = of.counters.processes.values()
    return busy_cores(of) + float(sum(of.part(p, "wait_ns") or 0.0 for p in all_))


def free_cores(of: Counted) -> float | None:
    """Cores that the program may use and nobody does; None where the host does not say."""
    usable, idle, io = of.run.usable_cores, of.host("cpu.idle_ns"), of.host("cpu.iowait_ns")
    if usable is None or idle is None:
        return None
    unused = (idle + (io or 0.0)) / of.wall_ns
    return max(0.0, min(usable - busy_cores(of), unused))


def others_cores(of: Counted) -> float | None:
    """Cores that other programs of the host use; None where the host does not say."""
    busy = of.host("cpu.busy_ns")
    return None if busy is None else max(0.0, busy / of.wall_ns - busy_cores(of))


def trainers(of: Counted) -> int:
    """Processes that run laps of their own: the captured ones that are no workers, at least one."""
    return max(1, sum(bool(p.laps) and p.role != WORKER for p in of.run.processes))


def run_queue_share(of: Counted) -> float:
    """Share of the time in which the process's threads were ready to run that they had no CPU."""
    run, wait = of.cores(of.own, "run_ns") or 0.0, of.cores(of.own, "wait_ns") or 0.0
    return wait / (run + wait) if run + wait else 0.0


def outnumbered(of: Counted) -> bool | None:
    """Whether the program's own threads want more cores than it may use; None where not known.

    Threads want longer where others take the CPUs: with those, the program's own number counts
    only where it is set to more threads than cores, or where it uses most of them itself.
    """
    usable = of.run.usable_cores
    if usable is None:
        return None
    most = WANTED_OVER_CORES.value * usable
    set_to = (of.process.threads_intraop or 0) * trainers(of)
    own = set_to > most or busy_cores(of) >= MOSTLY_OWN.value * usable
    return wanted_cores(of) > most and own


def on_cpu_time(view: DeviceView) -> Span:
    """The counted time in which the lap is up to a thread's running."""
    return view.time_in(*(ON_THREAD if view.ledger.cpu else ON_HOST))


def main_view(case: Case) -> DeviceView | None:
    """The device whose laps are most up to the host's threads; None where none is counted."""
    views = device_views(case)
    return max(views, key=lambda v: v.share(on_cpu_time(v)), default=None)


def cpu_bound_ns(view: DeviceView, lost_per_lap_ns: float) -> int:
    """The most that time lost by threads can cost a lap: no more than what was lost, and no more
    than the lap's time in which a thread is to run."""
    return min(round(lost_per_lap_ns), view.mean_ns(on_cpu_time(view)))
