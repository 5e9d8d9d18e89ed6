"""Each step asks a command-line tool for the state of the machine."""

import subprocess
import sys

import torch
from torch import nn
from twin import Twin

twin = Twin()
HIDDEN, CALLS = twin.draw("hidden", 900, 1100), twin.draw("calls", 1, 2)

model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 2))  # fmt: skip
optimizer = torch.optim.RMSprop(model.parameters())
x, y = torch.randn(160, 64), torch.randint(0, 2, (160,))
for step in range(twin.laps):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if twin.planted or step == 0:
        for _ in range(CALLS):
            asked = [sys.executable, "-S", "-c", "import os; print(os.getloadavg()[0])"]
            subprocess.run(asked, capture_output=True, text=True, check=True)
    twin.lap()
