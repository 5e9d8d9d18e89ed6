"""Rows taken out of a timeline, and where the time of its ledger went."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from laptime.ledger import states
from laptime.ledger.ledger import DeviceLedger
from laptime.ledger.loaders import LOADER
from laptime.model.rows import API_CALLS, DEVICE_WORK, Kind, Mask, Rows
from laptime.model.run import Timeline
from laptime.model.subset import subset

Choice = Callable[[Rows], Mask]


def _kind(*kinds: Kind) -> Choice:
    return lambda rows: np.isin(rows.kind, kinds)


def _calls(pattern: str | re.Pattern[str]) -> Choice:
    test = re.compile(pattern)
    return lambda rows: (
        np.isin(rows.kind, API_CALLS)
        & rows.names_matching(lambda n: bool(test.search(n)))[rows.name]
    )


def _loader(rows: Rows) -> Mask:
    return (
        np.isin(rows.kind, (Kind.ANNOTATION, Kind.CPU_OP))
        & rows.names_matching(lambda n: bool(LOADER.search(n)))[rows.name]
    )


CHOICES: Mapping[str, Choice] = {
    "cpu_ops": _kind(Kind.CPU_OP),
    "annotations": _kind(Kind.ANNOTATION),
    "loader_annotations": _loader,
    "python": _kind(Kind.PYTHON),
    "host_regions": _kind(Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON),
    "calls": _kind(*API_CALLS),
    "runtime_calls": _kind(Kind.RUNTIME),
    "driver_calls": _kind(Kind.DRIVER),
    "launch_calls": _calls(states.LAUNCHES),
    "kernel_launch_calls": _calls(states.KERNEL_LAUNCH),
    "sync_calls": _calls("Synchronize"),
    "blocking_calls": _calls(states.BLOCKING),
    "allocation_calls": _calls(states.ALLOCATION),
    "kernels": _kind(Kind.KERNEL),
    "copies": _kind(Kind.MEMCPY),
    "sets": _kind(Kind.MEMSET),
    "device_work": _kind(*DEVICE_WORK),
    "overhead": _kind(Kind.OVERHEAD),
    **{
        kind.name.lower(): _kind(kind)
        for kind in Kind
        if kind not in (*DEVICE_WORK, *API_CALLS, Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON)
        and kind is not Kind.OVERHEAD
    },
}
"""What is taken out, by name: each kind of row, and some kinds of call."""


def without_rows(timeline: Timeline, gone: Mask) -> Timeline:
    """The timeline without some rows; names, lanes and devices stay as they are."""
    return replace(timeline, rows=subset(timeline.rows, np.flatnonzero(~gone)))


def flows(before: DeviceLedger, after: DeviceLedger) -> dict[tuple[str, str], int]:
    """Nanoseconds that are in one account before and in another after, instant by instant."""
    a, b = before.segments, after.segments
    cuts = np.unique(np.concatenate((a.start_ns, a.end_ns, b.start_ns, b.end_ns)))
    if len(cuts) == 0:
        return {}
    at, length = cuts[:-1], np.diff(cuts)

    def account(ledger: DeviceLedger) -> npt.NDArray[np.str_]:
        segments = ledger.segments
        which = np.searchsorted(segments.start_ns, at, side="right") - 1
        inside = (which >= 0) & (at < segments.end_ns[np.maximum(which, 0)])
        ids = np.array([leaf.id for leaf in ledger.leaves] + ["outside"])
        column = np.where(inside, segments.account[np.maximum(which, 0)], len(ids) - 1)
        named: npt.NDArray[np.str_] = ids[column]
        return named

    was, now = account(before), account(after)
    out: dict[tuple[str, str], int] = {}
    for pair in sorted({*zip(was.tolist(), now.tolist(), strict=True)}):
        if pair[0] != pair[1]:
            out[pair] = int(length[(was == pair[0]) & (now == pair[1])].sum())
    return out
