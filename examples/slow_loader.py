"""Train a small model on the CPU under torch.profiler, with a data loader that is too slow.

Each sample takes 2 ms to "decode" (a sleep), the loader has no worker processes, and so the
training thread waits for every batch. Writes the profiler's trace to the path given.
"""

from __future__ import annotations

import sys
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

BATCH, WIDTH, SAMPLE_S = 16, 512, 0.002


class SlowSamples(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    """Random samples that each take 2 ms to make."""

    def __len__(self) -> int:
        return BATCH * 64

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        time.sleep(SAMPLE_S)
        return torch.randn(WIDTH), torch.randint(10, ())


def main(path: str) -> None:
    """Profile six steps after a warm-up and export the trace."""
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(WIDTH, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(SlowSamples(), batch_size=BATCH, num_workers=0)
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=2, active=6, repeat=1),
        with_stack=True,
        record_shapes=True,
        on_trace_ready=lambda prof: prof.export_chrome_trace(path),
    ) as prof:
        for step, (samples, labels) in enumerate(loader):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(samples), labels)
            loss.backward()
            optimizer.step()
            prof.step()
            if step == 10:
                break
    print(f"wrote {path}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python slow_loader.py TRACE.json.gz")
    main(sys.argv[1])
