"""A program with a profiler of its own, armed in the way and at the step that it is told."""

import sys
import threading

import torch
from torch import nn

STEPS = 60


class Loop:
    def __init__(self):
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.model = nn.Linear(64, 64)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self):
        self.opt.zero_grad()
        self.model(torch.randn(16, 64)).square().mean().backward()
        self.opt.step()


def scheduled(loop, path, wait, warmup, active):
    """torch.profiler with a schedule: armed from the warm-up on."""
    plan = torch.profiler.schedule(wait=wait, warmup=warmup, active=active, repeat=1)
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=plan,
        on_trace_ready=lambda p: p.export_chrome_trace(path),
    ) as prof:
        for _ in range(STEPS):
            loop.step()
            prof.step()
    return "traced"


def legacy(loop, path, before, during):
    for _ in range(before):
        loop.step()
    with torch.autograd.profiler.profile() as prof:
        for _ in range(during):
            loop.step()
    if path:
        prof.export_chrome_trace(path)
    for _ in range(STEPS - before - during):
        loop.step()
    return sum(e.count for e in prof.key_averages() if e.key == "aten::linear")


def nvtx(loop, before, during):
    for _ in range(before):
        loop.step()
    with torch.autograd.profiler.emit_itt():
        for _ in range(during):
            loop.step()
    for _ in range(STEPS - before - during):
        loop.step()
    return "emitted"


def in_thread(loop, path, before):
    """Another thread profiles its own work while the steps go on."""
    found = []

    def work():
        kinds = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=kinds) as prof:
            torch.randn(8).sum()
        prof.export_chrome_trace(path)
        found.append(sum(e.count for e in prof.key_averages() if e.key == "aten::sum"))

    for i in range(STEPS):
        if i == before:
            thread = threading.Thread(target=work)
            thread.start()
        loop.step()
    thread.join()
    return found


def main(how, path):
    loop = Loop()
    print(
        how,
        {
            # Ours opens after 5 + 10 laps, warms up for one and records 5: laps 16 to 20.
            "theirs first": lambda: scheduled(loop, path, 0, 2, 3),
            "theirs around": lambda: scheduled(loop, path, 10, 8, 10),
            "ours first": lambda: scheduled(loop, path, 17, 2, 3),
            "in our warm-up": lambda: scheduled(loop, path, 15, 2, 3),
            "theirs after": lambda: scheduled(loop, path, 30, 2, 3),
            "legacy first": lambda: legacy(loop, path, 2, 4),
            "legacy in ours": lambda: legacy(loop, path, 18, 4),
            "legacy unexported": lambda: legacy(loop, None, 2, 4),
            "nvtx": lambda: nvtx(loop, 18, 4),
            "thread": lambda: in_thread(loop, path, 18),
            "thread first": lambda: in_thread(loop, path, 3),
        }[how](),
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
