"""A filter whose state has decayed into subnormal numbers."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
SIZE, ROUNDS = twin.draw("size", 200_000, 400_000), twin.draw("rounds", 20, 40)

model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
state = torch.full((SIZE,), 3e-39 if twin.planted else 3e-3)
for _ in range(twin.laps):
    for _ in range(ROUNDS):
        state = state * 0.9999
    optimizer.zero_grad()
    (model(torch.randn(128, 64)).square().mean() + state[:100].sum()).backward()
    optimizer.step()
    twin.lap()
