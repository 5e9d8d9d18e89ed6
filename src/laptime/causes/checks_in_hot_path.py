"""Cause: values are checked in every lap, and the host waits for the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from laptime.causes import wording
from laptime.causes.case import Case, Clear, Finding, Need, Outcome
from laptime.causes.checks import READ, checked_and_read
from laptime.causes.launches import device_unseen
from laptime.causes.limits import CHECK_SHARE
from laptime.causes.named import named
from laptime.causes.needs import abstention
from laptime.causes.origin import main_origin, origin_lines
from laptime.causes.recurring import in_laps
from laptime.causes.row_cost import cost_of_rows
from laptime.causes.view import DeviceView, device_views
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind

DISTRIBUTIONS = re.compile(r"torch/distributions/(distribution|constraints)\.py")


class ChecksInHotPath:
    """Checks in the hot path.

    What it is
        The loop asks of every lap whether values are finite, masks are full, or arguments valid:
        ``isfinite().all()``, ``isnan().any()``, ``validate_args`` of distributions.

    How it shows
        ``aten::isfinite``, ``isnan``, ``any``, ``all`` followed on the same thread by
        ``aten::item`` or ``aten::is_nonzero``, at most a few combining operators in between.

    Why it costs
        The check passes over the data once more, and reading its outcome waits for the device.

    How the gain is predicted
        Bound: the counted time in which the device runs nothing but what these operators launch, is
        idle while they last, or is idle in or behind their blocking calls. That idle time is also
        part of what host-sync counts. On CPU-only runs the owning thread's time in them.

    What is not flagged
        Checks whose outcome stays on the device; the scan of gradients by a loss scaler; checks by
        autograd's anomaly mode (debug-settings has them).

    Must not flag
        - ``kineto/tracelens/h100/Qwen``: one ``all`` of the mask in a pass, 0.2 % of the lap.
        - ``kineto/tracelens/mi300/resnet``: no value is checked.
    """

    id = "checks-in-hot-path"
    title = "Values are checked in the laps"
    layer = "host"
    needs: Sequence[Need] = (Need.HOST_ROWS,)
    silences: Sequence[str] = ("host-sync",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that loses most to checks."""
        rank = case.timeline.rank
        views = device_views(case)
        if not views or device_unseen(case):
            return abstention(self.id, [Need.GPU_ROWS], rank)
        if Need.GPU_ROWS in case.has and Need.LAUNCH_CALLS not in case.has:
            return abstention(self.id, [Need.LAUNCH_CALLS], rank)
        looked = []
        for one in views:
            found = checked_and_read(one)[0]
            looked.append((one, found, cost_of_rows(one, found)))
        view, members, span = max(looked, key=lambda v: v[0].share(v[2]))
        share = view.share(span)
        if share < CHECK_SHARE.value:
            if view.number(members) == 0:
                return Clear(self.id, "no value is checked and read in the counted laps", rank)
            told = wording.below(share, CHECK_SHARE.value, "of the lap")
            return Clear(self.id, f"checks of values cost {told}", rank)
        return self._finding(view, members, span)

    def _finding(self, view: DeviceView, members: Ints, span: Span) -> Finding:
        rows = view.case.timeline.rows
        inside = members[view.touching(rows.start_ns[members], rows.end_ns(members))]
        reads = int(named(rows, inside, READ).sum())
        names = Counter(rows.name_of(int(r)) for r in inside)
        bound, where = view.mean_ns(span), main_origin(view.case, inside)
        taken = f"{view.of_lap(bound)} ({wording.percent(view.share(span))})"
        distributions = len(rows.like(DISTRIBUTIONS, Kind.PYTHON)) > 0
        what = "take" if view.ledger.cpu else "cost the device"
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Checks of values {what} {taken}{in_laps(view, span)}: "
                f"{wording.counted(reads / view.laps, 'outcome')} read"
                f"{view.per_lap}" + (f", most from {where}." if where else ".")
            ),
            share=view.share(span),
            bound_ns=bound,
            formula=(
                "time of these operators on the owning thread = "
                if view.ledger.cpu
                else "device time of what these operators alone launch, and idle time while they "
                "last or behind their blocking calls = "
            )
            + f"{wording.time(bound)}{view.per_lap}",
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(inside),
            events_in_all=view.number(inside),
            why=(
                f"{wording.counted(reads, 'outcome')} read {view.in_all}",
                *(
                    f"{name} {wording.times(n / view.laps)}{view.per_lap}"
                    for name, n in names.most_common(4)
                ),
                *origin_lines(view.case, inside, view.laps, "operator"),
            ),
            next_step=(
                *(
                    ("torch.distributions.Distribution.set_default_validate_args(False)",)
                    if distributions
                    else ()
                ),
                "check every N laps, or keep the outcome on the device and read it a lap late",
            ),
        )


CAUSE = ChecksInHotPath()
