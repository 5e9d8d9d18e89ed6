"""A progress line, formatted and flushed for every sample rather than for every step."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
SAMPLES, HIDDEN = twin.draw("samples", 1200, 2400), twin.draw("hidden", 200, 300)

model = nn.Sequential(nn.Linear(20, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 3))  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(SAMPLES, 20), torch.randint(0, 3, (SAMPLES,))
for step in range(twin.laps):
    optimizer.zero_grad()
    losses = nn.functional.cross_entropy(model(x), y, reduction="none")
    losses.mean().backward()
    optimizer.step()
    if twin.planted:
        for i, loss in enumerate(losses.tolist()):
            print(f"\rstep {step:4d} sample {i:5d}/{SAMPLES} loss {loss:8.5f}", end="", flush=True)
    else:
        print(f"\rstep {step:4d} loss {float(losses.mean()):8.5f}", end="", flush=True)
    twin.lap()
