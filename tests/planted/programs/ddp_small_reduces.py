"""Two ranks; each gradient reduced by itself after the backward pass, or all in one bucket."""

import torch
import torch.distributed as dist
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 40, 60), twin.draw("width", 24, 40)

torch.set_num_threads(1)
dist.init_process_group("gloo")
torch.manual_seed(0)
model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(64, WIDTH)
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    grads = [p.grad for p in model.parameters()]
    if twin.planted:
        for grad in grads:
            dist.all_reduce(grad)
    else:
        flat = torch.cat([g.flatten() for g in grads])
        dist.all_reduce(flat)
        for grad, part in zip(grads, flat.split([g.numel() for g in grads]), strict=True):
            grad.copy_(part.view_as(grad))
    optimizer.step()
    twin.lap()
dist.destroy_process_group()
