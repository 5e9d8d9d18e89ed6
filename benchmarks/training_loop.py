"""A training loop that times its own laps, for `benchmarks.capture`.

    python benchmarks/training_loop.py LAPS STEPS

``STEPS`` forward and backward passes and one step of the optimizer make a lap: 1 ms with one.
Prints one JSON object: wall and CPU nanoseconds (all threads) at the start and each lap's end.
"""

from __future__ import annotations

import json
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main(laps: int, steps: int) -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(1024, 128), torch.randint(0, 8, (1024,)))
    loader = DataLoader(data, batch_size=16, shuffle=True)
    model = nn.Sequential(*(nn.Sequential(nn.Linear(128, 128), nn.ReLU()) for _ in range(2)))
    optimizer = torch.optim.AdamW(model.parameters())
    wall, cpu = [time.perf_counter_ns()], [time.process_time_ns()]
    while len(wall) <= laps:
        for x, y in loader:
            optimizer.zero_grad()
            for _ in range(steps):
                nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            wall.append(time.perf_counter_ns())
            cpu.append(time.process_time_ns())
            if len(wall) > laps:
                break
    print(json.dumps({"wall_ns": wall, "cpu_ns": cpu}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
