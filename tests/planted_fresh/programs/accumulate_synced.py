"""Two ranks accumulate gradients over micro-batches without no_sync."""

import contextlib

import torch
import torch.distributed as dist
from clock import Clock
from torch import nn

clock = Clock()
MICRO = clock.draw("micro_batches", 4, 6)
WIDTH = clock.draw("width", 700, 1000)

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(clock.laps):
    optimizer.zero_grad()
    for micro in range(MICRO):
        last = micro == MICRO - 1
        with model.no_sync() if clock.clean and not last else contextlib.nullcontext():
            loss = model(torch.randn(16, WIDTH)).square().mean() / MICRO
            loss.backward()
    optimizer.step()
    clock.lap()
dist.destroy_process_group()
