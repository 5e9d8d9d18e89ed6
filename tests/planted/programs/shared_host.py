"""An ordinary trainer; in the planted run another user's program computes on the same cores."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
CHANNELS, BATCH = twin.draw("channels", 8, 12), twin.draw("batch", 16, 24)

model = nn.Sequential(
    nn.Conv2d(1, CHANNELS, 3), nn.ReLU(), nn.Conv2d(CHANNELS, CHANNELS, 3), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(16 * CHANNELS, 10),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(BATCH, 1, 40, 40), torch.randint(0, 10, (BATCH,))
for _ in range(twin.laps):
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    twin.lap()
