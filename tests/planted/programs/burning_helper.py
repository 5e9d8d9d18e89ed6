"""The program's own helper process polls without a pause and takes the workers' cores."""

import multiprocessing
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
ROUNDS, HIDDEN = twin.draw("rounds", 20, 40), twin.draw("hidden", 200, 300)


def watch(parent):
    while os.getppid() == parent:
        sum(i * i for i in range(1000))


class Items(Dataset):
    def __len__(self):
        return 16 * (twin.laps + 8)

    def __getitem__(self, i):
        x = torch.full((64,), float(i % 5))
        for _ in range(ROUNDS):
            x = (x * 1.01).tanh() + 0.1
        return x


if __name__ == "__main__":
    if twin.planted:
        for _ in range(3):
            helper = multiprocessing.get_context("fork").Process(
                target=watch, args=(os.getpid(),), daemon=True
            )
            helper.start()
    model = nn.Sequential(nn.Linear(64, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                          nn.Linear(HIDDEN, 1))  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters())
    for step, x in enumerate(DataLoader(Items(), batch_size=16, num_workers=2)):
        for _ in range(4):
            optimizer.zero_grad()
            model(x).square().mean().backward()
        optimizer.step()
        twin.lap()
        if step + 1 == twin.laps:
            break
