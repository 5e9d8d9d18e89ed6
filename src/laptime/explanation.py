"""The answer to "where did the time go, and why": a value that every output renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laptime.causes.case import Judgement
from laptime.kernels.names import KernelName
from laptime.ledger.ledger import Ledger
from laptime.ledger.work import Work
from laptime.model.run import Run, Timeline


@dataclass(frozen=True)
class KernelTotal:
    """One distinct kernel name of a timeline: calls and summed duration."""

    decoded: KernelName
    count: int
    ns: int


@dataclass(frozen=True)
class View:
    """One timeline with its laps, device work, ledger and kernels."""

    timeline: Timeline
    work: Mapping[str, Work]
    ledger: Ledger
    kernels: Sequence[KernelTotal]


@dataclass(frozen=True)
class Explanation:
    """A run explained. ``verdict`` is one sentence with its arithmetic."""

    run: Run
    views: Sequence[View]
    judgement: Judgement
    verdict: str
