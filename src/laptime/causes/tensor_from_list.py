"""Cause: tensors are made from Python lists, element by element."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.gaps import Gaps, gaps, operators
from laptime.causes.limits import FROM_LIST_SHARE
from laptime.causes.origin import origin_lines
from laptime.causes.side_calls import cannot_tell
from laptime.causes.side_cost import judged, usual
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints

LIFTED = re.compile(r"^aten::(lift_fresh|detach_)$")

MADE = ("aten::to", "aten::lift_fresh", "aten::detach_")
"""Operators that ``torch.tensor`` ends with, after the values are in place."""


class TensorFromList:
    """Tensors from lists.

    What it is
        ``torch.tensor`` of a list (of numbers, of arrays) goes through it element by element in
        Python objects; ``np.stack`` and ``torch.from_numpy`` copy memory instead.

    How it shows
        On one thread ``aten::empty``, then no operator for a while, then ``aten::lift_fresh`` (in
        some versions ``aten::to`` before it): so ``torch.tensor`` shows in a trace, and what lies
        between is the filling of the tensor. No stacks are needed.

    Why it costs
        Each element takes tens of nanoseconds where a copy takes less than one, and nothing is
        launched meanwhile.

    How the gain is predicted
        Bound: the time between the two operators that the laps pay for, and the gap right before
        the first of them, in which the list is searched for its shape and type; a mean per lap.
        That gap may hold other Python too, the making of the list for one. Laps with more than
        twice what the middle of them has are left out where they make the mean, and said to be.

    What is not flagged
        Tensors from arrays, which are copied in an operator; single numbers, below 2 % of the lap.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: the loader's tensors come from arrays.
        - ``kineto/tracelens/b200``: no such gap in the lap.
    """

    id = "tensor-from-list"
    title = "Tensors are made from lists"
    layer = "data"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that pays most for it."""
        rank = case.timeline.rank
        views = judged(case)
        if not case.timeline.rows.names_like(LIFTED).any():
            return Clear(self.id, "no tensor is made from Python values", rank)
        if not views:
            return cannot_tell(self, case)
        looked = [_filling(gaps(view, operators(view))) for view in views]
        worst = max(looked, key=lambda g: g.view.share(g.span))
        view, rest = worst.view, usual(worst.view, worst.span)
        worst = worst.inside(rest.laps) if rest.left_out else worst
        ns, share = view.mean_ns(worst.span), view.share(worst.span)
        if share < FROM_LIST_SHARE.value:
            told = wording.below(share, FROM_LIST_SHARE.value, "of the lap")
            return Clear(self.id, f"filling tensors from lists takes {told}{rest.told(view)}", rank)
        before = usual(view, _scanning(worst))
        scan = view.mean_ns(before.span)
        bound = ns + scan
        number = len(worst.dur_ns) / view.laps
        lines = origin_lines(case, worst.before, view.laps, "tensor")
        most = f", most {lines[0].rpartition(': ')[0]}" if lines else ""
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Filling {wording.counted(number, 'tensor')}{view.per_lap} from lists takes "
                f"{view.of_lap(ns)} ({wording.percent(share)}), the longest "
                f"{wording.time(int(worst.dur_ns.max()))}{most}; the gaps before them, "
                f"{wording.time(scan)}{view.per_lap}, hold the search of the lists for their shape "
                f"and type{rest.told(view)}."
            ),
            share=bound / view.lap_ns,
            bound_ns=bound,
            formula=(
                "time between aten::empty and aten::lift_fresh with no operator between them = "
                f"{wording.time(ns)} + the gaps right before = {wording.time(scan)}{view.per_lap}"
                f"{before.told(view)}"
            ),
            device=view.device,
            rank=rank,
            events=view.events(worst.before),
            events_in_all=len(worst.dur_ns),
            why=(*lines, "the events are the aten::empty after which a tensor is filled"),
            next_step=(
                "torch.from_numpy(np.stack(arrays)), or np.asarray(list) with a dtype first; keep "
                "the data as one array instead of a list",
            ),
        )


def _scanning(filled: Gaps) -> Span:
    """The gaps that end where the first operator of a filled tensor begins."""
    all_ = gaps(filled.view, operators(filled.view))
    hit = np.isin(all_.after, filled.before)
    return all_.span[0][hit], all_.span[1][hit]


def _filling(found: Gaps) -> Gaps:
    """Those of the gaps in which a tensor is filled."""
    rows = found.view.case.timeline.rows
    if len(found.before) == 0:
        return found
    is_empty = rows.names_matching(lambda n: n == "aten::empty")
    ends = rows.names_matching(lambda n: n in MADE)
    hit = is_empty[rows.name[found.before]] & ends[rows.name[found.after]]
    hit[hit] &= _lifted(found, found.after[hit])
    span = found.span[0][hit], found.span[1][hit]
    return Gaps(found.view, span, found.before[hit], found.after[hit])


def _lifted(found: Gaps, after: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether one of the next operators from here on lifts or detaches the new tensor."""
    rows = found.view.case.timeline.rows
    ops = operators(found.view)
    wanted = rows.names_matching(lambda n: n in ("aten::lift_fresh", "aten::detach_"))
    at = np.searchsorted(rows.start_ns[ops], rows.start_ns[after], side="left")
    near = np.zeros(len(after), dtype=np.bool_)
    for more in range(3):
        place = np.minimum(at + more, len(ops) - 1)
        near |= wanted[rows.name[ops[place]]]
    return near


CAUSE = TensorFromList()
