"""Samples lie in files that are not in the page cache; the twin's are."""

import os
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
SIZE, BATCH = twin.draw("size_kb", 1500, 3000) * 1024, twin.draw("batch", 6, 10)

if __name__ == "__main__":
    place = tempfile.TemporaryDirectory(dir=os.environ.get("DATA_DIR"))
    for i in range(BATCH * 4):
        with open(Path(place.name, f"{i}.bin"), "wb") as file:
            file.write(os.urandom(SIZE))
            file.flush()
            os.fsync(file.fileno())


class Files(Dataset):
    def __len__(self):
        return BATCH * (twin.laps + 8)

    def __getitem__(self, i):
        with open(Path(place.name, f"{i % (BATCH * 4)}.bin"), "rb", buffering=0) as file:
            if twin.planted:  # what memory pressure does to a large data set
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            total = 0
            while chunk := file.read(65536):
                total += chunk[0]
        return torch.full((128,), total / 1e5)


if __name__ == "__main__":
    model = nn.Sequential(nn.Linear(128, 400), nn.ReLU(), nn.Linear(400, 400), nn.ReLU(),
                          nn.Linear(400, 1))  # fmt: skip
    optimizer = torch.optim.Adam(model.parameters())
    for step, x in enumerate(DataLoader(Files(), batch_size=BATCH, num_workers=1)):
        for _ in range(3):
            optimizer.zero_grad()
            model(x.repeat(10, 1)).square().mean().backward()
        optimizer.step()
        twin.lap()
        if step + 1 == twin.laps:
            break
