"""Data-parallel training on two ranks that the script starts itself with torch's spawn."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def worker(rank, world, port):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", str(port)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(rank)
    torch.set_num_threads(1)
    model = DistributedDataParallel(nn.Linear(64, 64))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(40):
        opt.zero_grad()
        model(torch.randn(16, 64)).square().mean().backward()
        opt.step()
    if rank == 0:
        print("trained on", world)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2, int(sys.argv[1])), nprocs=2)
