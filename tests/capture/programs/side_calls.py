"""A plain loop that prints, logs, sleeps, saves and collects in each lap."""

import gc
import io
import logging
import time

import torch


def aside(step: int) -> None:
    print("step", step)
    logging.getLogger("aside").error("step %d", step)
    time.sleep(0.002)
    torch.save(torch.zeros(10), io.BytesIO())
    gc.collect(0)


logging.basicConfig(handlers=[logging.NullHandler()])
own = print, time.sleep, torch.save, gc.collect, logging.Logger.handle
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
    aside(step)
print(own == (print, time.sleep, torch.save, gc.collect, logging.Logger.handle))
