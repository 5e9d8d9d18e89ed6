"""Debug prints of whole tensors left in the loop."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
ROWS, HIDDEN = twin.draw("rows", 96, 160), twin.draw("hidden", 700, 900)

torch.set_printoptions(profile="full", linewidth=140)
model = nn.Sequential(nn.Linear(64, HIDDEN), nn.Sigmoid(), nn.Linear(HIDDEN, HIDDEN), nn.Sigmoid(),
                      nn.Linear(HIDDEN, 32))  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(256, 64)
for step in range(twin.laps):
    optimizer.zero_grad()
    out = model(x)
    loss = out.square().mean()
    loss.backward()
    optimizer.step()
    if twin.planted:
        print("step", step, "out", out[:ROWS])
    elif step % 10 == 0:
        print("step", step, "loss", float(loss))
    twin.lap()
