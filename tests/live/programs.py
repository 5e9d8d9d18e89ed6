"""Small training loops on the CPU under the profiler, each with one planted fault, or none.

Run as ``python programs.py FOLDER NAME...``: of each program it writes ``NAME.json.gz``, the trace,
and ``NAME.told.json``, what the program itself measured: for each step, by the profiler's own
number of it, the nanoseconds of ``time.perf_counter_ns`` around the planted part and the step.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

BATCH, WIDTH, STEPS, SKIPPED = 4, 256, 6, 2
SLEEP_S = 0.01
"""For each sample; 40 ms for each batch, long beside a step and beside a busy machine's delays."""


class Samples(Dataset[torch.Tensor]):
    """Random samples, each of which takes a while to make."""

    def __init__(self, sleep_s: float) -> None:
        self.sleep_s = sleep_s
        self.data = torch.randn(WIDTH)

    def __len__(self) -> int:
        return BATCH * (STEPS + SKIPPED + 8)

    def __getitem__(self, index: int) -> torch.Tensor:
        if self.sleep_s:
            time.sleep(self.sleep_s)
        return self.data


class Told:
    """What the program measured itself."""

    def __init__(self) -> None:
        self.step = 0
        self.ns: dict[str, dict[int, int]] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter_ns()
        yield
        by_step = self.ns.setdefault(name, {})
        by_step[self.step] = by_step.get(self.step, 0) + time.perf_counter_ns() - start


class Loop:
    """A model, its optimiser and its data."""

    def __init__(self, sleep_s: float = 0.0, workers: int = 0, batch: int = BATCH) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(
            nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU()
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.loader = DataLoader(Samples(sleep_s), batch_size=BATCH, num_workers=workers)
        self.batch = batch

    def train(self, x: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        self.model(x.repeat(self.batch // BATCH, 1)).square().mean().backward()
        self.optimizer.step()


Extra = Callable[[Told], None]


def profiled(
    path: Path, loop: Loop, extra: Extra | None = None, *, marks: bool = True, **options: Any
) -> Told:
    """Profile the loop; ``extra`` runs in each step, after the training proper."""
    told = Told()
    batches = iter(loop.loader)
    steps = STEPS + SKIPPED if marks else STEPS
    plan = schedule(wait=1, warmup=1, active=STEPS, repeat=1) if marks else None
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=lambda p: p.export_chrome_trace(str(path)),
        **options,
    ) as prof:
        for step in range(steps):
            told.step = prof.step_num if marks else step
            with told.part("step"):
                with told.part("loader"):
                    x = next(batches)
                with told.part("train"):
                    loop.train(x)
                if extra is not None:
                    with told.part("extra"):
                        extra(told)
            if marks:
                prof.step()
    return told


def slow_loader(path: Path) -> Told:
    return profiled(path, Loop(SLEEP_S))


def slow_loader_stacks(path: Path) -> Told:
    return profiled(path, Loop(SLEEP_S), with_stack=True)


def slow_workers(path: Path) -> Told:
    """Two workers that make samples more slowly than they are used."""
    return profiled(path, Loop(2 * SLEEP_S, workers=2))


def healthy(path: Path) -> Told:
    return profiled(path, Loop(batch=1024))


def healthy_workers(path: Path) -> Told:
    return profiled(path, Loop(workers=2, batch=1024))


def thinking(_: Told) -> None:
    """Pure Python for 40 ms, however fast the machine is."""
    end, n = time.perf_counter_ns() + 40_000_000, 0
    while time.perf_counter_ns() < end:
        n += sum(range(2000))


def python_bound(path: Path) -> Told:
    return profiled(path, Loop(), thinking)


def python_bound_stacks(path: Path) -> Told:
    return profiled(path, Loop(), thinking, with_stack=True)


def collecting(path: Path) -> Told:
    """A full collection of a large heap in each step."""
    heap = [[i] for i in range(250_000)]
    told = profiled(path, Loop(), lambda _: void(gc.collect()), with_stack=True)
    del heap
    return told


def void(_: object) -> None:
    return None


def checkpointing(path: Path) -> Told:
    state = [torch.zeros(1 << 20) for _ in range(24)]
    place = path.with_suffix(".pt")
    told = profiled(path, Loop(), lambda _: torch.save(state, place), with_stack=True)
    place.unlink()
    return told


def regions(path: Path) -> Told:
    """The user's own region around a wait, another around work."""

    def extra(told: Told) -> None:
        with record_function("my wait"), told.part("my wait"):
            time.sleep(0.03)
        with record_function("my sort"), told.part("my sort"):
            torch.arange(1 << 19).flip(0).sort()

    return profiled(path, Loop(), extra)


def no_marks(path: Path) -> Told:
    return profiled(path, Loop(SLEEP_S), marks=False)


def two_threads(path: Path) -> Told:
    """A second thread computes all the while; the training thread's ledger must not have it."""
    stop = threading.Event()

    def work() -> None:
        x = torch.randn(64, 64)
        while not stop.is_set():
            x = x @ x * 0.01
            time.sleep(0.002)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        config = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
        return profiled(path, Loop(SLEEP_S), experimental_config=config)
    finally:
        stop.set()
        thread.join()


def compiled(path: Path) -> Told:
    """Everything is compiled in the first step, which the profiler sees; no C++ compiler runs."""
    loop, told = Loop(), Told()
    model = torch.compile(loop.model, backend="aot_eager")
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for step in range(5):
            told.step = step
            with told.part("step"), record_function(f"training_step#{step}"):
                model(torch.randn(BATCH, WIDTH)).sum().backward()
    prof.export_chrome_trace(str(path))
    return told


def main(folder: Path, names: list[str]) -> None:
    torch.set_num_threads(1)
    for name in names:
        told: Told = globals()[name](folder / f"{name}.json.gz")
        answer = {"ns": told.ns, "tid": threading.get_native_id()}
        (folder / f"{name}.told.json").write_text(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
