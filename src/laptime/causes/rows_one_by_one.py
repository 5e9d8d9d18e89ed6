"""Cause: a loader without workers fetches cheap rows one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import CHEAP_ROW_NS, INPUT_SHARE
from laptime.causes.side_calls import cannot_tell, unseen
from laptime.causes.side_cost import HostCost, host_cost, judged, paid, watched
from laptime.causes.slow_collate import CALLS as COLLATE
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.model.rows import Ints, Kind

FETCH = re.compile(r"(^|/)torch/utils/data/_utils/fetch\.py\(\d+\): fetch$")
ROW = re.compile(r": __getitem__$")
LOADED = re.compile(r"^laptime\.load: rows\((?P<rows>\d+)\)")


class RowsOneByOne:
    """Rows fetched one by one.

    What it is
        The loader calls ``__getitem__`` once for each row of a batch, in the thread of the lap,
        where a row is next to nothing: an index into an array, a line of a data frame.

    How it shows
        In a loader without workers, time in the fetching of a batch without its collating, and how
        many rows it had: marked by `laptime run`, or from frames of Python stacks. Found from 5 %
        of the lap where a row takes at most 200 us.

    Why it costs
        A call per row costs microseconds; one index for the whole batch costs as much as one row.

    How the gain is predicted
        Bound: the thread's time in fetching, without collating, a mean per lap; with a device only
        that in which it is idle with nothing enqueued. One call for the whole batch stays.

    What is not flagged
        Rows that take longer: decoding dominates there. Fetching in workers; data sets that fetch
        whole batches (``__getitems__``).

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: no stacks: what its loader does is not
          known.
        - ``kineto/tracelens/b200``: stacks, and no loader.
    """

    id = "rows-one-by-one"
    title = "Rows are fetched one by one"
    layer = "data"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("input-starvation",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that fetching costs most."""
        rank = case.timeline.rank
        rows = case.timeline.rows
        fetching = np.union1d(rows.like(FETCH, Kind.PYTHON), rows.like(LOADED, Kind.ANNOTATION))
        if len(fetching) == 0 or not watched(case):
            return unseen(self, case, "loader without workers")
        if not judged(case):
            return cannot_tell(self, case)
        cost = max((_without_collate(v, fetching) for v in judged(case)), key=lambda c: c.share)
        number = _rows_of(cost)
        if number == 0:
            return Clear(self.id, "no row is fetched in the counted laps", rank)
        each_ns = intervals.total(cost.span) / number
        if cost.share < INPUT_SHARE.value or each_ns > CHEAP_ROW_NS.value:
            told = wording.below(cost.share, INPUT_SHARE.value, "of the lap")
            if cost.share >= INPUT_SHARE.value:
                told = (
                    f"{wording.percent(cost.share)} of the lap, but a row takes more than "
                    f"{wording.time(CHEAP_ROW_NS.value)}"
                )
            return Clear(
                self.id, f"fetching rows takes {told}, {wording.time(each_ns)} a row", rank
            )
        return self._finding(cost, number, each_ns)

    def _finding(self, cost: HostCost, number: int, each_ns: float) -> Finding:
        view = cost.view
        lines = cost.where()
        most = f", most by {lines[0][0]}" if lines else ""
        per_lap = number / view.laps
        idle = "" if view.ledger.cpu else "leaves the device idle for "
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Fetching {wording.counted(per_lap, 'row')}{view.per_lap} one by one "
                f"{idle or 'takes '}{cost.taken}: {wording.time(each_ns)} a row{most}."
            ),
            share=cost.share,
            bound_ns=cost.ns,
            formula=(
                f"{wording.count(per_lap)} rows x {wording.time(each_ns)} in fetching, without "
                "collating"
                + (
                    ""
                    if view.ledger.cpu
                    else ", of which the device is idle with nothing enqueued for"
                )
                + f" = {wording.time(cost.ns)}{view.per_lap}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(cost.rows),
            events_in_all=len(cost.rows),
            why=(f"{wording.count(cost.per_lap)} of the loader's fetches{view.per_lap}",),
            next_step=(
                "index once for the batch: Dataset.__getitems__(indices), or a BatchSampler as "
                "sampler with batch_size=None; columns as arrays or tensors, not data frames",
                "if rows must stay single: DataLoader(num_workers=N, persistent_workers=True)",
            ),
        )


def _without_collate(view: DeviceView, fetching: Ints) -> HostCost:
    """The cost of fetching less the collating in it."""
    cost = host_cost(view, fetching)
    rows = view.case.timeline.rows
    collating = np.union1d(
        rows.like(COLLATE.frames, Kind.PYTHON), rows.like(COLLATE.marks, Kind.ANNOTATION)
    )
    span = intervals.subtract(cost.span, view.rows_span(collating))
    return HostCost(view, cost.rows, span, paid(view, span))


def _rows_of(cost: HostCost) -> int:
    """How many rows the batches had: as the marks say, else the outermost ``__getitem__``."""
    rows = cost.view.case.timeline.rows
    said = [LOADED.match(rows.name_of(r)) for r in cost.rows.tolist()]
    marked = [int(m["rows"]) for m in said if m is not None]
    if marked:
        return sum(marked)
    items = host_cost(cost.view, rows.like(ROW, Kind.PYTHON)).rows
    inside = intervals.by_window(cost.span, rows.start_ns[items], rows.end_ns(items)) > 0
    return int(inside.sum())


CAUSE = RowsOneByOne()
