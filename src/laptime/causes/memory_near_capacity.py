"""Cause: the host's memory, or the control group's, is nearly used up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.cores import main_view
from laptime.causes.counted import Counted, counted
from laptime.causes.limits import MEMORY_LEFT, MEMORY_STALL


class MemoryNearCapacity:
    """Host memory near capacity.

    What it is
        The kernel has to look for memory to give out: it drops pages that are read again, or the
        program is close to being killed for want of memory.

    How it shows
        Less than 5 % of the host's memory is available (``MemAvailable``) or of the control
        group's limit is left, and tasks stall for memory (``/proc/pressure/memory``, "some") for at
        least 1 % of the laps' time. Without stalls it is found only from 2 % left on.

    Why it costs
        Threads stall while pages are reclaimed; files are read again and again.

    How the gain is predicted
        Bound: the lap x the share of time in which some task of the host stalled for memory. None
        where nothing stalled yet: then it is a risk, not a cost.

    What is not flagged
        A control group that is full of page cache and stalls for nothing. Needs a capture.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: a trace without a capture: not judged.
        - ``kineto/hta/df_index_resolver``: the same.
    """

    id = "memory-near-capacity"
    title = "Host memory is nearly used up"
    layer = "host"
    needs: Sequence[Need] = (Need.CAPTURE, Need.COUNTERS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Hold what is left against what there is, and look for stalls."""
        of, rank, view = counted(case), case.timeline.rank, main_view(case)
        left = _left(of)
        if not left or view is None:
            return Abstention(
                self.id,
                ("memory of the host and of the control group",),
                "record where /proc/meminfo is readable",
                rank,
            )
        share, whole, what = min(left)
        stall_us = of.host("psi.memory")
        stall = None if stall_us is None else stall_us * 1000 / of.wall_ns
        stalls = (
            "stalls are not known"
            if stall is None
            else f"stalls {wording.percent(stall)} of the laps' time"
        )
        told = f"{wording.percent(share)} of {whole / 2**30:.1f} GiB ({what}) is left; {stalls}"
        low = share < MEMORY_LEFT.value
        stalled = stall is not None and stall >= MEMORY_STALL.value
        scarce = share < 0.4 * MEMORY_LEFT.value and what == "the host's memory"
        if not (low and stalled) and not scarce:
            return Clear(self.id, told, rank)
        bound = round(view.lap_ns * stall) if stall is not None and stalled else None
        held = _most_held(of)
        holding = (
            ""
            if held is None
            else f" The program's processes hold up to {held / 2**30:.1f} GiB "
            "(pages that they share are counted for each)."
        )
        return Finding(
            id=self.id,
            title=self.title,
            sentence=f"{told}.{holding}",
            share=None if bound is None else bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "no bound: nothing stalled"
                if bound is None or stall is None
                else f"lap x stalled share = {wording.time(view.lap_ns)} x {stall:.4f}"
            ),
            device=view.device,
            rank=rank,
            why=(of.over,),
            next_step=(
                "fewer loader workers or a smaller prefetch_factor: each holds whole batches and, "
                "as it touches them, its own copy of Python objects",
                "keep the data set's index in arrays or mapped files, not in lists of objects",
            ),
        )


def _left(of: Counted) -> list[tuple[float, int, str]]:
    """Share left, size, and whose memory, for each kind that is known: the least in the laps."""
    low, high = int(of.span[0][0]), int(of.span[1][-1])
    found = []
    for free, used, whole, what in (
        ("mem.available", None, "mem.total", "the host's memory"),
        (None, "cgroup.memory_bytes", "cgroup.memory_limit_bytes", "the control group's limit"),
    ):
        size = of.counters.host.get(whole)
        level = of.counters.host.get(free or used or "")
        values = level.inside(low, high) if level is not None else np.zeros(0, dtype=np.int64)
        if size is None or len(values) == 0 or not size.value[-1]:
            continue
        total = int(size.value[-1])
        least = int(values.min()) if free else total - int(values.max())
        found.append((max(0.0, least / total), total, what))
    return found


def _most_held(of: Counted) -> int | None:
    """The most bytes that the program's processes held at one tick of the laps; None where no tick
    tells. Processes that lived one after the other do not add up."""
    low, high = int(of.span[0][0]), int(of.span[1][-1])
    at = of.counters.at_ns[(of.counters.at_ns >= low) & (of.counters.at_ns <= high)]
    held, told = np.zeros(len(at), dtype=np.int64), np.zeros(len(at), dtype=np.bool_)
    for process in of.counters.processes.values():
        rss = process.series.get("rss")
        if rss is not None:
            _, mine, theirs = np.intersect1d(at, rss.at_ns, return_indices=True)
            held[mine] += rss.value[theirs]
            told[mine] = True
    return int(held[told].max()) if told.any() else None


CAUSE = MemoryNearCapacity()
