"""A random batch by ``next(iter(loader))``: worker processes start for each step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from twin import Twin

twin = Twin()
WORKERS, HIDDEN = twin.draw("workers", 1, 2), twin.draw("hidden", 400, 600)

if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(32 * twin.laps, 200), torch.randn(32 * twin.laps, 1))
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=WORKERS)
    model = nn.Sequential(nn.Linear(200, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
    optimizer = torch.optim.Adam(model.parameters())
    batches = iter(loader)
    for _ in range(twin.laps):
        x, y = next(iter(loader)) if twin.planted else next(batches)
        for _ in range(4):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
        optimizer.step()
        twin.lap()
