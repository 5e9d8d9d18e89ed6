"""A loader whose items wait for a network; one worker, or enough of them."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
BATCH, WAIT_MS = twin.draw("batch", 10, 16), twin.draw("wait_ms", 4.0, 7.0)
HIDDEN = twin.draw("hidden", 900, 1200)


class Features(Dataset):
    def __len__(self):
        return BATCH * (twin.laps + 4)

    def __getitem__(self, i):
        time.sleep(WAIT_MS / 1000)
        return torch.full((512,), float(i % 7)), i % 7


if __name__ == "__main__":
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(512, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(),
                          nn.Linear(HIDDEN, 7))  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters())
    workers = 1 if twin.planted else 6
    loader = DataLoader(Features(), batch_size=BATCH, num_workers=workers, prefetch_factor=4)
    for step, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x.repeat(16, 1)), y.repeat(16)).backward()
        optimizer.step()
        twin.lap()
        if step + 1 == twin.laps:
            break
