"""Launch calls without an activity, as the ledger finds them: what the profiler dropped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.causes.case import Case
from laptime.ledger.host import HostStates
from laptime.ledger.unseen import unseen_calls


@dataclass(frozen=True)
class Launches:
    """Calls that enqueued work: those of which the trace has an activity, and those it has not."""

    seen: int
    lost: int

    @property
    def all(self) -> int:
        """Every launch counted."""
        return self.seen + self.lost

    @property
    def lost_share(self) -> float:
        """Share of the launches without an activity, 0..1; 0 where nothing was launched."""
        return self.lost / self.all if self.all else 0.0


def device_unseen(case: Case) -> bool:
    """Whether the run used a device of which the trace has no rows: it is not a CPU-only run, and
    what its thread does says nothing of the device."""
    return all(d.cpu for d in case.ledger.devices) and launches(case).lost > 0


def launches(case: Case) -> Launches:
    """Count the launches of a timeline.

    Where any activity is recorded, launches behind the last one that has an activity are left out:
    a recording ends before the device has done everything, and that is no loss.
    """
    if "launches" not in case.shared:
        case.shared["launches"] = _launches(case)
    found: Launches = case.shared["launches"]
    return found


def _launches(case: Case) -> Launches:
    rows = case.timeline.rows
    calls = [w.call_row[w.launched] for w in case.work.values()]
    seen = np.unique(np.concatenate(calls)) if calls else np.zeros(0, dtype=np.int64)
    unseen = unseen_calls(HostStates(rows))
    if len(seen) == 0:
        return Launches(0, len(unseen.row))
    last = rows.start_ns[seen].max()
    return Launches(len(seen), int((unseen.start_ns <= last).sum()))
