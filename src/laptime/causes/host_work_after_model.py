"""Cause: after the model's last work of a lap the host goes on alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.gaps import Gaps, elsewhere, operators
from laptime.causes.limits import AFTER_SHARE, LARGE_PART
from laptime.causes.per_tensor import STEP
from laptime.causes.side_calls import SUPPLY, cannot_tell
from laptime.causes.side_cost import in_most_laps, judged, usual, watched
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind


class HostWorkAfterModel:
    """Host work after the model.

    What it is
        The model is done, and the thread goes on with what it gave: tokens to text, suppression of
        boxes, metrics in NumPy, answers to be sent. The next lap begins only then.

    How it shows
        From the end of the last large operator of a lap (one of at least a twentieth of the
        longest; with a device: of the last work that the lap launched) to the end of the lap on
        the host, as far as the thread is not loading, collecting, logging or saving.

    Why it costs
        The device, or the cores that the model uses, do nothing meanwhile.

    How the gain is predicted
        Bound: that time, a mean per lap; with a device only that in which it is idle with nothing
        enqueued. Laps that have more than twice the middle lap's are left out where they make the
        mean, and said to be. Work of one lap could run beside the model of the next.

    What is not flagged
        Less than 5 % of the lap. Laps that end with the optimizer's step: what follows it is the
        next lap's beginning (``python-between-ops``). Traces without stacks: anything may be in a
        time without rows, and the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: laps end with launches.
        - ``kineto/tracelens/b200``: the device works to the end of the lap.
    """

    id = "host-work-after-model"
    title = "Host work after the model"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops",)

    def look(self, case: Case) -> Outcome:
        """Judge the device with the longest such time."""
        rank = case.timeline.rank
        views = judged(case)
        if case.ledger.laps.source == "window":
            return Clear(self.id, "no lap ends in the recording: it is taken as one", rank)
        lacking = Abstention(self.id, (Need.CAPTURE.value, Need.STACKS.value), SUPPLY, rank)
        known = case.timeline.capture is not None or watched(case)
        if not views:
            return cannot_tell(self, case) if known else lacking
        looked = [(view, *_tails(view)) for view in views]
        view, tails, last = max(looked, key=lambda t: t[0].share(t[1]))
        share, ns = view.share(tails), view.mean_ns(tails)
        if share < AFTER_SHARE.value:
            told = wording.below(share, AFTER_SHARE.value, "of the lap")
            return Clear(self.id, f"what follows the model's last work takes {told}", rank)
        rare = in_most_laps(view, tails, AFTER_SHARE.value)
        if rare:
            return Clear(self.id, f"what follows the model's last work takes {rare}", rank)
        if not known:
            return lacking
        rest = usual(view, tails)
        tails, share, ns = rest.span, view.share(rest.span), view.mean_ns(rest.span)
        functions = Gaps(view, tails, last, last).functions()
        most = f"; most in {functions[0][0]} ({wording.time(functions[0][1])})" if functions else ""
        rows = case.timeline.rows
        what = "operator" if view.ledger.cpu else "device work"
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"After the last large {what} of a lap ({rows.name_of(int(last[-1]))[:60]}) the "
                f"host goes on alone for {view.of_lap(ns)} ({wording.percent(share)}){most}"
                f"{rest.told(view)}."
            ),
            share=share,
            bound_ns=ns,
            formula=(
                f"from the end of the last large {what} to the end of the host lap, outside "
                f"loading, collecting and side work = {wording.time(ns)}{view.per_lap}"
                f"{rest.told(view)}"
            ),
            device=view.device,
            rank=rank,
            events=view.longest(last),
            events_in_all=len(last),
            why=(
                *(f"in {name}: {wording.time(t)}{view.per_lap}" for name, t in functions),
                f"the events are the last large {what} of each lap",
            ),
            next_step=(
                "hand the results to another thread or process and start the next lap; vectorise, "
                "or do it on the device before the copy back",
            ),
        )


def _tails(view: DeviceView) -> tuple[Span, Ints]:
    """The time after the last large work of each counted lap, and that work's rows."""
    case, rows = view.case, view.case.timeline.rows
    counted = {w.lap for w in view.counted}
    laps = [lap for lap in case.ledger.laps.laps if lap.id in counted]
    work = view.work
    if view.ledger.cpu or work is None:
        row = operators(view)
        called, end = rows.start_ns[row], rows.end_ns(row)
        # In no row while a thread of the process (a communicator's) is in one: it waits.
        alone = intervals.subtract(view.time_in("python", "between_ops"), elsewhere(view))
        free = intervals.both(view.time_in("operators"), alone)
    else:
        row, called, end = work.row, work.called_ns, work.end_ns
        free = view.time_in("host_ops", "host_between_ops")
    starts, ends, last = [], [], []
    steps = rows.like(STEP, Kind.ANNOTATION, Kind.CPU_OP)
    stepped = rows.end_ns(steps)
    for lap in laps:
        mine = np.flatnonzero((called >= lap.start_ns) & (called < lap.end_ns))
        if len(mine) == 0:
            continue
        long = rows.dur_ns[row[mine]]
        large = mine[long >= LARGE_PART.value * long.max()]
        at = large[int(np.argmax(end[large]))]
        # The optimizer's operators may all be small: what follows the model follows them too.
        step = stepped[(rows.start_ns[steps] >= lap.start_ns) & (rows.start_ns[steps] < lap.end_ns)]
        starts.append(min(max(int(end[at]), *step.tolist(), 0), lap.end_ns))
        ends.append(lap.end_ns)
        last.append(int(row[at]))
    span = intervals.union(np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))
    return intervals.intersect(span, free), np.array(last, dtype=np.int64)


CAUSE = HostWorkAfterModel()
