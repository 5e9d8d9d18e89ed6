"""A compiled function meets a new shape in each step, without dynamic shapes."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
WIDTH, FIRST = twin.draw("width", 256, 384), twin.draw("first", 150, 200)

torch._dynamo.config.cache_size_limit = 1000
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
compiled = torch.compile(model, backend="aot_eager", dynamic=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(twin.laps):
    rows = FIRST + step if twin.planted else FIRST
    for _ in range(6):
        optimizer.zero_grad()
        compiled(torch.randn(rows, WIDTH)).square().mean().backward()
    optimizer.step()
    twin.lap()
