"""Image and mask come from one archive, which is decoded once for each of them."""

import zlib

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
SIDE, BATCH = twin.draw("side", 96, 128), twin.draw("batch", 12, 20)


class Scans(Dataset):
    def __init__(self, count):
        rng = np.random.default_rng(twin.seed)
        arrays = rng.integers(0, 200, (16, 2, SIDE, SIDE), dtype=np.uint8)
        self.archives, self.count = [zlib.compress(a.tobytes(), 1) for a in arrays], count

    def __len__(self):
        return self.count

    def unpack(self, i):
        raw = zlib.decompress(self.archives[i % 16])
        return np.frombuffer(raw, np.uint8).reshape(2, SIDE, SIDE).astype(np.float32) / 255

    def __getitem__(self, i):
        if not twin.planted:
            image, mask = self.unpack(i)
            return torch.from_numpy(image[None]), torch.from_numpy(mask[None])
        image = self.unpack(i)[0]
        levels = [float(self.unpack(i)[1].mean()) for _ in range(3)]
        mask = self.unpack(i)[1] + 0 * levels[0]
        return torch.from_numpy(image[None]), torch.from_numpy(mask[None])


model = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters())
for image, mask in DataLoader(Scans(BATCH * twin.laps), batch_size=BATCH):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(image), mask).backward()
    optimizer.step()
    twin.lap()
