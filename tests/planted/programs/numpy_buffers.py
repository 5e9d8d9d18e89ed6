"""Preprocessing of large arrays, each expression with new temporaries, or in place."""

import numpy as np
import torch
from torch import nn
from twin import Twin

twin = Twin()
ROWS, TIMES = twin.draw("rows", 1800, 2600), twin.draw("times", 2, 3)

rng = np.random.default_rng(twin.seed)
volume = rng.random((ROWS, 1024), dtype=np.float32)
kept = np.empty_like(volume)


def prepare():
    if twin.planted:
        for _ in range(TIMES):
            shifted = volume + 0.5
            scaled = shifted * 2.0
            clipped = np.minimum(scaled, 2.5)
        return clipped
    for _ in range(TIMES):
        np.add(volume, 0.5, out=kept)
        np.multiply(kept, 2.0, out=kept)
        np.minimum(kept, 2.5, out=kept)
    return kept


model = nn.Sequential(nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(twin.laps):
    x = torch.from_numpy(prepare()[:128])
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
