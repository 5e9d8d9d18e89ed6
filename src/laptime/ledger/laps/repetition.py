"""Laps inferred from repetition, where the program left no marks.

The launch sequence of one device is searched for the shortest period that explains it. A layer
repeats too: so that a layer is never called a lap, each period must hold something that happens
once an iteration and not once a layer: a graph launch, a copy between host and device, or a
blocking call. What is found is an inference, and carries the share of the sequence that fits it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from laptime.ledger import states
from laptime.ledger.host import HostStates
from laptime.ledger.work import Work
from laptime.model.rows import API_CALLS, I64, Ints, Kind, Mask

LEAST_LAPS = 3
LEAST_MATCH = 0.9
"""Share of the sequence that must equal itself one period later."""
GRAM = 8
CANDIDATES = 32


@dataclass(frozen=True)
class Repetition:
    """Start of each repeated stretch (calling time of its first launch), and how well it fits."""

    start_ns: I64
    end_ns: I64
    match: float
    period: int


def repeated(work: Work, host: HostStates) -> Repetition | None:
    """The repetition of a device's launch sequence, if there is one."""
    order = np.lexsort((work.row, work.start_ns, work.called_ns))
    token = host.rows.name[work.row[order]].astype(np.int64)
    called, end = work.called_ns[order], work.end_ns[order]
    anchor = _anchors(work, host, order)
    size = len(token)
    if size < LEAST_LAPS * 2 or not anchor.any():
        return None
    for period, match in _periods(token):
        if match < LEAST_MATCH or size // period < LEAST_LAPS - 1:
            continue
        first = _first(token, period)
        starts = np.arange(first, size - period // 2, period)
        if len(starts) < LEAST_LAPS:
            continue
        each = np.add.reduceat(anchor[first:].astype(np.int64), starts - first)
        if (each[:-1] > 0).mean() < LEAST_MATCH:
            continue
        begins = called[starts]
        if (np.diff(begins) <= 0).any():
            continue
        final = int(end[starts[-1] : starts[-1] + period].max())
        return Repetition(begins, np.append(begins[1:], final), match, period)
    return None


def _anchors(work: Work, host: HostStates, order: Ints) -> Mask:
    """Activities that mark an iteration: by graph launch, host copy, or after a blocking call."""
    rows = host.rows
    graph = rows.names_like(states.GRAPH_LAUNCH)
    copy = rows.names_matching(
        lambda n: any(t in n for t in ("HtoD", "DtoH", "HostToDevice", "DeviceToHost"))
    )
    calls = work.call_row[order]
    out: Mask = (rows.kind[work.row[order]] == Kind.MEMCPY) & copy[rows.name[work.row[order]]]
    known = calls >= 0
    out[known] |= graph[rows.name[calls[known]]]
    blocking = rows.names_like(states.BLOCKING)
    api = rows.of_kind(*API_CALLS)
    left = np.sort(rows.end_ns(api[blocking[rows.name[api]]]))
    at = np.searchsorted(work.called_ns[order], left)
    out[at[at < len(out)]] = True
    return out


def _periods(token: I64) -> list[tuple[int, float]]:
    """Candidate periods, shortest first, with the share of the sequence that fits each.

    Candidates are the distances between occurrences of the rarest repeated runs of ``GRAM``.
    """
    size = len(token)
    if size < GRAM:
        return []
    gram = np.zeros(size - GRAM + 1, dtype=np.uint64)
    for i in range(GRAM):
        mixed = (token[i : size - GRAM + 1 + i].astype(np.uint64) + np.uint64(i + 1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        gram = gram * np.uint64(31) ^ mixed ^ (mixed >> np.uint64(29))
    _, inverse, counts = np.unique(gram, return_inverse=True, return_counts=True)
    repeats = counts[inverse]
    found: dict[int, float] = {}
    for times in np.unique(counts[counts >= LEAST_LAPS - 1])[:CANDIDATES].tolist():
        where = np.flatnonzero(repeats == times)
        at = np.flatnonzero(inverse == inverse[where[0]])
        for period in {int(np.median(np.diff(at))), int(np.diff(at).min())}:
            if period >= 1 and period not in found and period <= size // 2:
                found[period] = float((token[period:] == token[:-period]).mean())
    return sorted(found.items())


def _first(token: I64, period: int) -> int:
    """Where the repetition begins: the first place from which one period equals the next."""
    same = token[period:] == token[:-period]
    run = np.cumsum(same)
    length = min(period, len(same))
    full = np.flatnonzero(
        run[length - 1 :] - np.append(0, run[: len(run) - length]) >= LEAST_MATCH * length
    )
    return int(full[0]) if len(full) else 0
