"""How many blocks each kernel has, and how many the device takes at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from laptime.causes.limits import TINY_KERNEL_NS
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.sums import add_at
from laptime.ledger.work import WorkClass
from laptime.model.rows import I64, Ints, Kind

MOST_READ = 4096
"""Kernels whose arguments are read at most: they are text in the file, which is long."""

RESERVED_BYTES = 1024
"""Shared memory that CUDA keeps for itself in each block from compute capability 8.0 on (CUDA C++
Programming Guide, "Compute Capability 8.x", Shared Memory)."""

MOST_DIM = 2**31 - 1
"""The largest dimension of a grid or block (CUDA C++ Programming Guide, "Compute Capabilities",
Technical Specifications; HIP's launch takes 32 bits too); a larger one is no grid's."""

REGISTER_UNIT = 256
"""Registers are given to a warp in units of so many (CUDA occupancy calculator, 7.0 to 12.0)."""


@dataclass(frozen=True)
class Grids:
    """Kernels of at least 10 us with a recorded grid, by position in ``Work``: ``blocks`` in the
    grid, ``alone_ns`` the counted time in which nothing else computes or communicates,
    ``resident`` how many blocks a multiprocessor takes at once (0 where the evidence does not
    tell). ``view`` is that of the laps that were looked at: the first counted ones, as many as
    have 4,096 such kernels together, or the longest of these in the first."""

    view: DeviceView
    at: Ints
    blocks: I64
    alone_ns: I64
    resident: I64
    units: int


def grids(view: DeviceView) -> Grids | None:
    """The grids of a device's kernels; None where the evidence has none, or does not say how many
    multiprocessors the device has."""
    key = f"grids of {view.device}"
    shared = view.case.shared
    if key not in shared:
        shared[key] = _grids(view)
    found: Grids | None = shared[key]
    return found


def alone_each(view: DeviceView) -> I64:
    """For each activity the counted time in which no other computes or communicates."""
    work = view.work
    assert work is not None
    who = np.flatnonzero(work.klass != int(WorkClass.COPY))
    edges = np.concatenate((work.start_ns[who], work.end_ns[who]))
    number = np.concatenate((np.ones(len(who), np.int64), -np.ones(len(who), np.int64)))
    order = np.argsort(edges, kind="stable")
    at = edges[order]
    running = np.cumsum(number[order])[:-1]
    # Where one runs, the sum of the numbers of those that run is its own.
    which = np.cumsum(np.concatenate((who, -who))[order])[:-1]
    one = (running == 1) & (at[1:] > at[:-1])
    length = intervals.by_window(view.windows, at[:-1][one], at[1:][one])
    out = np.zeros(len(work.row), dtype=np.int64)
    add_at(out, which[one], length)
    return out


def _grids(view: DeviceView) -> Grids | None:
    work, rows = view.work, view.case.timeline.rows
    properties = next(d.properties for d in view.case.timeline.devices if d.id == view.device)
    units = _size([_whole(properties, "numSms")])
    if work is None or units is None:
        return None
    whole, alone = view, alone_each(view)
    long = (rows.kind[work.row] == Kind.KERNEL) & (work.klass == int(WorkClass.COMPUTE))
    long &= (work.end_ns - work.start_ns >= TINY_KERNEL_NS.value) & (alone > 0)
    view = _first_laps(whole, work.start_ns[long])
    chosen = np.flatnonzero(long & intervals.contains(view.windows, work.start_ns))
    chosen = np.sort(chosen[np.argsort(-alone[chosen], kind="stable")[:MOST_READ]])
    read = [] if rows.read_args is None or not len(chosen) else rows.read_args(work.row[chosen])
    found = [
        (int(at), blocks, _resident(args, properties))
        for at, args in zip(chosen, read or [None] * len(chosen), strict=True)
        if args is not None and (blocks := _size(args.get("grid"))) is not None
    ]
    if len(chosen) and not found:
        return None
    at = np.array([f[0] for f in found], dtype=np.int64)
    return Grids(
        view=view,
        at=at,
        blocks=np.array([f[1] for f in found], dtype=np.int64),
        alone_ns=alone[at],
        resident=np.array([f[2] for f in found], dtype=np.int64),
        units=units,
    )


def _first_laps(view: DeviceView, starts: I64) -> DeviceView:
    """The view of the first counted laps in which at most ``MOST_READ`` of the starts lie."""
    low = np.array([w.start_ns for w in view.counted], dtype=np.int64)
    high = np.array([w.end_ns for w in view.counted], dtype=np.int64)
    number = np.searchsorted(starts, high) - np.searchsorted(starts, low)
    laps = max(int((np.cumsum(number) <= MOST_READ).sum()), 1)
    if laps == view.laps:
        return view
    windows = intervals.union(low[:laps], high[:laps])
    return replace(view, counted=view.counted[:laps], windows=windows, _time_in={})


MOST_BLOCKS = {(7, 5): 16, (8, 6): 16, (8, 7): 16, (8, 9): 24, (12, 0): 24, (12, 1): 24}
"""Blocks that a multiprocessor takes at most, by compute capability, 32 for others from 5.0 on
(CUDA C++ Programming Guide, "Compute Capabilities", Technical Specifications)."""

_LIMITS = (
    "maxThreadsPerMultiprocessor",
    "regsPerMultiprocessor",
    "sharedMemPerMultiprocessor",
    "computeMajor",
)


def _size(dims: Any) -> int | None:
    """Product of whole numbers above zero; None where it is something else, or more than 64 bits
    hold with room for what is computed of it."""
    if not isinstance(dims, list) or not dims:
        return None
    if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= MOST_DIM for n in dims):
        return None
    size = math.prod(dims)
    return size if size <= 2**62 else None


def _resident(args: Mapping[str, Any], properties: Mapping[str, Any]) -> int:
    """Blocks of a kernel that fit one multiprocessor of an NVIDIA device at once, by their number,
    threads, registers and shared memory; 0 where any of these is not recorded."""
    known = [_size(args.get("block"))]
    known += [_whole(args, key) for key in ("registers per thread", "shared memory")]
    known += [_whole(properties, key) for key in _LIMITS]
    told = [value for value in known if value is not None]
    if len(told) < len(known):
        return 0
    threads, registers, shared, most_threads, most_registers, most_shared, major = told
    warps = -(-threads // 32)
    capability = (major, _whole(properties, "computeMinor") or 0)
    limits = [most_threads // (32 * warps), MOST_BLOCKS.get(capability, 32)]
    if registers:
        by_warp = -(-registers * 32 // REGISTER_UNIT) * REGISTER_UNIT
        # Each of the four parts of a multiprocessor has its own registers.
        limits.append(4 * (most_registers // 4 // by_warp) // warps)
    if shared or major >= 8:
        limits.append(most_shared // (shared + (RESERVED_BYTES if major >= 8 else 0)))
    return max(min(limits), 0)


def _whole(values: Mapping[str, Any], key: str) -> int | None:
    value = values.get(key)
    known = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_DIM
    return value if known else None


def part_lost(alone_ns: I64, lost: I64, whole: I64) -> I64:
    """``alone_ns * lost // whole`` of each, rounded down; the product may need more than 64 bits,
    the result is at most ``alone_ns``."""
    each = zip(alone_ns.tolist(), lost.tolist(), whole.tolist(), strict=True)
    return np.array([ns * part // of for ns, part, of in each], dtype=np.int64)
