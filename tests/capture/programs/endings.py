"""A loop that ends inside the recorded window, in the way that it is told."""

import os
import signal
import sys
import time

import torch
from torch import nn

AT = 19
"""The window opens at lap 16: by then it holds three whole laps."""


def handler(number, frame):
    print("handled", number, flush=True)
    sys.exit(5)


def end(how):
    if how == "exception":
        raise ValueError("the data are broken")
    if how == "exit":
        sys.exit(3)
    if how == "os._exit":
        sys.stdout.flush()
        os._exit(4)
    if how == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
    if how in ("terminate", "terminate handled"):
        os.kill(os.getpid(), signal.SIGTERM)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "abort":
        os.abort()
    if how == "wait":
        print("waiting", flush=True)
        time.sleep(60)


def main(how, at=AT):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    if how == "terminate handled":
        signal.signal(signal.SIGTERM, handler)
    model = nn.Linear(64, 64)
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for i in range(60):
        if i == at:
            print("at", i, flush=True)
            end(how)
        opt.zero_grad()
        model(torch.randn(16, 64)).square().mean().backward()
        opt.step()
        time.sleep(0.002)
    print("to the end")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]))
