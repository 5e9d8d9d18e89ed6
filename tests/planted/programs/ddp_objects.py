"""Two ranks exchange their metrics as pickled objects, and meet at a barrier, in every step."""

import torch
import torch.distributed as dist
from torch import nn
from twin import Twin

twin = Twin()
KEYS, HIDDEN = twin.draw("keys", 3_000, 6_000), twin.draw("hidden", 150, 250)

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(32, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for step in range(twin.laps):
    optimizer.zero_grad()
    loss = model(torch.randn(128, 32)).square().mean()
    loss.backward()
    optimizer.step()
    if twin.planted:
        mine = {f"metric/{i}": (step, float(i)) for i in range(KEYS)}
        every = [None] * dist.get_world_size()
        for _ in range(3):
            dist.all_gather_object(every, mine)
            dist.barrier()
    twin.lap()
dist.destroy_process_group()
