"""The finding of a cause that weighs each kernel's own time by a part that its grid leaves idle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Cause, Clear, Finding
from laptime.causes.kernel_cost import KernelCost, alone
from laptime.causes.kernel_grids import Grids
from laptime.causes.launch_sites import code_lines
from laptime.causes.limits import Limit
from laptime.causes.slack import capped
from laptime.causes.view import gpu_views
from laptime.ledger import intervals
from laptime.model.rows import I64


@dataclass(frozen=True)
class Weighed:
    """Chosen kernels of a device: ``cost`` their positions, ``alone_ns`` of each, ``lost_ns`` the
    part of it that could go at most, both over all windows looked at."""

    cost: KernelCost
    alone_ns: I64
    lost_ns: I64
    grids: Grids

    @property
    def could_ns(self) -> int:
        """What could go, a mean per counted window."""
        return round(int(self.lost_ns.sum()) / self.cost.view.laps)


def weighed(grids: Grids, chosen: I64, lost: I64) -> Weighed:
    """Of the kernels with a grid those at the places ``chosen``, with the time each loses."""
    cost = KernelCost(grids.view, intervals.EMPTY, grids.at[chosen])
    return Weighed(cost, grids.alone_ns[chosen], lost, grids)


def no_grids(cause: Cause, case: Case) -> Abstention:
    """The answer where no kernel has a grid."""
    return Abstention(
        cause.id,
        ("grid sizes of the kernels",),
        "keep the kernels' arguments (grid, block) in the trace: CUPTI and rocprofiler record them "
        "for launches outside graphs",
        case.timeline.rank,
    )


def answer(
    cause: Cause,
    one: Weighed,
    least: Limit,
    subject: str,
    each: str,
    why: Sequence[str],
    steps: Sequence[str],
) -> Finding | Clear:
    """A finding where what could go is at least ``least`` of the lap, else the figure."""
    view, rank = one.cost.view, one.cost.view.case.timeline.rank
    share = one.could_ns / view.lap_ns if view.lap_ns else 0.0
    if share < least.value or one.could_ns == 0:
        return Clear(
            cause.id,
            f"{subject} lose {wording.below(share, least.value, 'of the lap')}",
            rank,
        )
    bound, held = capped(view, one.could_ns)
    alone_ns = round(int(one.alone_ns.sum()) / view.laps)
    taken = f"{view.of_lap(alone_ns)} ({wording.percent(alone_ns / view.lap_ns)})"
    if held and bound < least.value * view.lap_ns:
        return Clear(cause.id, f"{subject} take {taken}, but {held}", rank)
    lines = code_lines(one.cost)
    looked, counted = (
        view.laps,
        sum(v.laps for v in gpu_views(view.case) if v.device == view.device),
    )
    return Finding(
        id=cause.id,
        title=cause.title,
        sentence=(
            f"{subject[:1].upper()}{subject[1:]} take {taken} alone: {one.cost.counted}; "
            + (held or f"at most {wording.time(bound)} of it could go")
            + "."
        ),
        share=share,
        bound_ns=bound,
        formula=(
            f"sum over kernels of (time alone x {each}) = {wording.time(one.could_ns)}"
            f"{view.per_lap}" + (f"; {held}" if held else "")
        ),
        device=view.device,
        rank=rank,
        events=view.events(one.cost.rows[np.argsort(-one.lost_ns, kind="stable")[:8]]),
        events_in_all=len(one.cost.at),
        why=(
            *why,
            *one.cost.by_name(),
            alone(view, int(one.alone_ns.sum())),
            *(f"from {line}" for line in lines),
            *((f"over the first {looked} of {counted} counted laps",) if looked < counted else ()),
        ),
        next_step=tuple(steps),
    )
