"""Fine-tuning on a tiny set: epochs of a few steps, each of which starts the workers anew."""

import torch
from clock import Clock
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

clock = Clock()
STEPS = clock.draw("steps_an_epoch", 3, 5)
WIDTH = clock.draw("width", 512, 768)


def main():
    data = TensorDataset(torch.randn(64 * STEPS, WIDTH), torch.randint(0, 10, (64 * STEPS,)))
    model = nn.Sequential(nn.Linear(WIDTH, 2048), nn.ReLU(), nn.Linear(2048, 10))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    loader = DataLoader(data, 64, shuffle=True, num_workers=2, persistent_workers=clock.clean)
    step = 0
    while step < clock.laps:
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step < clock.laps:
                clock.lap()
            step += 1


if __name__ == "__main__":
    main()
