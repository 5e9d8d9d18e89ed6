"""Sensor windows stored compressed; decoded for every item, or once at the start."""

import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
POINTS, BATCH = twin.draw("points", 12_000, 24_000), twin.draw("batch", 24, 40)


class Windows(Dataset):
    def __init__(self, count, cached):
        rng = np.random.default_rng(twin.seed)
        raw = [rng.integers(0, 40, POINTS, dtype=np.int16) for _ in range(64)]
        self.packed = [zlib.compress(r.tobytes()) for r in raw]
        self.cache = [self.decode(p) for p in self.packed] if cached else None
        self.count = count

    @staticmethod
    def decode(packed):
        signal = np.frombuffer(zlib.decompress(packed), dtype=np.int16).astype(np.float32)
        return (np.fft.irfft(np.fft.rfft(signal)[:512], 1024) / 40).astype(np.float32)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        i %= len(self.packed)
        signal = self.cache[i] if self.cache else self.decode(self.packed[i])
        return torch.from_numpy(signal), torch.tensor(i % 5)


model = nn.Sequential(nn.Linear(1024, 1024), nn.GELU(), nn.Linear(1024, 5))
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader(Windows(BATCH * twin.laps, cached=not twin.planted), batch_size=BATCH)
for signal, label in loader:
    loss = nn.functional.cross_entropy(model(signal), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    twin.lap()
