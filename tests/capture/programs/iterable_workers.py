"""A stream of records read by two worker processes, shared out by worker."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Records(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, self.n, step):
            rng = random.Random(i)
            yield torch.tensor([rng.random() for _ in range(32)]), float(i % 2)


def collate(rows):
    return torch.stack([r[0] for r in rows]), torch.tensor([r[1] for r in rows])


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    loader = DataLoader(Records(960), batch_size=16, num_workers=2, collate_fn=collate)
    model = nn.Sequential(nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    seen = 0
    for x, y in loader:
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(x)
    print("saw", seen)


if __name__ == "__main__":
    main()
