"""A trainer that calls gc.collect() after each step "to save memory", with objects alive."""

import gc

import torch
from torch import nn
from twin import Twin

twin = Twin()
RECORDS, HIDDEN = twin.draw("records", 150_000, 300_000), twin.draw("hidden", 600, 900)

records = [{"id": i, "tags": [i % 7, i % 11]} for i in range(RECORDS)]
model = nn.Sequential(nn.Linear(128, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 1))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())


def batch(step, size=192):
    chosen = records[step * size : (step + 1) * size]
    tags = torch.tensor([r["tags"] for r in chosen], dtype=torch.float32)
    return tags.repeat(1, 64), tags.sum(1, keepdim=True)


for step in range(twin.laps):
    x, y = batch(step)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    if twin.planted:
        gc.collect()
    twin.lap()
