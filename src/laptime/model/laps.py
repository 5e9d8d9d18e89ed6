"""Laps: steps or engine iterations on the host, and their windows on each device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Lap:
    """One training step or engine iteration of one process: its host window.

    ``start_ns`` and ``dur_ns`` are in the timeline's clock. ``steady`` laps are the ones
    statistics use; ``why_not`` says why another is not ("warm-up", "queue filling"). Labels differ:
    laps of equal marks are numbered from 1 ("train_step #1").
    """

    id: str
    label: str
    start_ns: int
    dur_ns: int
    steady: bool = True
    why_not: str | None = None
    mark: str | None = None
    """The name of the lap's own mark as recorded; None where it has none, or ``label`` is it."""

    @property
    def end_ns(self) -> int:
        """End of the host window."""
        return self.start_ns + self.dur_ns


@dataclass(frozen=True)
class DeviceLap:
    """A lap's window on one device, from its first own work to the next lap's first own work.

    ``open`` marks the last one, which ends with its own work.
    """

    device: str
    lap: str
    start_ns: int
    dur_ns: int
    open: bool

    @property
    def end_ns(self) -> int:
        """End of the device window."""
        return self.start_ns + self.dur_ns


@dataclass(frozen=True)
class Laps:
    """Laps of one timeline, with where they were found.

    ``source``: "mark" (the program's own step marks), "repetition" (inferred from the repeating
    launch sequence) or "window" (no lap could be told: the whole recording is one).
    ``mark`` is the name of the marks. ``confidence`` is 0..1: 1 for marks, the share of the
    recording explained by the period for repetition, 0 for a window.
    ``by_device`` holds the device windows; ``owner_lane`` the lane whose thread owns the laps.
    """

    laps: Sequence[Lap]
    by_device: Sequence[DeviceLap]
    source: str
    mark: str | None
    confidence: float
    owner_lane: int | None
    notes: Sequence[str] = ()

    @property
    def mark_names(self) -> frozenset[str]:
        """Names of the laps' own marks, as recorded."""
        return frozenset(lap.mark or lap.label for lap in self.laps)

    @property
    def steady(self) -> list[Lap]:
        """The laps that statistics use."""
        return [lap for lap in self.laps if lap.steady]

    def __repr__(self) -> str:
        """How many laps, and where they were found."""
        return (
            f"Laps({len(self.laps)} laps, {len(self.steady)} steady, source={self.source!r}, "
            f"mark={self.mark!r})"
        )
