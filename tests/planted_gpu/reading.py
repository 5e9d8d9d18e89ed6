"""A written trace read back with nothing but ``json``: exact times, one record an event."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_DEVICE = {
    "kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset",
}  # fmt: skip
_CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
_MARKS = {"user_annotation", "Operator"}


@dataclass(frozen=True)
class Span:
    category: str
    name: str
    pid: Any
    tid: Any
    start_ns: int
    dur_ns: int
    args: dict[str, Any]

    @property
    def end_ns(self) -> int:
        return self.start_ns + self.dur_ns

    @property
    def correlation(self) -> int:
        return int(self.args["correlation"])


@dataclass(frozen=True)
class Written:
    """The spans of a trace by what they are, in the order of the file."""

    head: dict[str, Any]
    spans: list[Span]
    flows: list[dict[str, Any]]

    @property
    def device(self) -> list[Span]:
        return [s for s in self.spans if s.category in _DEVICE]

    @property
    def calls(self) -> list[Span]:
        return [s for s in self.spans if s.category in _CALLS]

    def laps(self, marks: str) -> list[Span]:
        start = marks.split("{")[0]
        named = (s for s in self.spans if s.category in _MARKS and s.name.startswith(start))
        return sorted(named, key=lambda s: s.start_ns)


def read(text: str) -> Written:
    head = json.loads(text, parse_float=Decimal)
    events = head.pop("traceEvents")
    spans = [
        Span(
            e["cat"], e["name"], e["pid"], e["tid"],
            int(Decimal(e["ts"]) * 1000), int(Decimal(e["dur"]) * 1000), e.get("args", {}),
        )
        for e in events
        if e["ph"] == "X"
    ]  # fmt: skip
    return Written(head, spans, [e for e in events if e["ph"] in "sf"])
