"""Host windows of laps from marks: step annotations of the profiler, a framework or the user."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from laptime.ledger.near import MOST, near
from laptime.model.rows import I64, Ints, Kind, Rows

CAPTURED = re.compile(r"^laptime\.lap#\d+$")
"""Laps that `laptime run` counted while it recorded: by the program's own steps, as said there."""
PROFILER_STEP = re.compile(r"^ProfilerStep#?\d*")
ENGINE = re.compile(
    r"^(execute_(new_|context_|\d)|step\[|gpu_model_runner: (forward|execute_model)"
    r"|(vllm|sglang)[.:].*(step|iteration)\b)"
)
"""Iteration marks of serving engines (vLLM: execute_..., SGLang: step[DECODE bs=32])."""
USER = re.compile(
    r"(\[\w+\])*((?:global|local|model|main|run|do|one|my|the|full|forward|backward|and)[ _.:/-]*)*"
    r"(train(ing|er)?|eval(uation)?|valid(ation)?|test|infer(ence)?|engine|decode|prefill)?"
    r"[ _.:/#-]*(step|iter|iteration|minibatch|mini_batch|batch|loop)"
    r"[ _.:/#=-]*(\d+([ _.:/-]*(of|/)[ _.:/-]*\d+)?)?[ _]*(\(.*\)|\[.*\])?",
    re.IGNORECASE,
)
"""A region's whole name when it is that of a step: "train_step", "iter 3", "run_training_batch".
A name that only mentions a step ("compute step loss") is a part of one."""
NOT_A_STEP = re.compile(r"^(Optimizer\.|optimizer|lr_?scheduler|profiler)|\.step#", re.IGNORECASE)
OPTIMIZER = re.compile(r"^Optimizer\.step#")
COVERS = 0.98


@dataclass(frozen=True)
class Windows:
    """Host windows found: ascending and disjoint, in the timeline's clock."""

    start_ns: I64
    end_ns: I64
    labels: list[str]
    mark: str
    lane: int
    notes: tuple[str, ...] = ()
    short_last: bool = False
    """The last window ends with its own mark where the others run to the next one."""


def named(rows: Rows, mark: str) -> Windows | None:
    """Windows of the marks that the user names: exact, with wildcards, or all that start with it.

    A leading ``NVTX:`` is only a reminder of where the mark came from.
    """
    wanted = mark[5:] if mark.upper().startswith("NVTX:") else mark

    def test(name: str) -> bool:
        return name == wanted or fnmatchcase(name, wanted)

    kinds = (Kind.ANNOTATION, Kind.CPU_OP, Kind.PYTHON)
    for match in (test, lambda n: n.startswith(wanted)):
        for group in (kinds, (Kind.DEVICE_ANNOTATION,)):
            found = _best(rows, _groups(rows, match, group, lambda _: wanted))
            if found is not None:
                return found
    return None


def near_to(rows: Rows, mark: str) -> list[str]:
    """Marks of these rows that a wrong name may have meant, a series (``step 1``, ``step 2``) as
    one with its wildcard: those spelt alike, else the first ones."""
    kinds = (Kind.ANNOTATION, Kind.DEVICE_ANNOTATION)
    series: dict[str, list[str]] = {}
    for i in rows.names_used(*kinds):
        series.setdefault(re.sub(r"\d+$", "*", rows.names[i]), []).append(rows.names[i])
    held = [name if len(of) > 1 else of[0] for name, of in series.items()]
    return near(mark, held) or held[:MOST]


def automatic(rows: Rows) -> Windows | None:
    """Windows of the first kind of mark that the timeline has.

    In order: the laps of a capture, the profiler's own steps, a serving engine's iterations, the
    user's step regions, the end of each optimiser step, the profiler's steps as copied to the
    device.
    """
    captured = _best(rows, _groups(rows, CAPTURED.search, (Kind.ANNOTATION,), lambda _: ""))
    if captured is not None:
        return captured
    for kind in (Kind.ANNOTATION, Kind.CPU_OP):
        steps = _best(rows, _groups(rows, PROFILER_STEP.search, (kind,), lambda _: ""))
        if steps is not None:
            return steps
    engine = _best(rows, _groups(rows, ENGINE.search, (Kind.ANNOTATION,), _without_numbers))
    if engine is not None:
        return engine

    def user(name: str) -> bool:
        return bool(USER.fullmatch(name)) and not NOT_A_STEP.search(name)

    own = _best(rows, _groups(rows, user, (Kind.ANNOTATION,), _without_numbers), least=2)
    if own is not None:
        return own
    optimizer = _groups(rows, OPTIMIZER.search, (Kind.ANNOTATION,), lambda n: n)
    periods = [p for p in (_between_ends(rows, g) for g in optimizer) if p is not None]
    if periods:
        return max(periods, key=lambda p: int(p.end_ns[-1] - p.start_ns[0]))
    return _best(rows, _groups(rows, PROFILER_STEP.search, (Kind.DEVICE_ANNOTATION,), lambda _: ""))


def _without_numbers(name: str) -> str:
    return re.sub(r"\d+", "#", name)[:40].split("(")[0]


def _groups(rows: Rows, match: object, kinds: tuple[Kind, ...], key: object) -> list[Ints]:
    """Rows of matching names, grouped by lane and by ``key(name)``; each group ascending."""
    chosen = rows.names_matching(lambda n: bool(match(n)))  # type: ignore[operator]
    pick = rows.of_kind(*kinds)
    pick = pick[chosen[rows.name[pick]] & (rows.dur_ns[pick] > 0)]
    groups: dict[tuple[int, str], list[int]] = {}
    for row in pick.tolist():
        label = key(rows.name_of(row))  # type: ignore[operator]
        groups.setdefault((int(rows.lane[row]), label), []).append(row)
    out = []
    for _, members in sorted(groups.items()):
        array = np.array(members, dtype=np.int64)
        out.append(array[np.lexsort((array, -rows.dur_ns[array], rows.start_ns[array]))])
    return out


def _best(rows: Rows, groups: list[Ints], least: int = 1) -> Windows | None:
    """The group that covers most time, as windows; ties by lane and name."""
    best: tuple[int, Ints] | None = None
    for group in groups:
        outer = _outermost(rows, group)
        if len(outer) < least:
            continue
        covered = int(rows.dur_ns[outer].sum())
        if best is None or covered > best[0]:
            best = (covered, outer)
    return None if best is None else _windows(rows, best[1])


def _outermost(rows: Rows, group: Ints) -> Ints:
    """Rows of a group that lie inside no earlier row of it. Rows that only overlap stay."""
    keep, reach = [], np.iinfo(np.int64).min
    for row in group.tolist():
        end = int(rows.start_ns[row]) + int(rows.dur_ns[row])
        if end > reach:
            keep.append(row)
            reach = end
    return np.array(keep, dtype=np.int64)


def _windows(rows: Rows, marks: Ints) -> Windows:
    """The marks themselves where they cover their period, else from start to start.

    A mark that reaches into the next ends where that one begins.
    """
    start, end = rows.start_ns[marks].copy(), rows.end_ns(marks)
    notes: tuple[str, ...] = ()
    short_last = False
    overlap = int((end[:-1] > start[1:]).sum())
    if overlap:
        end[:-1] = np.minimum(end[:-1], start[1:])
        notes = (f"{overlap} marks reach into the next one: such a lap ends where the next begins",)
    first = rows.name_of(int(marks[0]))
    if len(marks) > 1 and not (PROFILER_STEP.match(first) or CAPTURED.match(first)):
        period = int(start[-1] - start[0])
        share = int((end - start)[:-1].sum()) / period if period else 1.0
        if share < COVERS:
            end[:-1] = start[1:]
            short_last = True
            notes += (
                f"the marks cover {share * 100:.0f} % of the time from the first to the last: "
                "laps run from mark to mark, the last one to the end of its own",
            )
    labels = [rows.name_of(r) for r in marks.tolist()]
    return Windows(start, end, labels, labels[0], int(rows.lane[marks[0]]), notes, short_last)


def _between_ends(rows: Rows, group: Ints) -> Windows | None:
    """From the end of one optimiser step to the end of the next."""
    if len(group) < 3:
        return None
    end = rows.end_ns(group)
    labels = [f"after {rows.name_of(int(group[0]))} {i}" for i in range(1, len(group))]
    return Windows(
        end[:-1],
        end[1:],
        labels,
        rows.name_of(int(group[0])),
        int(rows.lane[group[0]]),
        ("no step marks: laps run from the end of one optimiser step to the end of the next",),
    )
