"""Items fetched from a remote store in the training process; the twin has a local copy."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
BATCH, FETCH_MS = twin.draw("batch", 8, 16), twin.draw("fetch_ms", 1.5, 4.0)


class Store:
    """A client of an object store: each request takes a round trip."""

    def __init__(self, local):
        self.local = local

    def get(self, key):
        if not self.local:
            time.sleep(FETCH_MS / 1000)
        generator = torch.Generator().manual_seed(key)
        return torch.randn(600, generator=generator)


class Remote(Dataset):
    def __init__(self, store, count):
        self.store, self.count = store, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        return self.store.get(i), i % 3


model = nn.Sequential(nn.Linear(600, 900), nn.ReLU(), nn.Linear(900, 900), nn.ReLU(),
                      nn.Linear(900, 3))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
loader = DataLoader(Remote(Store(not twin.planted), BATCH * twin.laps), batch_size=BATCH)
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    twin.lap()
