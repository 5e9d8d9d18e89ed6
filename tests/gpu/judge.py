"""Judge what ``tests.gpu.record`` recorded: ``python -m tests.gpu.judge DIR``.

A case counts where the fault costs at least 10 % of the lap by the program's own clock. It is
right where the first finding of the planted program is one of those accepted; its clean twin is
right where no finding is bounded above 5 % of the lap.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import laptime
from laptime.causes.case import Finding

COSTS = 1.10
CLEAN = 0.05


@dataclass(frozen=True)
class Judged:
    """One case. ``counts``: it costs enough; ``right`` and ``clean`` as the module says."""

    name: str
    ratio: float | None
    first: str | None
    accepted: Sequence[str]
    clean_findings: Sequence[str]
    failed: str | None = None

    @property
    def counts(self) -> bool:
        """Whether the fault costs enough to be looked for."""
        return self.ratio is not None and self.ratio >= COSTS

    @property
    def right(self) -> bool:
        """Whether the first finding is an accepted one."""
        return self.first in self.accepted

    def line(self) -> str:
        """The case in one line."""
        if self.failed is not None:
            return f"{self.name}: failed: {self.failed}"
        verdict = "right" if self.right else f"WRONG, accepted {', '.join(self.accepted)}"
        if not self.counts:
            verdict = "not counted"
        found = self.first or "nothing"
        clean = f"; clean twin: {', '.join(self.clean_findings)}" if self.clean_findings else ""
        return f"{self.name}: {self.ratio:.2f} x clean, found {found}: {verdict}{clean}"


def judged(folder: Path) -> list[Judged]:
    """Every recorded case. Raises ``OSError`` where nothing was recorded."""
    recorded: dict[str, Any] = json.loads((folder / "recorded.json").read_text())
    return [_case(folder, case) for case in recorded["cases"]]


def _case(folder: Path, case: dict[str, Any]) -> Judged:
    name, accepted = case["name"], case["accepted"]
    if "failed" in case:
        return Judged(name, None, None, accepted, (), case["failed"])
    planted = laptime.explain(folder / f"{name}.planted.json.gz").judgement.findings
    clean = laptime.explain(folder / f"{name}.clean.json.gz")
    window = max(
        (v.ledger.mean_window_ns(d) for v in clean.views for d in v.ledger.devices), default=0.0
    )
    return Judged(
        name,
        case["planted_ns"] / max(1, case["clean_ns"]),
        planted[0].id if planted else None,
        accepted,
        [f.id for f in clean.judgement.findings if _large(f, window)],
    )


def _large(finding: Finding, window_ns: float) -> bool:
    return finding.bound_ns is not None and finding.bound_ns > CLEAN * window_ns


def main(folder: str) -> int:
    """Print the cases and the sums; 4 where a counted case is wrong."""
    cases = judged(Path(folder))
    for case in cases:
        print(case.line())
    counted = [c for c in cases if c.counts]
    right = sum(c.right for c in counted)
    dirty = sum(bool(c.clean_findings) for c in cases)
    print(f"{right} of {len(counted)} counted cases right, {len(cases)} cases recorded")
    print(f"{dirty} clean twins with a finding bounded above {CLEAN:.0%} of the lap")
    return 0 if right == len(counted) else 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
