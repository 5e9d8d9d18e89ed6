"""Autograd's anomaly detection left on after a hunt for NaN."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 10, 16), twin.draw("width", 96, 128)

if twin.planted:
    torch.autograd.set_detect_anomaly(True)
layers = []
for _ in range(LAYERS):
    layers += [nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU()]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 5))
optimizer = torch.optim.AdamW(model.parameters())
x, y = torch.randn(384, WIDTH), torch.randint(0, 5, (384,))
for _ in range(twin.laps):
    for _ in range(2):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    twin.lap()
