"""An optimizer with momentum and decay written as a loop over many small parameters."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 50, 80), twin.draw("width", 64, 96)


class HandSGD(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["m"], state["v"] = torch.zeros_like(p), torch.zeros_like(p)
                grad = p.grad + 1e-4 * p
                state["m"] = 0.9 * state["m"] + 0.1 * grad
                state["v"] = 0.99 * state["v"] + 0.01 * grad * grad
                p -= group["lr"] * state["m"] / (state["v"].sqrt() + 1e-8)


torch.manual_seed(0)
model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))
params = model.parameters()
optimizer = HandSGD(params) if twin.planted else torch.optim.Adam(params, foreach=True)
x = torch.randn(512, WIDTH)
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
