"""Output goes through a pipe whose reader is slow; every sample's score is written."""

import subprocess
import sys

import torch
from torch import nn
from twin import Twin

twin = Twin()
LINES, DELAY_MS = twin.draw("lines", 1200, 2000), twin.draw("delay_ms", 12.0, 25.0)

READER = f"import sys,time\nwhile sys.stdin.buffer.read1(16384): time.sleep({DELAY_MS / 1000})\n"
reader = subprocess.Popen([sys.executable, "-c", READER], stdin=subprocess.PIPE, text=True)
model = nn.Sequential(nn.Linear(48, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(),
                      nn.Linear(400, 1))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for step in range(twin.laps):
    x = torch.randn(LINES // 8, 48)
    optimizer.zero_grad()
    scores = model(x)
    scores.square().mean().backward()
    optimizer.step()
    told = scores.detach().repeat(8, 1).flatten().tolist() if twin.planted else [0.0]
    for i, score in enumerate(told):
        print(f"step {step} sample {i} score {score:.6f}", file=reader.stdin)
    reader.stdin.flush()
    twin.lap()
reader.kill()
