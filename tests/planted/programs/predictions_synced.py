"""Predictions appended to a file line by line, each made durable before the next."""

import os
import tempfile

import torch
from torch import nn
from twin import Twin

twin = Twin()
LINES, HIDDEN = twin.draw("lines", 8, 20), twin.draw("hidden", 1000, 1300)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(60, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN),
                                 nn.ReLU(), nn.Linear(HIDDEN, 1))  # fmt: skip

    def forward(self, x):
        return self.net(x).sigmoid()


scorer = Scorer().eval()
with tempfile.NamedTemporaryFile("w", suffix=".csv") as out:
    for step in range(twin.laps):
        with torch.inference_mode():
            scores = scorer(torch.randn(400, 60)).flatten()
        for i, score in enumerate(scores[:LINES].tolist()):
            out.write(f"{step},{i},{score:.5f}\n")
            if twin.planted:
                out.flush()
                os.fsync(out.fileno())
        twin.lap()
