"""What the evidence of one timeline holds of what causes need: decided here, once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from laptime.causes.case import NAMES, OF_A_CAPTURE, SUPPLY, Abstention, Need
from laptime.causes.counted import counters_of
from laptime.causes.limits import STEADY_LAPS
from laptime.ledger.ledger import Ledger
from laptime.ledger.work import Work
from laptime.model.rows import Kind
from laptime.model.run import Run, Timeline

SHAPE_SAMPLE = 64
"""Operators whose arguments are read where the header does not say whether shapes were recorded."""

_SHAPE_KEYS = ("Input Dims", "Input dims", "dims", "Shapes")


def needs_met(timeline: Timeline, work: Mapping[str, Work], ledger: Ledger) -> frozenset[Need]:
    """The needs that the timeline meets."""
    rows = timeline.rows
    counted = counters_of(timeline, ledger)
    met: dict[Need, bool] = {
        Need.GPU_ROWS: any(len(w.row) > 0 for w in work.values()),
        Need.LAUNCH_CALLS: any(bool(w.launched.any()) for w in work.values()),
        Need.HOST_ROWS: bool(rows.mask_of(Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON).any()),
        Need.STACKS: bool(rows.mask_of(Kind.PYTHON).any()),
        Need.SHAPES: _has_shapes(timeline),
        Need.LOADER_SPANS: len(ledger.loaders.rows(rows)) > 0,
        Need.THREE_LAPS: len(ledger.laps.steady) >= STEADY_LAPS.value,
        Need.DEVICE_PROPERTIES: any(d.properties for d in timeline.devices if d.id in work),
        Need.CAPTURE: timeline.capture is not None,
        Need.COUNTERS: counted is not None,
        Need.SCHED: counted is not None and counted.scheduled,
    }
    return frozenset(need for need, held in met.items() if held)


def abstention(cause_id: str, missing: Sequence[Need], rank: int | None) -> Abstention:
    """The answer of a cause whose needs are not met, with what would supply them."""
    return Abstention(
        id=cause_id,
        missing=tuple(n.value for n in missing),
        supply="; ".join(dict.fromkeys(SUPPLY[n] for n in missing if not _supplied(n, missing))),
        rank=rank,
    )


def _supplied(need: Need, missing: Sequence[Need]) -> bool:
    """Whether what supplies another of the missing needs supplies this one too."""
    if need in OF_A_CAPTURE:
        return need is not next(
            n for n in (Need.COUNTERS, Need.SCHED, Need.CAPTURE) if n in missing
        )
    return need is Need.GPU_ROWS and Need.LAUNCH_CALLS in missing


def lacking(said: Abstention) -> str:
    """What an abstention misses, in words ("shapes of operators; Python stacks")."""
    return "; ".join(NAMES.get(m, m) for m in said.missing)


def uncaptured(run: Run, said: Abstention) -> bool:
    """Whether a cause could not be judged because the evidence is a trace without a capture."""
    return not run.captures and not OF_A_CAPTURE.isdisjoint(said.missing)


def _has_shapes(timeline: Timeline) -> bool:
    """By the header where it says so, else by the arguments of some operators."""
    said = timeline.facts.get("record_shapes")
    if said is not None:
        return bool(said)
    rows = timeline.rows
    operators = rows.of_kind(Kind.CPU_OP)
    if rows.read_args is None or len(operators) == 0:
        return False
    step = max(1, len(operators) // SHAPE_SAMPLE)
    sample = np.asarray(operators[::step][:SHAPE_SAMPLE])
    return any(a is not None and any(k in a for k in _SHAPE_KEYS) for a in rows.read_args(sample))
