"""A rate limit left from a shared node: the trainer sleeps after each step."""

import time

import torch
from torch import nn
from twin import Twin

twin = Twin()
PAUSE_MS, HIDDEN = twin.draw("pause_ms", 10.0, 40.0), twin.draw("hidden", 900, 1200)

model = nn.Sequential(nn.Linear(80, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 3))  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(200, 80), torch.randint(0, 3, (200,))
for _ in range(twin.laps):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if twin.planted:
        time.sleep(PAUSE_MS / 1000)
    twin.lap()
