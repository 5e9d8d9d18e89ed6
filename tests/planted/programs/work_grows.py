"""A running contrast against all embeddings so far; the twin keeps a window of them."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
BATCH, SIZE = twin.draw("batch", 160, 240), twin.draw("size", 96, 160)

model = nn.Sequential(nn.Linear(SIZE, 256), nn.ReLU(), nn.Linear(256, SIZE))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
history = []
for _ in range(twin.laps):
    z = nn.functional.normalize(model(torch.randn(BATCH, SIZE)), dim=1)
    history.append(z.detach())
    if not twin.planted:
        history = history[-2:]
    bank = torch.cat(history)
    loss = (z @ bank.T / 0.1).logsumexp(1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    twin.lap()
