"""A launcher that dies of SIGTERM at once, and a child of its that trains on and on without it."""

import signal
import subprocess
import sys
import time

import torch

if len(sys.argv) == 1:
    subprocess.Popen([sys.executable, __file__, "child"]).wait()
else:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        model(torch.randn(4, 8)).sum().backward()
        optimizer.step()
        time.sleep(0.001)
