"""Whether the files of a run look like one job: what does not fit together, one sentence each.

Nothing is refused: each timeline is reported by itself whatever is said here.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from laptime.evidence.kineto_clocks import told
from laptime.model.run import Timeline

APART_NS = 60_000_000_000
"""Files of one capture overlap in time. A minute between them is another capture, or another job:
ranks start recording at one step, which comes on all of them within seconds."""

ALIKE = ("cuda_runtime_version", "cuda_driver_version", "hip_runtime_version", "roctracer_version")
"""Header entries that are the same throughout a job on one cluster."""

MOST_RANKS = 1 << 17


def doubts(timelines: Sequence[Timeline]) -> list[str]:
    """What speaks against the timelines being of one job; of those of one file, their ranks only.

    ``Timeline.source`` is the file, or what else was read as one (a capture, a saved run).
    """
    if len({t.source for t in timelines}) < 2:
        return _worlds(timelines)
    return [
        *_ranks(timelines),
        *_worlds(timelines),
        *_without_rank(timelines),
        *_times(timelines),
        *_makers(timelines),
        *_shared_devices(timelines),
    ]


def listed(names: Iterable[str], most: int = 6) -> str:
    """The names with commas, and how many more there are."""
    all_names = list(names)
    shown = ", ".join(all_names[:most])
    rest = len(all_names) - most
    return f"{shown} and {rest} more" if rest > 0 else shown


def _ranks(timelines: Sequence[Timeline]) -> list[str]:
    """Ranks that several files have."""
    by_rank: dict[int, list[str]] = {}
    for t in timelines:
        if t.rank is not None:
            by_rank.setdefault(t.rank, []).append(t.source)
    found = []
    for rank, sources in by_rank.items():
        names = list(dict.fromkeys(sources))
        if len(names) > 1:
            found.append(
                f"rank {rank} appears in {len(names)} files: {listed(names)}; each is kept and "
                "reported by itself"
            )
    return found


def _worlds(timelines: Sequence[Timeline]) -> list[str]:
    """Numbers of ranks that differ, ranks beyond the number, and ranks without a file."""
    by_world: dict[int, list[str]] = {}
    for t in timelines:
        if t.world_size is not None:
            by_world.setdefault(t.world_size, []).append(t.source)
    if len(by_world) > 1:
        sizes = "; ".join(
            f"{size} in {listed(dict.fromkeys(by_world[size]), 2)}" for size in sorted(by_world)
        )
        return [f"files disagree on the number of ranks ({sizes}); are they of one job?"]
    ranks = {t.rank for t in timelines if t.rank is not None}
    if not by_world or not ranks:
        return []
    (world,) = by_world
    found = []
    beyond = [t for t in timelines if t.rank is not None and t.rank >= world]
    if beyond:
        found.append(
            f"{listed(dict.fromkeys(t.source for t in beyond), 2)}: rank {beyond[0].rank} where "
            f"the job has {world} ranks; are the files of one job?"
        )
    missing = [r for r in range(min(world, MOST_RANKS)) if r not in ranks]
    if missing and len(ranks) > 1:
        found.append(f"{len(missing)} of {world} ranks have no file: {listed(map(str, missing))}")
    return found


def _without_rank(timelines: Sequence[Timeline]) -> list[str]:
    """Files of which nothing says that they are of the job."""
    ranked = {t.source for t in timelines if t.rank is not None}
    without = list(dict.fromkeys(t.source for t in timelines if t.source not in ranked))
    if not without:
        return []
    if len(without) == len({t.source for t in timelines}):
        return [
            f"none of the {len(without)} files says its rank: whether they are of one job cannot "
            "be told; each is reported by itself"
        ]
    verb = "says no rank" if len(without) == 1 else "say no rank"
    return [
        f"{len(without)} of the files {verb} ({listed(without)}) where others do; are they of one "
        "job?"
    ]


def _times(timelines: Sequence[Timeline]) -> list[str]:
    """Clocks that cannot be compared, and recordings that lie far apart."""
    timed = [t for t in timelines if len(t.rows)]
    if len({t.epoch for t in timed}) > 1:
        other = list(dict.fromkeys(t.source for t in timed if not t.epoch))
        return [
            f"{listed(other)}: times are not of the epoch as those of the other files are; they "
            "cannot be put on one axis"
        ]
    if not timed or not timed[0].epoch:
        return []
    spans = sorted((*_span(t), t.source) for t in timed)
    over, before = spans[0][1], spans[0][2]
    worst, pair = 0, ("", "")
    for start, end, source in spans[1:]:
        if source != before and start - over > worst:
            worst, pair = start - over, (before, source)
        if end > over:
            over, before = end, source
    if worst <= APART_NS:
        return []
    return [
        f"recordings lie apart: {pair[1]} begins {told(worst)} after {pair[0]} has ended; are they "
        "of one capture of one job?"
    ]


def _span(timeline: Timeline) -> tuple[int, int]:
    rows = timeline.rows
    start = int(rows.start_ns.min())
    last = int(rows.start_ns.max())
    return timeline.origin_ns + start, timeline.origin_ns + last


def _makers(timelines: Sequence[Timeline]) -> list[str]:
    """Accelerators of several makers, and software versions that differ."""
    found = []
    makers = sorted({t.vendor for t in timelines if t.vendor is not None})
    if len(makers) > 1:
        found.append(f"devices are of several makers ({', '.join(makers)}); are they of one job?")
    for key in ALIKE:
        values = sorted({str(t.facts[key]) for t in timelines if t.facts.get(key) is not None})
        if len(values) > 1:
            found.append(f"files disagree on {key} ({listed(values)}); are they of one job?")
    return found


def _shared_devices(timelines: Sequence[Timeline]) -> list[str]:
    """Devices, known by their uuid, that processes of several files used at one time."""
    users: dict[tuple[str | None, str], list[Timeline]] = {}
    for t in timelines:
        for device in t.devices:
            if device.uuid and len(t.rows):
                users.setdefault((device.host, device.uuid), []).append(t)
    found = []
    for (_, uuid), using in users.items():
        spans = sorted((*_span(t), t.source) for t in using)
        both = [
            name
            for a, b in itertools.pairwise(spans)
            if a[2] != b[2] and b[0] < a[1]
            for name in (a[2], b[2])
        ]
        if both:
            names = list(dict.fromkeys(both))
            found.append(
                f"device {uuid} is used by processes of {len(names)} files at one time "
                f"({listed(names)}): another process's work shows as idle time"
            )
    return found
