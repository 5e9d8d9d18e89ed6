"""Checks of values and the operators that read their outcome: chains on one thread."""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.named import named
from laptime.causes.view import DeviceView, feeding_lanes
from laptime.ledger import intervals
from laptime.ledger.innermost import nest
from laptime.model.rows import Ints, Kind, Rows

CHECK = re.compile(
    r"^aten::(isfinite|isnan|isinf|isposinf|isneginf|any|all|_is_any_true|_is_all_true"
    r"|allclose|isclose)$"
)
BETWEEN = re.compile(
    r"^aten::(isfinite|isnan|isinf|any|all|_is_any_true|_is_all_true|logical_(or|and|not)"
    r"|bitwise_(or|and|not)|sum|to|_to_copy|detach|stack|cat)$"
)
READ = re.compile(r"^aten::(item|_local_scalar_dense|is_nonzero|equal)$")
ENGINE = re.compile(r"^autograd::engine::evaluate_function")
STEPS = 4
"""Operators between a check and the one that reads it, at most."""


def checked_and_read(view: DeviceView) -> tuple[Ints, Ints]:
    """Operators of checks whose outcome is read by the thread, with those that read it: those of
    the program, and those that autograd's engine makes of every gradient (anomaly mode).

    A check is read where the operators that follow on its thread combine it (``any``, ``all``,
    logical operators) and the last of them reads it (``item``, ``is_nonzero``).
    """
    rows = view.case.timeline.rows
    own: list[Ints] = [np.zeros(0, dtype=np.int64)]
    engine: list[Ints] = [np.zeros(0, dtype=np.int64)]
    operators = rows.of_kind(Kind.CPU_OP)
    checks = rows.like(CHECK, Kind.CPU_OP)
    if len(checks) == 0:
        return own[0], engine[0]
    for lane in sorted(feeding_lanes(view)):
        if not (rows.lane[checks] == lane).any():
            continue
        here = operators[(rows.lane[operators] == lane) & (rows.dur_ns[operators] > 0)]
        chains, roots = _chains(rows, here)
        if len(chains) == 0:
            continue
        engines = here[named(rows, here, ENGINE)]
        by_engine = _within(rows, roots, engines)
        own.append(np.unique(chains[~by_engine]))
        engine.append(np.unique(chains[by_engine]))
    ours, theirs = np.unique(np.concatenate(own)), np.unique(np.concatenate(engine))
    return ours[ours >= 0], theirs[theirs >= 0]


def _chains(rows: Rows, here: Ints) -> tuple[Ints, Ints]:
    """Chains of one thread's operators that start with a check and end with a read: an array of
    rows for each, filled with -1, and the check that each starts with."""
    nested = nest(rows, here)
    ordered = nested.row
    starts, ends = rows.start_ns[ordered], rows.end_ns(ordered)
    check, between, read = (named(rows, ordered, p) for p in (CHECK, BETWEEN, READ))
    # Outermost of nested checks: ``aten::all`` inside ``aten::_is_all_true`` is the same check.
    outer = check & ~np.where(nested.around >= 0, check[np.maximum(nested.around, 0)], False)
    at = np.flatnonzero(outer)
    chain = np.full((len(at), STEPS + 2), -1, dtype=np.int64)
    chain[:, 0] = at
    done = np.zeros(len(at), dtype=np.bool_)
    open_ = np.ones(len(at), dtype=np.bool_)
    last = at.copy()
    for step in range(1, STEPS + 2):
        following = np.searchsorted(starts, ends[last], side="left")
        real = open_ & (following < len(ordered))
        following = np.minimum(following, max(len(ordered) - 1, 0))
        ends_here = real & read[following]
        goes_on = real & between[following] & ~read[following]
        chain[ends_here | goes_on, step] = following[ends_here | goes_on]
        done |= ends_here
        open_ = goes_on
        last = np.where(goes_on, following, last)
        if not open_.any():
            break
    chain = chain[done]
    filled: Ints = np.where(chain >= 0, ordered[np.maximum(chain, 0)], -1)
    return filled, ordered[at[done]]


def _within(rows: Rows, targets: Ints, regions: Ints) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows start inside any of the regions (of the same thread)."""
    span = intervals.union(rows.start_ns[regions], rows.end_ns(regions))
    return intervals.contains(span, rows.start_ns[targets])
