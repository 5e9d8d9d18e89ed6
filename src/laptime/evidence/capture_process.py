"""One process's folder of a capture: what its probe told of it, its laps and its events."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laptime.evidence.capture_lines import flag, numbers, object_of, objects_of, text, whole
from laptime.model.counters import LapRecord, LoaderSettings, Pause, ProcessFacts
from laptime.model.health import Health, Loss

PHASES = ("warmup", "plain", "recorded", "after")
LOST_WHILE = ("recording", "exporting")
"""States of a process whose window was begun and not finished."""


@dataclass(frozen=True)
class ProcessFolder:
    """A process's facts and where its trace lies, if it has one. ``window_ns`` is the recorded
    window on the monotonic clock, and ``wall_ns`` its start on the wall clock."""

    facts: ProcessFacts
    folder: Path
    trace: Path | None
    own_profile: bool
    window_ns: tuple[int, int] | None
    wall_ns: int | None


def read_process(folder: Path, health: Health) -> ProcessFolder | None:
    """Read ``process.json``, ``laps.jsonl`` and ``events.jsonl``; None where the first is lost."""
    said = object_of(folder / "process.json", health)
    pid = whole(said.get("pid")) if said else None
    if said is None or pid is None:
        if said is not None:
            health.losses.append(Loss("says no pid", 1, str(folder / "process.json")))
        return None
    env = said.get("env")
    events = list(objects_of(folder / "events.jsonl", health))
    pauses = [p for p in map(_pause, events) if p is not None]
    facts = ProcessFacts(
        pid=pid,
        ppid=whole(said.get("ppid")),
        role=text(said.get("role")),
        rank=whole(said.get("rank")),
        world_size=whole(said.get("world_size")),
        state=text(said.get("state")),
        reason=text(said.get("reason")),
        lap_source=text(said.get("lap_source")),
        affinity=numbers(said.get("affinity")),
        threads_intraop=whole(said.get("threads_intraop")),
        env={k: v for k, v in env.items() if isinstance(v, str)} if isinstance(env, dict) else {},
        laps=_laps(folder / "laps.jsonl", health),
        pauses=sorted(pauses, key=lambda p: p.start_ns),
        loaders=[_loader(e) for e in events if e.get("k") == "loader"],
        workers=[w for e in events if e.get("k") == "worker" and (w := whole(e.get("pid")))],
        saw_pauses=any(e.get("k") in ("gc", "gc_small", "gc_on") for e in events),
    )
    window = said.get("window")
    window = window if isinstance(window, dict) else {}
    start, end = whole(window.get("start_mono_ns")), whole(window.get("end_mono_ns"))
    trace, own = _trace(folder, said)
    return ProcessFolder(
        facts,
        folder,
        trace,
        own,
        (start, end) if start is not None and end is not None and end > start else None,
        whole(window.get("start_wall_ns")),
    )


def _trace(folder: Path, said: dict[str, Any]) -> tuple[Path | None, bool]:
    """The recorded window, else the profile that the program itself exported."""
    for name in ("trace.json.gz", "trace.json"):
        if (folder / name).is_file():
            return folder / name, False
    theirs = text(said.get("user_trace"))
    if theirs is None:
        return None, False
    for path in (Path(theirs), folder / Path(theirs).name, folder / theirs):
        if path.is_file():
            return path, True
    return None, True


def _laps(path: Path, health: Health) -> list[LapRecord]:
    laps, odd = [], 0
    for item in objects_of(path, health):
        number, start, end = (whole(item.get(k)) for k in ("n", "start", "end"))
        phase = text(item.get("phase"))
        if number is None or start is None or end is None or end < start or phase not in PHASES:
            odd += 1
            continue
        items, tokens = whole(item.get("items")), whole(item.get("tokens"))
        unit = text(item.get("unit"))
        items, tokens = (n if n is not None and n >= 0 else None for n in (items, tokens))
        laps.append(LapRecord(number, start, end, phase, items if unit else None, unit, tokens))
    if odd:
        health.losses.append(Loss("line is no lap", odd, str(path)))
    health.items += len(laps)
    return sorted(laps, key=lambda lap: (lap.start_ns, lap.number))


def _pause(event: dict[str, Any]) -> Pause | None:
    if event.get("k") != "gc":
        return None
    start, end = whole(event.get("start")), whole(event.get("end"))
    if start is None or end is None or end < start:
        return None
    generation, collected, tid = (whole(event.get(k)) for k in ("gen", "collected", "tid"))
    return Pause(start, end, generation, collected, tid)


def _loader(event: dict[str, Any]) -> LoaderSettings:
    return LoaderSettings(
        num_workers=whole(event.get("num_workers")),
        batch_size=whole(event.get("batch_size")),
        pin_memory=flag(event.get("pin_memory")),
        persistent_workers=flag(event.get("persistent_workers")),
        prefetch_factor=whole(event.get("prefetch_factor")),
        dataset=text(event.get("dataset")),
    )
