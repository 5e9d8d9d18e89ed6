"""Compilation, trials of an autotuner, captures of graphs: told apart, so that none counts twice.

The ledger has all three in its account ``compile``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Need
from laptime.causes.kernel_cost import cost_of
from laptime.causes.launch_sites import inside
from laptime.causes.limits import LAUNCH_GAP_NS
from laptime.causes.named import named
from laptime.causes.view import DeviceView, feeding_lanes, lane_rows
from laptime.ledger import intervals
from laptime.ledger.host import HostStates
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.ledger.states import BEGIN_CAPTURE, COMPILE, MODULE_LOADING, MODULES
from laptime.model.rows import API_CALLS, Ints, Kind

REGIONS = (Kind.CPU_OP, Kind.ANNOTATION, Kind.PYTHON)
OF_GRAPHS = re.compile(r"^(cuda|cu|hip)Graph(Instantiate|ExecUpdate)")
TRIALS = re.compile(
    r"do_bench|triton/runtime/autotuner\.py\(\d+\): (_bench|benchmark)$"
    r"|benchmark_all_configs|autotune_to_one_config|coordinate_descent_tuning"
    r"|triton_heuristics\.py\(\d+\): bench$"
    r"|_inductor/select_algorithm\.py\(\d+\): (do_autotuning|benchmark)"
)
TIMED = re.compile(r"^(cuda|hip)EventElapsedTime")
TRIALS_OF_AN_OPERATOR = 2
"""Times that an operator reads between two events: it measures what it launches."""


@dataclass(frozen=True)
class Compiling:
    """Counted time of one device (of its owning thread on CPU-only runs) and the rows behind it.

    ``compiled`` and ``captured`` are parts of the account ``compile``; ``tried`` is time that the
    device is idle, or runs nothing but what was launched in trials, while they last.
    """

    compiled: Span
    compile_rows: Ints
    captured: Span
    capture_rows: Ints
    tried: Span
    trial_rows: Ints


def compiling(view: DeviceView) -> Compiling:
    """The three of one view."""
    case, rows = view.case, view.case.timeline.rows
    lanes = feeding_lanes(view)
    trials = _trials(view, lanes)
    tried = view.rows_span(trials)
    states = HostStates(rows, case.ledger.loaders)
    capture_rows = lane_rows(case, rows.like(OF_GRAPHS, *API_CALLS), lanes)
    capture = view.rows_span(capture_rows)
    for lane in lanes:
        capture = intervals.both(capture, view.inside(states.capture(lane)))
    begins = lane_rows(case, rows.like(BEGIN_CAPTURE, *API_CALLS), lanes)
    compile_rows = np.concatenate(
        (
            lane_rows(case, rows.like(COMPILE, *REGIONS), lanes),
            lane_rows(case, rows.like(MODULES, *API_CALLS), lanes),
            rows.like(MODULE_LOADING, Kind.OVERHEAD),
        )
    )
    compile_rows = np.setdiff1d(compile_rows, np.concatenate((capture_rows, trials)))
    account = view.time_in("compile")
    captured = intervals.intersect(account, capture)
    return Compiling(
        compiled=intervals.subtract(intervals.subtract(account, captured), tried),
        compile_rows=compile_rows,
        captured=captured,
        capture_rows=np.concatenate((begins, capture_rows)),
        tried=intervals.subtract(_of_trials(view, trials, tried), captured),
        trial_rows=trials,
    )


def outermost_of(view: DeviceView, members: Ints) -> Ints:
    """Those of the rows inside the counted windows that no other of them covers."""
    rows = view.case.timeline.rows
    members = members[view.touching(rows.start_ns[members], rows.end_ns(members))]
    found = [np.zeros(0, dtype=np.int64)]
    for lane in np.unique(rows.lane[members]).tolist():
        here = members[(rows.lane[members] == lane) & (rows.dur_ns[members] > 0)]
        if len(here):
            nested = nest(rows, here)
            found.append(nested.row[nested.around < 0])
    return np.concatenate(found)


def by_name(view: DeviceView, members: Ints, most: int = 3) -> list[str]:
    """The rows' names with their number and time, most time first."""
    rows = view.case.timeline.rows
    number = Counter(rows.name_of(int(r)) for r in members)
    spent: Counter[str] = Counter()
    for row in members.tolist():
        spent[rows.name_of(row)] += int(rows.dur_ns[row])
    names = sorted(number, key=lambda n: (-spent[n], n))[:most]
    return [
        f"{name[:100]} {wording.times(number[name] / view.laps)}{view.per_lap}, "
        f"{wording.time(spent[name] / view.laps)}"
        for name in names
    ]


def unshown(view: DeviceView) -> Span:
    """Counted time in which compilation could hide where no Python is recorded: the feeding thread
    is in no row, in stretches above a millisecond. Nothing where stacks are recorded."""
    if Need.STACKS in view.case.has:
        return intervals.EMPTY
    blank = view.time_in("between_ops" if view.ledger.cpu else "host_between_ops")
    long = (blank[1] - blank[0]) > LAUNCH_GAP_NS.value
    return blank[0][long], blank[1][long]


def _trials(view: DeviceView, lanes: set[int]) -> Ints:
    """Rows in which an autotuner tries what it could launch: by name, and operators that read the
    time between events."""
    case, rows = view.case, view.case.timeline.rows
    by_names = lane_rows(case, rows.like(TRIALS, *REGIONS), lanes)
    timed = lane_rows(case, rows.like(TIMED, *API_CALLS), lanes)
    operators = rows.of_kind(Kind.CPU_OP) if len(timed) else timed
    found = [by_names]
    for lane in np.unique(rows.lane[timed]).tolist():
        here = operators[(rows.lane[operators] == lane) & (rows.dur_ns[operators] > 0)]
        if len(here) == 0:
            continue
        nested = nest(rows, here)
        starts = rows.start_ns[timed[rows.lane[timed] == lane]]
        at = np.maximum(np.searchsorted(nested.span[0], starts, side="right") - 1, 0)
        held = (nested.span[0][at] <= starts) & (starts < nested.span[1][at])
        which, number = np.unique(nested.row[nested.at[at[held]]], return_counts=True)
        found.append(which[number >= TRIALS_OF_AN_OPERATOR])
    return np.unique(np.concatenate(found))


def _of_trials(view: DeviceView, trials: Ints, tried: Span) -> Span:
    """Time that goes by for trials: idle while they last, or with nothing but their work."""
    if view.ledger.cpu or view.work is None or len(trials) == 0:
        return tried
    work = cost_of(view, inside(view, trials)).span
    return intervals.both(work, intervals.intersect(view.time_in("idle"), tried))


def modules_loaded(view: DeviceView, members: Ints) -> int:
    """How many of the rows load modules or functions of the driver."""
    rows = view.case.timeline.rows
    loads = named(rows, members, MODULES) | named(rows, members, MODULE_LOADING)
    return int(loads.sum())
