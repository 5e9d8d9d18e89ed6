"""Norms of every parameter and gradient pulled out one by one with .item() for a dashboard."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 30, 50), twin.draw("width", 64, 96)

model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(LAYERS)))
optimizer = torch.optim.Adam(model.parameters())
x, board = torch.randn(512, WIDTH), {}
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    if twin.planted:
        for name, p in model.named_parameters():
            board[f"{name}/norm"] = p.norm().item()
            board[f"{name}/grad"] = p.grad.norm().item()
            board[f"{name}/max"] = p.grad.abs().max().item()
            board[f"{name}/mean"] = p.grad.mean().item()
    optimizer.step()
    twin.lap()
