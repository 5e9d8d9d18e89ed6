"""An explanation as trace events: laps, accounts and findings as tracks of a process of their own.

Times are those of the trace's own file (``FileTime``), so that the tracks lie beside its events.
Tracks hold complete events that never overlap in part, which viewers cannot draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from laptime.causes.case import EventRef, Finding
from laptime.explanation import Explanation, View
from laptime.ledger.ledger import DeviceLedger
from laptime.report import shown
from laptime.report.clock import FileTime
from laptime.report.selection import belongs

CATEGORY = "laptime"
"""``cat`` of every event written here: a reader can leave them out again."""

Event = dict[str, Any]


class Exact(str):
    """A number as it must stand in the JSON text: more digits than a double holds."""


def events_of(explanation: Explanation, view: View) -> Iterator[Event]:
    """The events of one timeline: names of tracks first, then each track in order of time.

    ``ts`` and ``dur`` are ``Exact`` microseconds with three decimals.
    """
    tracks = _Tracks(view)
    yield from tracks.process(explanation.verdict)
    yield from _laps(view, tracks)
    for device in view.ledger.devices:
        yield from _windows(view, device, tracks)
        yield from _accounts(device, tracks)
    findings = [f for f in explanation.judgement.findings if belongs(f, view)]
    for number, finding in enumerate(findings, 1):
        yield from _finding(explanation, view, number, finding, tracks)


class _Tracks:
    """Hands out tracks of one process, whose number no process of the trace has."""

    def __init__(self, view: View) -> None:
        taken = {str(lane.pid) for lane in view.timeline.lanes}
        self.pid = next(p for p in range(2_000_000_000, 2_000_001_000) if str(p) not in taken)
        self._time = FileTime(view.timeline)
        self._tid = 0

    def process(self, verdict: str) -> Iterator[Event]:
        yield self._meta("process_name", 0, {"name": "laptime"})
        yield self._meta("process_labels", 0, {"labels": verdict})
        yield self._meta("process_sort_index", 0, {"sort_index": -1000})

    def new(self, name: str) -> tuple[int, list[Event]]:
        """A further track: its number and the events that name it."""
        self._tid += 1
        named = self._meta("thread_name", self._tid, {"name": name})
        place = self._meta("thread_sort_index", self._tid, {"sort_index": self._tid})
        return self._tid, [named, place]

    def slice(self, track: int, name: str, start_ns: int, dur_ns: int, args: Event) -> Event:
        """A complete event."""
        return {
            "ph": "X",
            "cat": CATEGORY,
            "name": name,
            "pid": self.pid,
            "tid": track,
            "ts": Exact(self._time.ts(start_ns)),
            "dur": Exact(f"{dur_ns // 1000}.{dur_ns % 1000:03d}"),
            "args": args,
        }

    def _meta(self, name: str, track: int, args: Event) -> Event:
        return {"ph": "M", "name": name, "pid": self.pid, "tid": track, "args": args}


def _laps(view: View, tracks: _Tracks) -> Iterator[Event]:
    laps = view.ledger.laps
    if not laps.laps:
        return
    track, named = tracks.new(f"laps on the host (source: {laps.source})")
    yield from named
    for lap in laps.laps:
        args: Event = {"lap": lap.id, "steady": lap.steady}
        if lap.why_not:
            args["not counted"] = lap.why_not
        yield tracks.slice(track, lap.label, lap.start_ns, lap.dur_ns, args)


def _windows(view: View, device: DeviceLedger, tracks: _Tracks) -> Iterator[Event]:
    if device.cpu or not device.windows:
        return
    labels = {lap.id: lap.label for lap in view.ledger.laps.laps}
    track, named = tracks.new(f"laps on {device.device}")
    yield from named
    for window, counted in zip(device.windows, view.ledger.counted(device), strict=True):
        args = {"lap": window.lap, "open": window.open, "counted": bool(counted)}
        label = labels.get(window.lap, window.lap)
        yield tracks.slice(track, label, window.start_ns, window.dur_ns, args)


def _accounts(device: DeviceLedger, tracks: _Tracks) -> Iterator[Event]:
    """Every stretch of the partition; neighbours in one account are one event."""
    segments = device.segments
    if len(segments.start_ns) == 0:
        return
    track, named = tracks.new(f"where the time of {device.device} went")
    yield from named
    start, end, account = segments.start_ns, segments.end_ns, segments.account
    breaks = np.flatnonzero((account[1:] != account[:-1]) | (start[1:] != end[:-1])) + 1
    first = np.concatenate((np.zeros(1, dtype=np.int64), breaks))
    last = np.append(breaks, len(start)) - 1
    for a, b in zip(first.tolist(), last.tolist(), strict=True):
        leaf = device.leaves[int(account[a])]
        begin = int(start[a])
        yield tracks.slice(track, leaf.title, begin, int(end[b]) - begin, {"account": leaf.id})


def _finding(
    explanation: Explanation, view: View, number: int, finding: Finding, tracks: _Tracks
) -> Iterator[Event]:
    """The finding over the time that its figures count, and its events lane by lane below."""
    counted = _counted(view, finding)
    args: Event = {
        "sentence": finding.sentence,
        "costs": shown.bound(explanation, finding),
        "formula": finding.formula,
    }
    args |= {f"why {i}": why for i, why in enumerate(finding.why, 1)}
    args |= {f"next {i}": step for i, step in enumerate(finding.next_step, 1)}
    if counted is not None:
        track, named = tracks.new(f"finding {number}: {finding.title}")
        yield from named
        start, end = counted
        head = shown.finding_head(finding, device=shown.device_meant(explanation, finding))
        yield tracks.slice(track, head, start, end - start, args)
    by_lane: dict[str, list[EventRef]] = {}
    for event in finding.events:
        by_lane.setdefault(event.lane, []).append(event)
    for lane, events in sorted(by_lane.items()):
        for layer in _apart(events):
            track, named = tracks.new(f"finding {number}: events of {lane}")
            yield from named
            for event in layer:
                told = {"finding": finding.id}
                yield tracks.slice(track, event.name, event.start_ns, max(event.dur_ns, 0), told)


def _counted(view: View, finding: Finding) -> tuple[int, int] | None:
    """From the first to the last counted window of the finding's device."""
    for device in view.ledger.devices:
        if finding.device not in (None, device.device):
            continue
        mask = view.ledger.counted(device)
        windows = [w for w, used in zip(device.windows, mask, strict=True) if used]
        if windows:
            return min(w.start_ns for w in windows), max(w.end_ns for w in windows)
    return None


def _apart(events: Sequence[EventRef]) -> list[list[EventRef]]:
    """Events in as few layers as needed, none overlapping within a layer."""
    layers: list[list[EventRef]] = []
    for event in sorted(events, key=lambda e: (e.start_ns, -e.dur_ns, e.name)):
        for layer in layers:
            if layer[-1].start_ns + max(layer[-1].dur_ns, 0) <= event.start_ns:
                layer.append(event)
                break
        else:
            layers.append([event])
    return layers
