"""Image classifier whose dataset decodes each compressed image in Python, row by row."""

import zlib

import numpy as np
import torch
from clock import Clock
from torch import nn
from torch.utils.data import DataLoader, Dataset

clock = Clock()
SIDE = clock.draw("side", 56, 72)
BATCH = clock.draw("batch", 24, 32)


def encode(image):
    """Rows as differences to the row above, deflated: PNG's filter 2."""
    rows = np.diff(image.astype(np.int16), axis=0, prepend=0) % 256
    return zlib.compress(rows.astype(np.uint8).tobytes())


def decode(blob):
    raw = np.frombuffer(zlib.decompress(blob), np.uint8).reshape(SIDE, SIDE * 3)
    image, above = np.empty_like(raw), np.zeros(SIDE * 3, np.uint8)
    for y in range(SIDE):
        above = image[y] = raw[y] + above
    return torch.from_numpy(image.reshape(SIDE, SIDE, 3)).permute(2, 0, 1).float().div(255)


class Images(Dataset):
    def __init__(self, count, cache):
        rng = np.random.default_rng(0)
        self.blobs = [
            encode(rng.integers(0, 256, (SIDE, SIDE * 3), np.uint8)) for _ in range(count)
        ]
        self.cache = [decode(blob) for blob in self.blobs] if cache else None

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, index):
        if self.cache is not None:
            return self.cache[index], index % 10
        image = decode(self.blobs[index])
        if index % 2:  # augmentation
            image = image.flip(2)
        return (image - image.mean()) / image.std(), index % 10


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loader = DataLoader(Images(BATCH * 8, clock.clean), BATCH, shuffle=True)
step = 0
while step < clock.laps:
    for images, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
        clock.lap()
        step += 1
        if step == clock.laps:
            break
