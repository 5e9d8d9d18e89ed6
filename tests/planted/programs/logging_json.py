"""Histograms of every parameter, logged as JSON in every step, or every thousandth."""

import json
import logging
import tempfile

import torch
from torch import nn
from twin import Twin

twin = Twin()
HIDDEN, VALUES = twin.draw("hidden", 700, 900), twin.draw("values", 6_000, 12_000)

logging.basicConfig(filename=tempfile.mkstemp(suffix=".log")[1], level=logging.INFO)
log = logging.getLogger("train")
model = nn.Sequential(nn.Linear(96, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 4))  # fmt: skip
optimizer = torch.optim.AdamW(model.parameters())
every = 1 if twin.planted else 1000
for step in range(1, twin.laps + 1):
    optimizer.zero_grad()
    loss = model(torch.randn(256, 96)).logsumexp(1).mean()
    loss.backward()
    optimizer.step()
    if step % every == 0:
        for name, p in model.named_parameters():
            flat = p.detach().flatten()[:VALUES].tolist()
            log.info("%s %s", name, json.dumps({"step": step, "values": flat}))
    twin.lap()
