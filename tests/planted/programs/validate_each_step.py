"""A validation set run through its own loader after every step, or after the last."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from twin import Twin

twin = Twin()
HELD, HIDDEN = twin.draw("held", 250, 450), twin.draw("hidden", 200, 320)

train = TensorDataset(torch.randn(48 * twin.laps, 40), torch.randint(0, 3, (48 * twin.laps,)))
held = DataLoader(TensorDataset(torch.randn(HELD, 40), torch.randint(0, 3, (HELD,))), batch_size=50)
model = nn.Sequential(nn.Linear(40, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                      nn.Linear(HIDDEN, 3))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())


@torch.no_grad()
def validate():
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in held)
    model.train()
    return right / HELD


for x, y in DataLoader(train, batch_size=48):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
    if twin.planted:
        validate()
    twin.lap()
print(f"{validate():.2f} of the held-out rows are right")
