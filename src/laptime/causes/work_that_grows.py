"""Cause: each lap does more than the one before."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.limits import GROWING_LAPS, GROWTH_SHARE, GROWTH_Z
from laptime.causes.view import EVENTS_SHOWN, DeviceView, device_views
from laptime.model.laps import Lap
from laptime.model.rows import HOST_KINDS, I64, Ints


class WorkThatGrows:
    """Work that grows with the run.

    What it is
        Each lap does a little more than the one before: hooks registered again, a history that is
        concatenated, a buffer that is never cleared, losses kept with their graph.

    How it shows
        Lap lengths rise with their number (Mann-Kendall's test, at least 8 laps), and so does, in
        every recorded lap, the number of calls of some operator, function or mark. Of a capture the
        lengths are those of laps that were not recorded.

    Why it costs
        A run of n laps pays for n times n such steps.

    How the gain is predicted
        Bound: what the laps take more than the first of them on the line of Theil and Sen (the
        middle of the slopes of all pairs), a mean over them: slope x (laps - 1) / 2. In a longer
        run it is more.

    What is not flagged
        Rising times of unchanged calls: heat, other programs, memory or longer inputs may be the
        reason. Growth of less than 5 % of a lap. Fewer than 8 laps: the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: six laps: not judged.
        - ``kineto/hta/df_index_resolver``: too few laps, too.
    """

    id = "work-that-grows"
    title = "Each lap does more than the one before"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Test the laps' lengths, then the counts of rows."""
        rank = case.timeline.rank
        steady = case.ledger.laps.steady
        lengths, what = _lengths(case)
        if len(lengths) < GROWING_LAPS.value or len(steady) < 3:
            return Abstention(
                self.id,
                (Need.CAPTURE.value, f"{GROWING_LAPS.value:.0f} laps"),
                "record with `laptime run`, or profile at least 8 steady steps",
                rank,
            )
        slope, z = _trend(lengths)
        mean = float(lengths.mean())
        bound = round(slope * (len(lengths) - 1) / 2)
        told = f"lengths of {len(lengths)} {what} change by {wording.percent(bound / mean)}"
        if z < GROWTH_Z.value or bound < GROWTH_SHARE.value * mean:
            return Clear(self.id, f"{told} of a lap (Mann-Kendall z = {z:.1f})", rank)
        views = device_views(case)
        growing = _growing(case, steady)
        if not growing or not views:
            return Clear(self.id, f"{told} of a lap, but no call comes more often", rank)
        return self._finding(views[0], lengths, what, slope, z, growing)

    def _finding(
        self,
        view: DeviceView,
        lengths: I64,
        what: str,
        slope: float,
        z: float,
        growing: Sequence[tuple[int, Ints]],
    ) -> Finding:
        rows = view.case.timeline.rows
        mean = float(lengths.mean())
        bound = min(round(slope * (len(lengths) - 1) / 2), int(view.lap_ns))
        name, counts = growing[0]
        grown = f"{rows.names[name]} comes {counts[0]} times in the first recorded lap and "
        grown += f"{counts[-1]} in the last"
        mine = np.flatnonzero(rows.name == name)
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Laps get longer by {wording.time(slope)} each over {len(lengths)} {what}, on "
                f"average {wording.time(bound)} of {wording.time(mean)} "
                f"({wording.percent(bound / mean)}); {grown}."
            ),
            share=bound / mean,
            bound_ns=bound,
            formula=(
                f"slope of Theil and Sen {wording.time(slope)} x ({len(lengths)} - 1) / 2 = "
                f"{wording.time(bound)}; Mann-Kendall z = {z:.1f}"
            ),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(mine),
            events_in_all=view.number(mine),
            why=tuple(
                f"{rows.names[i][:80]}: {', '.join(map(str, n.tolist()[:EVENTS_SHOWN]))} times"
                for i, n in growing[:4]
            ),
            next_step=(
                "find what adds up: hooks or callbacks registered in each lap, lists and buffers "
                "that are never cleared, tensors kept with their graph (use .detach() or .item())",
            ),
        )


def _lengths(case: Case) -> tuple[I64, str]:
    """Lengths of the laps in order, and what laps they are."""
    captured = case.timeline.capture
    plain = [] if captured is None else captured.process.of_phase("plain")
    if len(plain) >= GROWING_LAPS.value:
        return np.array([lap.dur_ns for lap in plain], dtype=np.int64), "unrecorded laps"
    return np.array([lap.dur_ns for lap in case.ledger.laps.steady], dtype=np.int64), "laps"


def _trend(values: I64) -> tuple[float, float]:
    """Theil's and Sen's slope per lap, and the z of Mann's and Kendall's test (with its correction
    by one, and for equal values)."""
    n = len(values)
    low, high = np.triu_indices(n, 1)
    rise = values[high] - values[low]
    score = int(np.sign(rise).sum())
    equal = np.unique(values, return_counts=True)[1]
    variance = n * (n - 1) * (2 * n + 5) - int((equal * (equal - 1) * (2 * equal + 5)).sum())
    z = 0.0 if variance <= 0 else (score - np.sign(score)) / sqrt(variance / 18)
    return float(np.median(rise / (high - low))), float(z)


def _growing(case: Case, laps: Sequence[Lap]) -> list[tuple[int, Ints]]:
    """Names of host rows of which every lap has more than the one before, most added time first."""
    rows = case.timeline.rows
    host = rows.of_kind(*HOST_KINDS)
    ends = np.array([lap.end_ns for lap in laps], dtype=np.int64)
    starts = np.array([lap.start_ns for lap in laps], dtype=np.int64)
    at = np.searchsorted(starts, rows.start_ns[host], side="right") - 1
    inside = (at >= 0) & (rows.start_ns[host] < ends[np.maximum(at, 0)])
    host, at = host[inside], at[inside]
    size = len(rows.names)
    count = np.zeros((size, len(laps)), dtype=np.int64)
    time = np.zeros((size, len(laps)), dtype=np.int64)
    np.add.at(count, (rows.name[host], at), 1)
    np.add.at(time, (rows.name[host], at), np.maximum(rows.dur_ns[host], 0))
    more = (np.diff(count, axis=1) > 0).all(axis=1) & (count[:, 0] > 0)
    added = time[:, -1] - time[:, 0]
    found = sorted(np.flatnonzero(more).tolist(), key=lambda i: (-int(added[i]), i))
    return [(i, count[i]) for i in found]


CAUSE = WorkThatGrows()
