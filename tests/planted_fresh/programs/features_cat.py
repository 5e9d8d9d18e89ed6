"""Evaluation that concatenates all embeddings so far in each batch, for a running mean."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
BATCH = clock.draw("batch", 192, 256)
WIDTH = clock.draw("width", 512, 768)

model = nn.Sequential(nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, WIDTH)).eval()
every = torch.empty(0, WIDTH)
parts = []
with torch.inference_mode():
    for _ in range(clock.laps):
        features = nn.functional.normalize(model(torch.randn(BATCH, 1024)), dim=1)
        if clock.clean:
            parts.append(features)
            centre = features.mean(0)
        else:
            every = torch.cat([every, features])
            centre = every.mean(0)
            spread = (every - centre).norm(dim=1).mean().item()
        clock.lap()
