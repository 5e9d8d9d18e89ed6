"""Counters of `laptime run` inside a saved run: facts as JSON, their arrays as one column.

Only the classes named here are made from a file, whatever it asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from laptime.model import counters
from laptime.model.counters import Captured, CaptureFacts
from laptime.model.rows import Ints
from laptime.model.run import Run

CLASSES: Mapping[str, Any] = {
    c.__name__: c
    for c in (
        counters.Series,
        counters.ProcessCounters,
        counters.HostCounters,
        counters.LapRecord,
        counters.Pause,
        counters.LoaderSettings,
        counters.ProcessFacts,
        counters.CaptureFacts,
        counters.Clock,
    )
}
_DTYPES = ("int64", "uint8")


class Packed:
    """The captures of a run as JSON (``facts``), with ``values``: their arrays, end to end."""

    def __init__(self, run: Run) -> None:
        self._values: list[Ints] = []
        runs = list(run.captures)
        of_timelines: list[Any] = []
        for timeline in run.timelines:
            captured = timeline.capture
            if captured is None:
                of_timelines.append(None)
                continue
            if not any(captured.run is r for r in runs):
                runs.append(captured.run)
            at = next(i for i, r in enumerate(runs) if captured.run is r)
            here = [self._plain(captured.process), self._plain(captured.clock)]
            of_timelines.append([at, *here])
        self.facts: dict[str, Any] = {
            "named": len(run.captures),
            "runs": [self._plain(r) for r in runs],
            "timelines": of_timelines,
        }

    @property
    def values(self) -> Ints:
        """The arrays end to end."""
        return np.concatenate([np.zeros(0, dtype=np.int64), *self._values])

    def _plain(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            self._values.append(value.astype(np.int64))
            return {"array": len(value), "dtype": str(value.dtype)}
        if is_dataclass(value):
            held = {f.name: self._plain(getattr(value, f.name)) for f in fields(value)}
            return {"class": type(value).__name__, "fields": held}
        if isinstance(value, Mapping):
            return {"pairs": [[self._plain(k), self._plain(v)] for k, v in value.items()]}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return [self._plain(v) for v in value]
        if isinstance(value, np.generic):
            return value.item()
        return value


class Unpacked:
    """What ``Packed`` was made of. Raises ``ValueError``, ``KeyError`` or ``TypeError``."""

    def __init__(self, facts: Mapping[str, Any], values: Ints) -> None:
        self._values = values
        self._at = 0
        # The arrays lie in the order in which they were packed: runs behind timelines.
        timelines = [
            None if t is None else (t[0], self._whole(t[1]), self._whole(t[2]))
            for t in facts["timelines"]
        ]
        runs: list[CaptureFacts] = [self._whole(r) for r in facts["runs"]]
        if not all(isinstance(r, CaptureFacts) for r in runs):
            raise ValueError("a capture is not one")
        self.captures = runs[: facts["named"]]
        self.timelines = [
            None if t is None else Captured(runs[t[0]], t[1], t[2]) for t in timelines
        ]

    def _whole(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple(self._whole(v) for v in value)
        if not isinstance(value, dict):
            return value
        if "class" in value:
            made = CLASSES[value["class"]]
            return made(**{k: self._whole(v) for k, v in value["fields"].items()})
        if "pairs" in value:
            return {self._whole(k): self._whole(v) for k, v in value["pairs"]}
        size, dtype = value["array"], value["dtype"]
        if dtype not in _DTYPES or not 0 <= size <= len(self._values) - self._at:
            raise ValueError("an array is not where it should be")
        self._at += size
        return self._values[self._at - size : self._at].astype(dtype)
