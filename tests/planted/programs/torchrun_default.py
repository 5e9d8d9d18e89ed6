"""Started by torchrun, which sets one thread for each process where nothing else is said."""

import os

import torch
import torch.distributed as dist
from torch import nn
from twin import Twin

twin = Twin()
WIDTH, BATCH = twin.draw("width", 500, 700), twin.draw("batch", 256, 384)

if not twin.planted:
    torch.set_num_threads(len(os.sched_getaffinity(0)) // int(os.environ["LOCAL_WORLD_SIZE"]))
dist.init_process_group("gloo")
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(BATCH, WIDTH)
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
dist.destroy_process_group()
