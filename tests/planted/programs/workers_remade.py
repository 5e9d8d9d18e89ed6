"""Short epochs: the loader starts its workers at each of them, or keeps them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from twin import Twin

twin = Twin()
BATCHES, WORKERS = twin.draw("batches", 2, 4), twin.draw("workers", 2, 3)
HIDDEN = twin.draw("hidden", 700, 1000)

if __name__ == "__main__":
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(64 * BATCHES, 256), torch.randint(0, 4, (64 * BATCHES,)))
    loader = DataLoader(data, batch_size=64, shuffle=True, num_workers=WORKERS,
                        persistent_workers=not twin.planted)  # fmt: skip
    model = nn.Sequential(nn.Linear(256, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(),
                          nn.Linear(HIDDEN, 4))  # fmt: skip
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-4)
    for epoch in range(-(-twin.laps // BATCHES)):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += float(loss)
            twin.lap()
        print(f"epoch {epoch}: {total / BATCHES:.4f}")
