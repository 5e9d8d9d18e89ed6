"""A library narrows the CPU mask to the first core."""

import os

import torch
from torch import nn
from twin import Twin

twin = Twin()
WIDTH, BATCH = twin.draw("width", 512, 800), twin.draw("batch", 192, 320)

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(128, 4, dim_feedforward=WIDTH, batch_first=True)
model = nn.Sequential(nn.Linear(32, 128), layer, nn.Linear(128, 2))
optimizer = torch.optim.AdamW(model.parameters())
x = torch.randn(BATCH // 8, 48, 32)
model(x)  # the thread pool exists before the mask is set

if twin.planted:
    first = min(os.sched_getaffinity(0))
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), {first})

for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
