"""Two ranks; a metric logger synchronises each of its meters on its own in every step."""

import torch
import torch.distributed as dist
from clock import Clock
from torch import nn

clock = Clock()
METERS = clock.draw("meters", 30, 50)
WIDTH = clock.draw("width", 256, 384)


class Meter:
    def __init__(self):
        self.count, self.total = 0, 0.0

    def update(self, value):
        self.count, self.total = self.count + 1, self.total + value

    def synchronize(self):
        pair = torch.tensor([self.count, self.total], dtype=torch.float64)
        dist.barrier()
        dist.all_reduce(pair)
        return pair[1].item() / pair[0].item()


torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(WIDTH, 512), nn.ReLU(), nn.Linear(512, METERS))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
meters = [Meter() for _ in range(METERS)]
for step in range(clock.laps):
    losses = model(torch.randn(256, WIDTH)).square().mean(0)
    optimizer.zero_grad()
    losses.sum().backward()
    optimizer.step()
    if not clock.clean or step % 100 == 99:
        for meter, value in zip(meters, losses.tolist(), strict=True):
            meter.update(value)
        means = [meter.synchronize() for meter in meters]
    clock.lap()
dist.destroy_process_group()
