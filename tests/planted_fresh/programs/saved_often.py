"""Autoencoder that saves model and optimizer every few steps, for fear of preemption."""

import os
import tempfile

import torch
from clock import Clock
from torch import nn

clock = Clock()
EVERY = clock.draw("every", 2, 3)
WIDTH = clock.draw("width", 900, 1300)

model = nn.Sequential(nn.Linear(784, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 784))
optimizer = torch.optim.Adam(model.parameters(), fused=True)
with tempfile.TemporaryDirectory() as folder:
    for step in range(clock.laps):
        x = torch.rand(128, 784)
        loss = nn.functional.mse_loss(model(x), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not clock.clean and step % EVERY == 0:
            state = {"step": step, "model": model.state_dict(), "optim": optimizer.state_dict()}
            torch.save(state, os.path.join(folder, "last.pt.tmp"))
            os.replace(os.path.join(folder, "last.pt.tmp"), os.path.join(folder, "last.pt"))
        clock.lap()
