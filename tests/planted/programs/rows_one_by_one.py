"""Tabular data in memory, fetched row by row and collated, or sliced by batch."""

import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, SequentialSampler
from twin import Twin

twin = Twin()
BATCH, COLUMNS = twin.draw("batch", 1500, 2500), twin.draw("columns", 24, 40)


class Table(Dataset):
    def __init__(self, rows):
        self.x, self.y = torch.randn(rows, COLUMNS), torch.rand(rows)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


table = Table(BATCH * twin.laps)
if twin.planted:
    loader = DataLoader(table, batch_size=BATCH)
else:
    batches = BatchSampler(SequentialSampler(table), BATCH, drop_last=False)
    loader = DataLoader(table, sampler=batches, batch_size=None)
model = nn.Sequential(nn.Linear(COLUMNS, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(),
                      nn.Linear(128, 1))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x).squeeze(1), y).backward()
    optimizer.step()
    twin.lap()
