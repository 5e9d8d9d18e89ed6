"""Reader of a capture: the folder that `laptime run` writes.

``capture.json`` names the run; ``host.jsonl`` holds the sampled counters; each ``p<pid>`` folder
holds what the probe in that process told, and its trace. A program that was killed leaves whole
lines: everything that was finished is read, and a window that was not is said to be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from laptime.evidence.capture_host import read_host
from laptime.evidence.capture_lines import object_of, text, whole
from laptime.evidence.capture_placed import placed
from laptime.evidence.capture_process import LOST_WHILE, ProcessFolder, read_process
from laptime.evidence.format import Match, Progress
from laptime.evidence.kineto import KinetoTrace
from laptime.evidence.source import Source
from laptime.model.counters import CaptureFacts
from laptime.model.errors import LaptimeError, UnreadableInput
from laptime.model.health import Health, Loss, merged
from laptime.model.run import Part, Timeline

CAPTURE_FILE = "capture.json"
SCHEMA = "laptime.capture/"


class CaptureFolder:
    """The folder of one `laptime run`, named by its ``capture.json``."""

    id = "capture"
    title = "folder of laptime run"

    def sniff(self, head: bytes, name: str) -> Match:
        """Recognise ``capture.json`` by its schema."""
        if SCHEMA.encode() in head[:4096] and head.lstrip().startswith(b"{"):
            return Match(1.0, "has a capture's schema")
        return Match(0.0, "is no capture.json")

    def read(self, source: Source, progress: Progress | None) -> Part:
        """Read everything that lies beside ``capture.json``."""
        if not source.stored.local:
            raise UnreadableInput(
                f"{source.name}: a capture is a folder; copy it here and name the folder"
            )
        folder = Path(source.name).parent
        health = Health()
        said = object_of(Path(source.name), health) or {}
        problems = [p for p in _list(said.get("problems")) if isinstance(p, str)]
        counters = read_host(folder, health, problems)
        processes = _processes(folder, health)
        facts = CaptureFacts(
            folder=str(folder),
            argv=[a for a in _list(said.get("argv")) if isinstance(a, str)],
            host=text(said.get("host")),
            cores=whole(said.get("cores")),
            cpus_allowed=_count(said.get("cpus_allowed")),
            cpu_quota=_number(said.get("cpu_quota")),
            exit_code=whole(said.get("exit_code")),
            signal=whole(said.get("signal")),
            ended="ended_mono_ns" in said,
            problems=list(dict.fromkeys(problems)),
            processes=[p.facts for p in processes],
            counters=counters,
        )
        _tell(facts, processes, health)
        wall, mono = whole(said.get("started_wall_ns")), whole(said.get("started_mono_ns"))
        offset = wall - mono if wall is not None and mono is not None else None
        timelines: list[Timeline] = []
        parts = [health]
        for process in processes:
            part = _trace(process, facts, source, progress, health)
            if part is not None:
                parts.append(part.health)
                timelines += [
                    placed(t, process, facts, offset, health) if _is(t, process, part) else t
                    for t in part.timelines
                ]
        return Part(source.name, self.id, timelines, merged(parts), facts)


def _processes(folder: Path, health: Health) -> list[ProcessFolder]:
    """Every process's folder, by pid."""
    try:
        found = [f for f in folder.iterdir() if f.name[:1] == "p" and f.name[1:].isdigit()]
    except OSError as error:
        raise UnreadableInput(f"{folder}: cannot be listed: {error.strerror or error}") from None
    ordered = sorted((f for f in found if f.is_dir()), key=lambda f: int(f.name[1:]))
    read = (read_process(f, health) for f in ordered)
    return [p for p in read if p is not None]


def _trace(
    process: ProcessFolder,
    run: CaptureFacts,
    source: Source,
    progress: Progress | None,
    health: Health,
) -> Part | None:
    """The process's trace; what keeps it from being read is a loss, with how the process ended."""
    facts = process.facts
    lost = facts.state in LOST_WHILE
    if process.trace is not None:
        try:
            return KinetoTrace().read(Source(process.trace, limits=source.limits), progress)
        except LaptimeError as error:
            health.warnings.append(str(error))
            lost = True
    if lost:
        reason = f"window of process {facts.pid} was lost: it ended while {facts.state}{_how(run)}"
        health.losses.append(Loss(reason, 1, str(process.folder)))
    elif process.own_profile:
        health.warnings.append(
            f"process {facts.pid}: the profile that the program exported itself is not there; "
            "name it beside the folder"
        )
    return None


def _how(run: CaptureFacts) -> str:
    if run.signal is not None:
        return f" (the program was ended by signal {run.signal})"
    if run.exit_code is not None:
        return f" (the program exited with {run.exit_code})"
    return " (killed, and the launcher with it)" if not run.ended else ""


def _is(timeline: Timeline, process: ProcessFolder, part: Part) -> bool:
    """Whether a timeline is that of the process: by its pid, or as the only one."""
    return len(part.timelines) == 1 or timeline.pid == process.facts.pid


def _tell(run: CaptureFacts, processes: Sequence[ProcessFolder], health: Health) -> None:
    """Say what of the capture went wrong."""
    if not run.ended:
        health.warnings.append(f"{run.folder}: the capture was not closed: its launcher was killed")
    health.warnings += [f"capture: {p}" for p in run.problems]
    if run.counters is None:
        health.warnings.append(f"{run.folder}: holds no host counters")
    for process in processes:
        facts = process.facts
        if facts.state == "given_up" or (facts.state == "waiting" and facts.role == "trainer"):
            why = facts.reason or "no reason given"
            health.warnings.append(f"process {facts.pid} recorded nothing: {why}")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _count(value: Any) -> int | None:
    """CPUs as a number or as a list of them."""
    return len(value) if isinstance(value, list) else whole(value)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return float(value)


FORMAT = CaptureFolder()
