"""The answer of a cause whose kernels need not run at all: their time, the bound, their origin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from laptime.causes import wording
from laptime.causes.case import Cause, Clear, Finding
from laptime.causes.kernel_cost import KernelCost
from laptime.causes.launch_sites import code_lines
from laptime.causes.limits import Limit
from laptime.causes.slack import capped


@dataclass(frozen=True)
class Words:
    """How a cause speaks of its kernels.

    ``subject`` with its verb in the plural ("changes of layout"); ``took`` names the part of the
    time that could go where it is not all of it ("all but one of each chain"); ``kept_ns`` that
    which stays.
    """

    subject: str
    remedies: Sequence[str]
    why: Sequence[str] = ()
    kept_ns: int = 0
    kept: str = ""


def removable(cause: Cause, cost: KernelCost | None, least: Limit, words: Words) -> Finding | Clear:
    """A finding where what could go is at least ``least`` of the lap, else the figure.

    The bound is the counted time in which only these kernels run, less what would stay, and no
    more than the host waits for the device (see ``slack``).
    """
    if cost is None:
        return Clear(cause.id, "no device time")
    view, rank = cost.view, cost.view.case.timeline.rank
    could_ns = max(cost.ns - words.kept_ns, 0)
    if could_ns < least.value * view.lap_ns or could_ns == 0:
        share = could_ns / view.lap_ns if view.lap_ns else 0.0
        told = f"{words.subject} take {wording.below(share, least.value, 'of the lap')}"
        if words.kept_ns:
            told = (
                f"{words.subject} take {wording.percent(cost.share)} of the lap; what could go of "
                f"it is {wording.below(share, least.value, 'of the lap')}"
            )
        return Clear(cause.id, told, rank)
    bound, held = capped(view, could_ns)
    if held and bound < least.value * view.lap_ns:
        return Clear(cause.id, f"{words.subject} take {cost.taken}, but {held}", rank)
    lines = code_lines(cost)
    from_line = f", most from {lines[0].rpartition(', ')[0]}" if lines else ""
    could = f"; at most {wording.time(bound)} of it could go" if words.kept_ns else ""
    formula = f"{wording.time(cost.ns)} in which only these kernels run"
    if words.kept_ns:
        formula += f" - {wording.time(words.kept_ns)} {words.kept}"
    subject = words.subject[:1].upper() + words.subject[1:]
    return Finding(
        id=cause.id,
        title=cause.title,
        sentence=(
            f"{subject} take {cost.taken}: {cost.counted}{from_line}"
            + (f"; {held}" if held else could)
            + "."
        ),
        share=cost.share,
        bound_ns=bound,
        formula=formula + (f"; {held}" if held else ""),
        device=view.device,
        rank=rank,
        events=view.events(cost.rows),
        events_in_all=view.number(cost.rows),
        why=(*words.why, *cost.by_name(), *(f"from {line}" for line in lines)),
        next_step=tuple(words.remedies),
    )
