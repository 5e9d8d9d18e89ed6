"""Random timelines for the ledger, built as columns: any overlap, ties, gaps, missing pieces.

Times lie on a coarse grid so that boundaries coincide often: ties are where ledgers go wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import ABSENT_DUR, API_CALLS, Kind, Rows, SparseInts, SparseTexts
from laptime.model.run import Device, Lane, Timeline

GRID_NS = 1_000
STEPS = 40
ABSENT = np.iinfo(np.uint64).max

LANES = (
    Lane(1, 1),
    Lane(1, 2),
    Lane(2, 3),
    Lane(0, 7, device="gpu0", stream=7),
    Lane(0, 20, device="gpu0", stream=20),
    Lane(1, 7, device="gpu1", stream=7),
)
THREADS = (0, 1, 2)
STREAMS = (3, 4, 5)
DEVICES = (Device("gpu0", 0), Device("gpu1", 1))

WORK = (
    (Kind.KERNEL, "ampere_sgemm_128x64_nn"),
    (Kind.KERNEL, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    (Kind.MEMCPY, "Memcpy HtoD (Pageable -> Device)"),
    (Kind.MEMCPY, "Memcpy PtoP (Device -> Device)"),
    (Kind.MEMSET, "Memset (Device)"),
)
LAUNCH_OF = {
    Kind.KERNEL: ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch"),
    Kind.MEMCPY: ("cudaMemcpyAsync", "cudaMemcpy", "hipMemcpyWithStream"),
    Kind.MEMSET: ("cudaMemsetAsync",),
}
HOST = (
    (Kind.CPU_OP, "aten::mm"),
    (Kind.CPU_OP, "nccl:all_reduce"),
    (Kind.ANNOTATION, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
    (Kind.ANNOTATION, "forward"),
    (Kind.ANNOTATION, "save_checkpoint"),
    (Kind.PYTHON, "train.py(10): main"),
    (Kind.PYTHON, "Python GC"),
    (Kind.PYTHON, "torch/_dynamo/convert_frame.py(400): __call__"),
    (Kind.RUNTIME, "cudaStreamSynchronize"),
    (Kind.RUNTIME, "cudaDeviceSynchronize"),
    (Kind.RUNTIME, "cudaMalloc"),
    (Kind.RUNTIME, "cudaEventQuery"),
    (Kind.RUNTIME, "cudaLaunchKernel"),
    (Kind.RUNTIME, "cudaMemsetAsync"),
    (Kind.DRIVER, "cuModuleLoadData"),
    (Kind.RUNTIME, "cudaStreamBeginCapture"),
    (Kind.RUNTIME, "cudaStreamEndCapture"),
    (Kind.OVERHEAD, "Activity Buffer Request"),
    (Kind.OVERHEAD, "Lazy Function Loading"),
    (Kind.OTHER, "unknown"),
    (Kind.SYNC, "Stream Sync"),
)
COMM = frozenset({"ncclDevKernel_AllReduce_Sum_f32_RING_LL"})


@dataclass(frozen=True)
class Made:
    """A row before it is a column."""

    kind: Kind
    name: str
    lane: int
    start: int
    dur: int
    correlation: int | None = None
    collective: bool = False


ENQUEUE = frozenset({"cudaLaunchKernel", "cudaMemsetAsync"})
QUIET = tuple(row for row in HOST if row[1] not in ENQUEUE)


@st.composite
def made_rows(
    draw: DrawFn,
    work: int = 10,
    host: int = 12,
    whole: bool = False,
    streams: Sequence[int] = STREAMS,
) -> list[Made]:
    """Rows of a random timeline. ``whole``: every activity has its call and every call its
    activity, each call comes before its activity, and streams run in order."""
    step = st.integers(0, STEPS).map(lambda n: n * GRID_NS)
    length = st.integers(0, 12).map(lambda n: n * GRID_NS)
    out: list[Made] = []
    for number in range(1, draw(st.integers(0, work)) + 1):
        kind, name = draw(st.sampled_from(WORK))
        start, lane = draw(step), draw(st.sampled_from(streams))
        shares = ("own",) if whole else ("own", "own", "own", "previous", "none", "zero")
        share = draw(st.sampled_from(shares))
        with_call = share == "own" or number == 1
        joined = {"previous": max(number - 1, 1), "zero": 0}.get(share, number)
        collective = kind is Kind.KERNEL and draw(st.integers(0, 5)) == 0
        row = Made(kind, name, lane, start, draw(length), joined, collective)
        out.append(replace(row, correlation=None) if share == "none" else row)
        if with_call:
            ahead = draw(st.integers(0 if whole else -2, 15)) * GRID_NS
            called = draw(st.sampled_from(LAUNCH_OF[kind]))
            api = Kind.DRIVER if called.startswith("cuL") else Kind.RUNTIME
            thread = draw(st.sampled_from(THREADS))
            duration = draw(st.integers(0, 4)) * GRID_NS
            out.append(Made(api, called, thread, max(start - ahead, 0), duration, number))
    if not whole and draw(st.integers(0, 3)) == 0:
        out += _captured(draw(st.sampled_from(THREADS)), draw(step), draw(length))
    for number in range(draw(st.integers(0, host))):
        kind, name = draw(st.sampled_from(QUIET if whole else HOST))
        dur = ABSENT_DUR if draw(st.integers(0, 15)) == 0 else draw(length)
        own = draw(st.sampled_from((0, 1000 + number))) if kind in API_CALLS else None
        out.append(Made(kind, name, draw(st.sampled_from(THREADS)), draw(step), dur, own))
    if whole:
        out = _in_order(out)
    return draw(st.permutations(out))


def _captured(thread: int, start: int, length: int) -> list[Made]:
    """A stream capture with a launch inside it, which enqueues nothing."""
    at = [start + i * (length + GRID_NS) for i in range(3)]
    return [
        Made(Kind.RUNTIME, "cudaStreamBeginCapture", thread, at[0], GRID_NS, 2001),
        Made(Kind.RUNTIME, "cudaLaunchKernel", thread, at[1], GRID_NS, 2002),
        Made(Kind.RUNTIME, "cudaStreamEndCapture", thread, at[2], GRID_NS, 2003),
    ]


def _in_order(made: Sequence[Made]) -> list[Made]:
    """Activities without those that start before an earlier call's on their stream."""
    called: dict[int | None, int] = {
        m.correlation: m.start for m in made if m.lane in THREADS and m.correlation
    }
    gone: set[int | None] = set()
    for stream in STREAMS:
        there = sorted(
            (m for m in made if m.lane == stream), key=lambda m: (m.start, called[m.correlation])
        )
        until, latest = -1, -1
        for m in there:
            if m.start < until or called[m.correlation] <= latest:
                gone.add(m.correlation)
            else:
                until, latest = m.start + m.dur, called[m.correlation]
    return [m for m in made if m.correlation not in gone or m.correlation is None]


def timeline_of(made: Sequence[Made], lanes: Sequence[Lane] = LANES) -> Timeline:
    """The timeline of some rows, in their order."""
    names: dict[str, int] = {}
    name = [names.setdefault(m.name, len(names)) for m in made]
    collectives = [i for i, m in enumerate(made) if m.collective]
    rows = Rows(
        start_ns=np.array([m.start for m in made], dtype=np.int64),
        dur_ns=np.array([m.dur for m in made], dtype=np.int64),
        name=np.array(name, dtype=np.int32),
        names=list(names),
        category=np.zeros(len(made), dtype=np.uint16),
        categories=["made"],
        kind=np.array([int(m.kind) for m in made], dtype=np.uint8),
        lane=np.array([m.lane for m in made], dtype=np.int32),
        phase=np.full(len(made), ord("X"), dtype=np.uint8),
        correlation=np.array(
            [ABSENT if m.correlation is None else m.correlation for m in made], dtype=np.uint64
        ),
        ints={
            "bytes": SparseInts(
                np.array(collectives, dtype=np.int64), np.ones(len(collectives), dtype=np.int64)
            )
        },
        texts={
            "Collective name": SparseTexts(
                np.array(collectives, dtype=np.int64),
                np.zeros(len(collectives), dtype=np.int64),
                ["allreduce"],
            )
        },
    )
    return Timeline(
        id="made", source="made", rows=rows, lanes=lanes, devices=DEVICES, origin_ns=0, pid=1
    )


@st.composite
def laps(draw: DrawFn) -> Laps:
    """Two or three contiguous laps owned by a thread, with windows on both devices."""
    count = draw(st.integers(1, 3))
    cuts = sorted(
        draw(st.lists(st.integers(0, STEPS + 10), min_size=count + 1, max_size=count + 1))
    )
    host = [
        Lap(f"made:{i}", f"lap {i}", a * GRID_NS, (b - a) * GRID_NS)
        for i, (a, b) in enumerate(itertools.pairwise(cuts))
    ]
    shift = draw(st.integers(0, 5)) * GRID_NS
    windows = [
        DeviceLap(d.id, lap.id, lap.start_ns + shift, lap.dur_ns, i == count - 1)
        for d in DEVICES
        for i, lap in enumerate(host)
    ]
    owner = draw(st.sampled_from((*THREADS, None)))
    return Laps(host, windows, "mark", "made", 1.0, owner)
