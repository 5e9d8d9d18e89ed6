"""Replay buffer: a batch is a list of arrays, turned to a tensor number by number, or stacked."""

import random

import numpy as np
import torch
from torch import nn
from twin import Twin

twin = Twin()
SIZE, BATCH = twin.draw("size", 1500, 3000), twin.draw("batch", 96, 160)

rng = np.random.default_rng(twin.seed)
buffer = [rng.standard_normal(SIZE).astype(np.float32) for _ in range(400)]
critic = nn.Sequential(nn.Linear(SIZE, 128), nn.ReLU(), nn.Linear(128, 1))
optimizer = torch.optim.Adam(critic.parameters())
chooser = random.Random(twin.seed)
for _ in range(twin.laps):
    states = chooser.sample(buffer, BATCH)
    if twin.planted:
        x = torch.tensor([s.tolist() for s in states])
    else:
        x = torch.from_numpy(np.stack(states))
    optimizer.zero_grad()
    critic(x).square().mean().backward()
    optimizer.step()
    twin.lap()
