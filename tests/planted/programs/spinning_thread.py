"""A monitor thread in pure Python beside the training loop, which holds the interpreter."""

import threading

import torch
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 12, 20), twin.draw("width", 80, 112)


def monitor(stop):
    seen = 0
    while not stop.is_set():
        seen = (seen * 31 + sum(i * i for i in range(500))) % 1_000_003


stop = threading.Event()
if twin.planted:
    threading.Thread(target=monitor, args=(stop,), daemon=True).start()
layers = []
for _ in range(LAYERS):
    layers += [nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU()]
model = nn.Sequential(*layers)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(384, WIDTH)
for _ in range(twin.laps):
    for _ in range(2):
        optimizer.zero_grad()
        model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
stop.set()
