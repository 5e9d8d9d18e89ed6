"""Cause: communication in many small pieces, bound by latency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.collective_rows import Collectives, collectives
from laptime.causes.kernel_cost import KernelCost
from laptime.causes.launch_sites import code_lines
from laptime.causes.limits import (
    SMALL_COLLECTIVE_NS,
    SMALL_COLLECTIVE_SHARE,
    SMALL_COLLECTIVES,
)
from laptime.causes.slack import capped, too_small
from laptime.causes.view import DeviceView, gpu_views
from laptime.ledger.intervals import Span
from laptime.model.rows import Mask

GENERAL = frozenset({"NCCL", "RCCL"})


class ManySmallCollectives:
    """Many small collectives.

    What it is
        Gradients, parameters or statistics are communicated one by one: each collective costs its
        latency, however little it moves.

    How it shows
        Ten and more collectives of NCCL or RCCL a lap, each of at most 50 us, while nothing is
        computed; where the recorder gives elements and type, their bytes.

    Why it costs
        The latency of a collective is tens of microseconds; as many in one cost it once.

    How the gain is predicted
        Bound: the counted time in which only such collectives run, times (n - 1) / n for n of them
        a lap (merged into one, one is left), and never more than the host waits for the device.

    What is not flagged
        Small collectives under computation; longer ones, which move bytes or wait for late ranks;
        kernels made for low latency (symmetric memory, custom all-reduces). Collectives that depend
        on each other (tensor parallelism: one in every layer) cannot be merged: the sentence says
        how many there are, not that they could be one.

    Must not flag
        - ``kineto/param-dlrm-8ranks/worker0_``: eight collectives a lap.
        - ``kineto/tracelens/b200``: 73 all-reduces of mean 26 us, all over symmetric memory.
    """

    id = "many-small-collectives"
    title = "Many small collectives"
    layer = "communication"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS)
    silences: Sequence[str] = ("exposed-collectives",)

    def look(self, case: Case) -> Outcome:
        """Judge the device with most time in such collectives."""
        rank = case.timeline.rank
        looked = []
        for one in gpu_views(case):
            every = collectives(one)
            small = every.of((every.dur_ns <= SMALL_COLLECTIVE_NS.value) & _of_nccl(every))
            looked.append((one, every, small, small.exposed))
        if not looked:
            return Clear(self.id, "no device time", rank)
        view, every, small, span = max(looked, key=lambda v: (v[0].share(v[3]), len(v[2].at)))
        if len(every.at) == 0:
            return Clear(self.id, "no communication in the counted laps", rank)
        number = len(small.at) / view.laps
        limit = wording.time(SMALL_COLLECTIVE_NS.value)
        told = (
            f"{wording.counted(number, 'collective')} of NCCL{view.per_lap} of at most {limit} "
            f"(of {wording.count(len(every.at) / view.laps)})"
        )
        if number < SMALL_COLLECTIVES.value:
            return Clear(self.id, told, rank)
        share = view.share(span)
        if share < SMALL_COLLECTIVE_SHARE.value:
            taken = wording.below(share, SMALL_COLLECTIVE_SHARE.value, "of the lap")
            return Clear(self.id, f"{told}; without computation they take {taken}", rank)
        return self._finding(view, small, span, told)

    def _finding(self, view: DeviceView, small: Collectives, span: Span, told: str) -> Outcome:
        rank = view.case.timeline.rank
        number = len(small.at) / view.laps
        alone = view.mean_ns(span)
        bound, held = capped(view, round(alone * (number - 1) / number))
        taken = f"{view.of_lap(alone)} ({wording.percent(view.share(span))})"
        if held and too_small(view, bound):
            return Clear(self.id, f"{told} take {taken} without computation, but {held}", rank)
        kinds = Counter(small.kind).most_common(3)
        known = small.bytes[small.bytes >= 0]
        size = (
            f"; {wording.number(float(known.mean()) / 1000)} KB each, by "
            f"{wording.count(len(known) / view.laps)} that say so"
            if len(known)
            else "; their bytes are not recorded"
        )
        lines = code_lines(KernelCost(view, span, small.at))
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{told} take {taken} without computation: "
                + wording.listed(f"{wording.count(n / view.laps)} {kind}" for kind, n in kinds)
                + f"{view.per_lap} of mean {wording.time(float(small.dur_ns.mean()))}{size}"
                + (f"; {held}." if held else ".")
            ),
            share=view.share(span),
            bound_ns=bound,
            formula=(
                f"{wording.time(alone)} in which only they communicate and nothing is computed x "
                f"({wording.count(number)} - 1) / {wording.count(number)}"
                + (f"; {held}" if held else "")
            ),
            device=view.device,
            rank=rank,
            events=view.events(small.rows),
            events_in_all=view.number(small.rows),
            why=(
                "merged into one, they would cost one latency; what depends on each other cannot "
                "be merged",
                *(f"from {line}" for line in lines),
            ),
            next_step=(
                "communicate in larger pieces: DDP bucket_cap_mb, flattened or coalesced tensors "
                "(torch.distributed._coalescing_manager), FSDP wrapped less finely",
                "what depends on each other inside a host (tensor parallelism): all-reduces over "
                "symmetric memory, whose latency is lower",
            ),
        )


def _of_nccl(every: Collectives) -> Mask:
    """Which of them a general library runs: what is made for low latency has no cheaper form."""
    names = every.view.case.kernel_names
    rows = every.view.case.timeline.rows
    kernels = [names.get(int(rows.name[row])) for row in every.rows]
    return np.array([k is not None and k.library in GENERAL for k in kernels], dtype=np.bool_)


CAUSE = ManySmallCollectives()
