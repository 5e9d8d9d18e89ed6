"""Laps marked by hand, in a loop with neither an optimizer, nor a loader, nor a module."""

import torch

import laptime

torch.set_num_threads(1)
x = torch.randn(64, 64)
for _ in range(40):
    laptime.lap()
    for _ in range(10):
        x = torch.tanh(x @ x)
print("shape", tuple(x.shape))
