"""Cases read from built captures: counters with known rates over laps of known length."""

from __future__ import annotations

from pathlib import Path

from laptime.causes.case import Case, Clear, Finding, Outcome
from laptime.causes.needs import needs_met
from laptime.causes.registry import causes, outcome
from laptime.evidence.registry import open_run
from laptime.ledger.build import build_ledger
from laptime.ledger.device_work import kernel_names
from tests.builder.capture import CaptureBuilder, Sampled
from tests.builder.host import MS

LAPS = 10
LAP_NS = 100 * MS
IDLE = {"busy_ns": 0.5, "idle_ns": 3.5, "iowait_ns": 0.0, "steal_ns": 0.0}
"""Of four cores: half of one busy."""


def building(loader_ns: int = 0, workers: int = 0, **settings: object) -> CaptureBuilder:
    """Ten laps of 100 ms on one thread: first the loader, then one operator; the process runs
    half of the time and never waits, on four idle cores."""
    made = CaptureBuilder(**settings)  # type: ignore[arg-type]
    made.clock_mark()
    for lap in range(LAPS):
        with made.trace.lap_window(lap, made.main):
            if loader_ns:
                made.main.loader_next(loader_ns, workers)
            made.main.op("aten::mm", LAP_NS - loader_ns)
    made.clock_mark()
    made.processes = [main()]
    made.host_rates = {"cpu": dict(IDLE), "psi": {"cpu": 0.0, "io": 0.0, "memory": 0.0}}
    return made


def main(run: float = 0.5, wait: float = 0.0, **settings: object) -> Sampled:
    """The training process: cores that its threads use and wait for."""
    rates = {"run_ns": run, "wait_ns": wait, "main_run_ns": run, "main_wait_ns": wait}
    more = settings.pop("rates", {})
    assert isinstance(more, dict)
    return Sampled(100, 1, {**rates, **more}, **settings)  # type: ignore[arg-type]


def worker(pid: int, run: float, wait: float = 0.0, states: str = "S") -> Sampled:
    """A worker of the training process."""
    return Sampled(pid, 100, {"run_ns": run, "wait_ns": wait, "read_bytes": 0.01}, states)


def with_workers(made: CaptureBuilder, *workers: Sampled) -> CaptureBuilder:
    """The capture with loader workers, as the probe tells of them."""
    made.processes += workers
    made.events += [{"k": "worker", "pid": w.pid, "loader": 0} for w in workers]
    return made


def case_of(made: CaptureBuilder, folder: Path) -> Case:
    """The capture written, read and accounted for by the product."""
    return read_case(made.write(folder / "capture"))


def read_case(folder: Path) -> Case:
    """A capture folder read and accounted for by the product."""
    run = open_run(folder)
    (timeline,) = run.timelines
    names = kernel_names(timeline.rows)
    ledger, work = build_ledger(timeline, names)
    return Case(run, timeline, ledger, work, names, needs_met(timeline, work, ledger))


def answer(cause_id: str, case: Case) -> Outcome:
    """What the catalogue's cause says of the case."""
    return outcome(next(c for c in causes() if c.id == cause_id), case)


def found(cause_id: str, case: Case) -> Finding:
    """Its finding."""
    said = answer(cause_id, case)
    assert isinstance(said, Finding), said
    return said


def cleared(cause_id: str, case: Case) -> str:
    """Why it was ruled out."""
    said = answer(cause_id, case)
    assert isinstance(said, Clear), said
    return said.why
