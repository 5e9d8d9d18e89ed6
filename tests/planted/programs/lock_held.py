"""A background writer holds the lock that the loop needs while it writes."""

import threading
import time

import torch
from torch import nn
from twin import Twin

twin = Twin()
HOLD_MS, HIDDEN = twin.draw("hold_ms", 20.0, 40.0), twin.draw("hidden", 1000, 1300)

lock, wanted, stats = threading.Lock(), threading.Event(), []


def writer():
    while True:
        wanted.wait()
        wanted.clear()
        if twin.planted:
            with lock:
                time.sleep(HOLD_MS / 1000)  # an upload
        else:
            with lock:
                stats.clear()
            time.sleep(HOLD_MS / 1000)


threading.Thread(target=writer, daemon=True).start()
model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 1))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for _ in range(twin.laps):
    optimizer.zero_grad()
    loss = model(torch.randn(160, 64)).square().mean()
    loss.backward()
    optimizer.step()
    wanted.set()
    time.sleep(0)
    with lock:
        stats.append(loss.detach())
    twin.lap()
