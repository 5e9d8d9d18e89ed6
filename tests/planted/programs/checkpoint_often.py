"""A checkpoint every few steps, written through to the disk."""

import os
import tempfile
from pathlib import Path

import torch
from torch import nn
from twin import Twin

twin = Twin()
EVERY, WIDTH = twin.draw("every", 1, 3), twin.draw("width", 900, 1200)

model = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(),
                      nn.Linear(WIDTH, 8))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
place = Path(tempfile.mkdtemp())


def save(step):
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    with open(place / "last.pt", "wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())


for step in range(twin.laps):
    optimizer.zero_grad()
    model(torch.randn(64, 64)).square().mean().backward()
    optimizer.step()
    if twin.planted and step % EVERY == 0:
        save(step)
    twin.lap()
