"""Two ranks; the second has longer sequences, and the first waits for it in every step."""

import torch
import torch.distributed as dist
from torch import nn
from twin import Twin

twin = Twin()
LENGTH, TIMES = twin.draw("length", 24, 36), twin.draw("times", 3, 5)

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
body = nn.TransformerEncoderLayer(64, 4, dim_feedforward=128, batch_first=True)
model = nn.parallel.DistributedDataParallel(body)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
length = LENGTH * TIMES if twin.planted and dist.get_rank() == 1 else LENGTH
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(torch.randn(8, length, 64)).square().mean().backward()
    optimizer.step()
    twin.lap()
dist.destroy_process_group()
