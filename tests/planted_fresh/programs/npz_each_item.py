"""Spectrogram classifier whose dataset opens the whole compressed archive for each item."""

import os
import tempfile

import numpy as np
import torch
from clock import Clock
from torch import nn
from torch.utils.data import DataLoader, Dataset

clock = Clock()
BATCH = clock.draw("batch", 12, 20)
FRAMES = clock.draw("frames", 40, 60)
SHARD = 64


class Spectrograms(Dataset):
    def __init__(self, folder, count, kept):
        rng = np.random.default_rng(0)
        self.count, self.paths = count, []
        for start in range(0, count, SHARD):
            self.paths.append(os.path.join(folder, f"shard{start}.npz"))
            data = rng.standard_normal((SHARD, 40, FRAMES), np.float32)
            np.savez(self.paths[-1], data=data, label=np.arange(SHARD) % 10)
        self.kept = [dict(np.load(path)) for path in self.paths] if kept else None

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        shard, row = divmod(index, SHARD)
        archive = self.kept[shard] if self.kept else np.load(self.paths[shard])
        return torch.from_numpy(archive["data"][row]), int(archive["label"][row])


model = nn.Sequential(
    nn.Conv1d(40, 96, 5), nn.ReLU(), nn.Conv1d(96, 96, 5), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(96, 10),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
with tempfile.TemporaryDirectory() as folder:
    loader = DataLoader(Spectrograms(folder, 512, clock.clean), BATCH, shuffle=True)
    step = 0
    while step < clock.laps:
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            clock.lap()
            step += 1
            if step == clock.laps:
                break
