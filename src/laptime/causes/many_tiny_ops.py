"""Cause: a CPU-only run spends its time on dispatching operators that compute next to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.gaps import gaps, operators
from laptime.causes.launches import device_unseen
from laptime.causes.limits import TINY_OP_NS, TINY_OPS, TINY_OPS_SHARE
from laptime.causes.needs import abstention
from laptime.causes.side_cost import in_few_laps
from laptime.causes.view import DeviceView, device_views
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind


class ManyTinyOps:
    """Many tiny operators on the CPU.

    What it is
        The lap is made of hundreds of operators of a few microseconds: loops over rows, parameters
        or time steps, models of small tensors. Finding and calling an operator takes about as long
        as what it computes.

    How it shows
        CPU-only runs: outermost operators of at most 20 us, and the gaps of at most 20 us next to
        them, make a quarter of the lap or more, with at least 200 of them in it.

    Why it costs
        Each operator pays for dispatch, allocation and Python once more.

    How the gain is predicted
        Bound: the time in these operators and gaps, a mean per lap: what one call for all of them
        computes stays. The profiler's own cost of each row is in it.

    What is not flagged
        Tiny operators between large ones; those of a few laps only; runs with a device
        (``launch-bound``).

    Must not flag
        - ``kineto/hta/rank_unavailable``: 638 tiny operators, but they take a tenth of the lap.
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: a run with a device.
    """

    id = "many-tiny-ops"
    title = "Many tiny operators"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops",)

    def look(self, case: Case) -> Outcome:
        """Judge the thread of a CPU-only run."""
        rank = case.timeline.rank
        views = [v for v in device_views(case) if v.ledger.cpu]
        if not views or device_unseen(case):
            return Clear(self.id, "the run has a device", rank)
        if not case.timeline.rows.mask_of(Kind.CPU_OP).any():
            return abstention(self.id, [Need.HOST_ROWS], rank)
        view = views[0]
        tiny = _tiny(view)
        span = _cost(view, tiny)
        number, share = len(tiny) / view.laps, view.share(span)
        if number < TINY_OPS.value or share < TINY_OPS_SHARE.value:
            return Clear(
                self.id,
                f"{wording.counted(number, 'operator')}{view.per_lap} of at most "
                f"{wording.time(TINY_OP_NS.value)} and the gaps beside them take "
                f"{wording.percent(share)} of the lap (found from {TINY_OPS.value} and "
                f"{wording.percent(TINY_OPS_SHARE.value)})",
                rank,
            )
        rare = in_few_laps(view, span, TINY_OPS_SHARE.value)
        if rare:
            return Clear(self.id, f"tiny operators and the gaps beside them take {rare}", rank)
        rows, ns = case.timeline.rows, view.mean_ns(span)
        names = Counter(rows.name_of(r) for r in tiny.tolist())
        inside = view.mean_ns(view.rows_span(tiny))
        mean = float(rows.dur_ns[tiny].mean())
        own = f"{int(rows.dur_ns[tiny].sum()):,} ns in all, a mean of {wording.time(mean)}"
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"{wording.counted(number, 'operator')}{view.per_lap} of at most "
                f"{wording.time(TINY_OP_NS.value)} (mean {wording.time(mean)}) and the gaps beside "
                "them take "
                f"{view.of_lap(ns)} ({wording.percent(share)})."
            ),
            share=share,
            bound_ns=ns,
            formula=(
                f"{wording.time(inside)} in these operators + {wording.time(ns - inside)} in gaps "
                f"of at most {wording.time(TINY_OP_NS.value)} beside them"
            ),
            device=view.device,
            rank=rank,
            events=view.events(tiny),
            events_in_all=len(tiny),
            why=(
                f"{view.number_in_all(len(tiny), 'operator')}; of their own time {own}",
                *(
                    f"{name} {wording.times(k / view.laps)}{view.per_lap}"
                    for name, k in sorted(names.items(), key=lambda n: (-n[1], n[0]))[:5]
                ),
            ),
            next_step=(
                "one call for all of them: batch the loop, vectorise over rows or steps; "
                "foreach=True or fused=True for the optimizer; torch.compile",
            ),
        )


def _tiny(view: DeviceView) -> Ints:
    """Outermost operators in the counted windows that are at most tiny."""
    rows = view.case.timeline.rows
    ops = operators(view)
    ops = ops[rows.dur_ns[ops] <= TINY_OP_NS.value]
    found: Ints = ops[view.touching(rows.start_ns[ops], rows.end_ns(ops))]
    return found


def _cost(view: DeviceView, tiny: Ints) -> Span:
    """Their time, and that of short gaps before or after one of them."""
    found = gaps(view, operators(view))
    near = found.dur_ns <= TINY_OP_NS.value
    near &= np.isin(found.before, tiny) | np.isin(found.after, tiny)
    return intervals.both(view.rows_span(tiny), (found.span[0][near], found.span[1][near]))


CAUSE = ManyTinyOps()
