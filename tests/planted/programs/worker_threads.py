"""Each loader worker sets its own pool of threads, far above the cores."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
THREADS, SIDE = twin.draw("threads", 8, 12), twin.draw("side", 220, 320)


class Frames(Dataset):
    def __len__(self):
        return 8 * (twin.laps + 8)

    def __getitem__(self, i):
        frame = torch.full((3, SIDE, SIDE), float(i % 11))
        for _ in range(2):
            frame = frame.mul(0.9).add(0.1).sqrt()
        return frame.mean(dim=2)


def start(_):
    torch.set_num_threads(THREADS)


if __name__ == "__main__":
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * SIDE, 256), nn.ReLU(), nn.Linear(256, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    loader = DataLoader(Frames(), batch_size=8, num_workers=4 if twin.planted else 1,
                        worker_init_fn=start if twin.planted else None)  # fmt: skip
    for step, x in enumerate(loader):
        for _ in range(3):
            optimizer.zero_grad()
            model(x).square().mean().backward()
        optimizer.step()
        twin.lap()
        if step + 1 == twin.laps:
            break
