"""A new iterator for each batch: with a shuffled data set, a permutation of all of it each time."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from twin import Twin

twin = Twin()
ROWS, HIDDEN = twin.draw("rows", 500_000, 900_000), twin.draw("hidden", 1400, 1800)

data = TensorDataset(torch.arange(ROWS, dtype=torch.float32)[:, None])
loader = DataLoader(data, batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(1, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 1))  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
batches = iter(loader)
for _ in range(twin.laps):
    (x,) = next(iter(loader)) if twin.planted else next(batches)
    optimizer.zero_grad()
    model(x / ROWS).square().mean().backward()
    optimizer.step()
    twin.lap()
