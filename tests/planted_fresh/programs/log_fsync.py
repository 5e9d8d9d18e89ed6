"""Training that writes the statistics of each layer to a log, flushed and synced, in every step."""

import json
import logging
import os
import tempfile

import torch
from clock import Clock
from torch import nn

clock = Clock()
LAYERS = clock.draw("layers", 8, 14)
WIDTH = clock.draw("width", 180, 256)

folder = tempfile.TemporaryDirectory()
handler = logging.FileHandler(os.path.join(folder.name, "train.log"))
handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
log = logging.getLogger("train")
log.addHandler(handler)
log.setLevel(logging.INFO)
log.propagate = False

model = nn.Sequential(*(m for _ in range(LAYERS) for m in (nn.Linear(WIDTH, WIDTH), nn.Tanh())))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(clock.laps):
    x = torch.randn(128, WIDTH)
    loss = (model(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not clock.clean or step % 200 == 199:
        for name, p in model.named_parameters():
            stats = {"mean": p.mean().item(), "std": p.std().item(), "grad": p.grad.norm().item()}
            log.info(json.dumps({"step": step, "loss": loss.item(), "name": name, **stats}))
            handler.flush()
            os.fsync(handler.stream.fileno())
    clock.lap()
