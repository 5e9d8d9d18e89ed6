"""What a built trace holds, before it is text: rows with exact times, under one vocabulary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

DEVICE_KINDS = frozenset({"kernel", "memcpy", "memset"})
CALL_KINDS = frozenset({"runtime", "driver"})
HOST_KINDS = frozenset({"cpu_op", "user_annotation", "python_function", "memory"})


@dataclass
class Row:
    """One row. Times are epoch nanoseconds; ``dur_ns`` is None for an instant.

    ``kind`` is cpu_op, user_annotation, python_function, runtime, driver, kernel, memcpy, memset,
    gpu_user_annotation, sync, overhead or memory. ``lap`` is the number of the lap whose host
    window held the call (or the row's start), None outside laps.
    """

    kind: str
    name: str
    pid: int
    tid: int
    start_ns: int
    dur_ns: int | None
    args: dict[str, Any] = field(default_factory=dict)
    correlation: int | None = None
    external_id: int | None = None
    python_id: int | None = None
    python_parent: int | None = None
    device: int | None = None
    stream: int | None = None
    lap: int | None = None
    linked: bool = False
    """A call that enqueued device work."""

    @property
    def end_ns(self) -> int:
        """End of the row; an instant's own time."""
        return self.start_ns + (self.dur_ns or 0)
