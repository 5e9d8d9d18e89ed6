"""Threads set to the cores of another machine."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
THREADS, CHANNELS = twin.draw("threads", 8, 16), twin.draw("channels", 12, 20)

if twin.planted:
    torch.set_num_threads(THREADS)

torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv1d(8, CHANNELS, 5, padding=2), nn.BatchNorm1d(CHANNELS), nn.ReLU(),
    nn.Conv1d(CHANNELS, CHANNELS, 5, padding=2), nn.BatchNorm1d(CHANNELS), nn.ReLU(),
    nn.Conv1d(CHANNELS, CHANNELS, 5, padding=2), nn.BatchNorm1d(CHANNELS), nn.ReLU(),
    nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(8 * CHANNELS, 6),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
signals, labels = torch.randn(256, 8, 400), torch.randint(0, 6, (256,))
for _ in range(twin.laps):
    chosen = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(signals[chosen]), labels[chosen]).backward()
    optimizer.step()
    twin.lap()
