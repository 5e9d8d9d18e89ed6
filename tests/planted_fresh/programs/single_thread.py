"""Matrix-heavy training with the one thread a job template set for many small jobs."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
WIDTH = clock.draw("width", 768, 1024)
BATCH = clock.draw("batch", 256, 384)

if not clock.clean:
    torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(BATCH, WIDTH), torch.randn(BATCH, WIDTH)
for _ in range(clock.laps):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    clock.lap()
