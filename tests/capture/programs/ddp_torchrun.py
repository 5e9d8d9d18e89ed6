"""Data-parallel training on two ranks over gloo, for torchrun."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def train():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = TensorDataset(torch.randn(640, 32), torch.randint(0, 4, (640,)))
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        opt.step()
    if dist.get_rank() == 0:
        print("steps", len(loader))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    assert int(os.environ["WORLD_SIZE"]) == dist.get_world_size()
    train()
    dist.destroy_process_group()
