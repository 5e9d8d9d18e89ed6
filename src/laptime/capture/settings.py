"""What the user asks of a capture."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

LAP_SOURCES = ("auto", "optimizer", "loader", "module", "mark")


@dataclass(frozen=True)
class CaptureSettings:
    """How to record. Counts are laps of each process.

    ``warmup`` laps are skipped, ``plain`` ones only timed, one more is given to the profiler's own
    warm-up, and ``laps`` are recorded. ``then`` is what becomes of the program: ``continue`` or
    ``stop``.
    """

    warmup: int = 5
    plain: int = 10
    laps: int = 5
    laps_from: str = "auto"
    then: str = "continue"
    stacks: bool = False
    shapes: bool = False
    memory: bool = False

    def for_probe(self, folder: str) -> str:
        """The text that the probe reads from its environment variable."""
        pairs = {"dir": folder, **self.as_json()}
        del pairs["then"]
        lines = (
            f"{k}={int(v) if isinstance(v, bool) else v}" for k, v in pairs.items() if v is not None
        )
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """As ``capture.json`` keeps them."""
        return asdict(self)
