"""A job script that exports one thread; the operators are large."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
WIDTH, BATCH = twin.draw("width", 700, 1000), twin.draw("batch", 256, 384)

if twin.planted:
    torch.set_num_threads(1)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                      nn.Linear(WIDTH, 10))  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(BATCH * 4, WIDTH), torch.randint(0, 10, (BATCH * 4,))
for step in range(twin.laps):
    rows = slice((step % 4) * BATCH, (step % 4 + 1) * BATCH)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    twin.lap()
