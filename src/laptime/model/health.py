"""Health: what the evidence lost, and what is odd about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

ONE_JOB = "of one job?"
"""How a warning ends that doubts whether files belong together."""


@dataclass(frozen=True)
class Loss:
    """Something the evidence should have held and does not.

    ``offset`` is the first place in the uncompressed text, in bytes; None where it has none.
    """

    reason: str
    count: int
    source: str
    offset: int | None = None


@dataclass
class Health:
    """State of the evidence: items read, losses, warnings (one sentence each)."""

    items: int = 0
    losses: list[Loss] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def doubts(self) -> list[str]:
        """The warnings that ask whether what was read is of one job."""
        return [w for w in self.warnings if w.endswith(ONE_JOB)]

    @property
    def lost(self) -> int:
        """Number of items lost, as far as they could be counted."""
        return sum(loss.count for loss in self.losses)


def merged(parts: Sequence[Health]) -> Health:
    """Health of several parts together, in their order."""
    return Health(
        items=sum(p.items for p in parts),
        losses=[loss for p in parts for loss in p.losses],
        warnings=list(dict.fromkeys(w for p in parts for w in p.warnings)),
    )
