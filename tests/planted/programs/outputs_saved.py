"""Activations of every step saved to a file for a later look."""

import tempfile
from pathlib import Path

import torch
from torch import nn
from twin import Twin

twin = Twin()
ROWS, HIDDEN = twin.draw("rows", 1500, 2500), twin.draw("hidden", 512, 768)

place = Path(tempfile.mkdtemp())
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, HIDDEN))
optimizer = torch.optim.Adam(model.parameters())
for step in range(twin.laps):
    optimizer.zero_grad()
    out = model(torch.randn(ROWS, 64))
    out.square().mean().backward()
    optimizer.step()
    if twin.planted:
        for part in ("outputs", "again"):
            torch.save({"step": step, part: out.detach().clone()}, place / f"{part}.pt")
    twin.lap()
