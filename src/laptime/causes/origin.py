"""Where in the user's code rows come from: the nearest recorded Python frame of their own."""

from __future__ import annotations

from collections import Counter

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case
from laptime.ledger.frames import function, is_own
from laptime.ledger.innermost import nest
from laptime.model.rows import I64, Ints, Kind

MODULE = "nn.Module: "


def origins(case: Case, targets: Ints) -> list[str | None]:
    """For each row, the innermost frame of the user's own code that is open on its thread where the
    row starts ("train.py(42): step"), else the innermost ``nn.Module``; None where none is.

    An engine's thread (autograd's) has no Python frames, and its rows have no origin.
    """
    rows = case.timeline.rows
    out: list[str | None] = [None] * len(targets)
    frames = rows.of_kind(Kind.PYTHON)
    if len(frames) == 0 or len(targets) == 0:
        return out
    frames = frames[np.isin(rows.lane[frames], np.unique(rows.lane[targets]))]
    frames = frames[rows.dur_ns[frames] > 0]
    used = np.unique(rows.name[frames])
    own, module = (np.zeros(len(rows.names) + 1, dtype=np.bool_) for _ in range(2))
    own[[i for i in used.tolist() if is_own(rows.names[i])]] = True
    module[[i for i in used.tolist() if rows.names[i].startswith(MODULE)]] = True
    for kept in (own, module):
        mine = frames[kept[rows.name[frames]]]
        for lane in np.unique(rows.lane[mine]).tolist():
            left = [i for i in np.flatnonzero(rows.lane[targets] == lane).tolist() if not out[i]]
            around = _innermost(case, mine[rows.lane[mine] == lane], rows.start_ns[targets[left]])
            for place, row in zip(left, around.tolist(), strict=True):
                if row >= 0:
                    out[place] = function(rows.name_of(row))
    return out


def origin_lines(case: Case, targets: Ints, laps: int, noun: str = "call") -> tuple[str, ...]:
    """The commonest origins of rows, most first ("from train.py(42): step: 2 calls a lap"), over
    ``laps`` counted laps; nothing where no row has one."""
    count = Counter(o for o in origins(case, targets) if o is not None)
    per_lap = " a lap" if laps > 1 else ""
    return tuple(
        f"from {name}: {wording.counted(n / laps, noun)}{per_lap}"
        for name, n in sorted(count.items(), key=lambda c: (-c[1], c[0]))[:3]
    )


def main_origin(case: Case, targets: Ints) -> str | None:
    """The commonest origin of rows; None where no row has one."""
    count = Counter(o for o in origins(case, targets) if o is not None)
    return min(count, key=lambda name: (-count[name], name)) if count else None


def _innermost(case: Case, frames: Ints, instants: I64) -> Ints:
    """The innermost of nested frames at each instant; -1 where none is open."""
    nested = nest(case.timeline.rows, frames)
    at = np.searchsorted(nested.span[0], instants, side="right") - 1
    found = np.full(len(instants), -1, dtype=np.int64)
    inside = at >= 0
    inside[inside] = instants[inside] < nested.span[1][at[inside]]
    found[inside] = nested.row[nested.at[at[inside]]]
    return found
