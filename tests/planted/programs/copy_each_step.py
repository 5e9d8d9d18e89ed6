"""The best model kept by a deep copy of model and optimizer after every step."""

import copy

import torch
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 20, 36), twin.draw("width", 128, 192)

layers = []
for _ in range(LAYERS):
    layers += [nn.Linear(WIDTH, WIDTH), nn.BatchNorm1d(WIDTH), nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(WIDTH, 1))
optimizer = torch.optim.Adam(model.parameters())
x, best = torch.randn(256, WIDTH), None
for step in range(twin.laps):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    if twin.planted or step == 0:
        best = (copy.deepcopy(model), copy.deepcopy(optimizer.state_dict()), loss.detach())
    twin.lap()
