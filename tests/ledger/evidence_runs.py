"""Published traces as the ledger sees them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from laptime.evidence.registry import open_run
from laptime.kernels.names import KernelName
from laptime.ledger.build import build_ledger
from laptime.ledger.device_work import kernel_names
from laptime.ledger.ledger import Ledger
from laptime.ledger.work import Work
from laptime.model.run import Timeline
from tests.evidence_files import kineto_id


@dataclass(frozen=True)
class Accounted:
    """One trace with its ledger."""

    id: str
    timeline: Timeline
    names: dict[int, KernelName]
    ledger: Ledger
    work: dict[str, Work]


def accounted(path: Path) -> Accounted:
    """Read a trace and build its ledger."""
    (timeline,) = open_run(str(path), n_jobs=1).timelines
    names = kernel_names(timeline.rows)
    ledger, work = build_ledger(timeline, names)
    return Accounted(kineto_id(path), timeline, names, ledger, work)
