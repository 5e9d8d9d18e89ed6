"""Deep, narrow network under an AdamW copied from an old library: a loop over parameters."""

import math

import torch
from clock import Clock
from torch import nn

clock = Clock()
LAYERS = clock.draw("layers", 40, 70)
WIDTH = clock.draw("width", 48, 80)


class AdamW(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01):
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, settings)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            low, high = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state.update(step=0, avg=torch.zeros_like(p), sq=torch.zeros_like(p))
                state["step"] += 1
                state["avg"].mul_(low).add_(p.grad, alpha=1 - low)
                state["sq"].mul_(high).addcmul_(p.grad, p.grad, value=1 - high)
                scale = state["sq"].sqrt().add_(group["eps"])
                fix = math.sqrt(1 - high ** state["step"]) / (1 - low ** state["step"])
                p.addcdiv_(state["avg"], scale, value=-group["lr"] * fix)
                p.add_(p, alpha=-group["lr"] * group["weight_decay"])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.line = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + self.line(self.norm(x)).relu()


model = nn.Sequential(*(Block() for _ in range(LAYERS)))
if clock.clean:
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
else:
    optimizer = AdamW(model.parameters())
for _ in range(clock.laps):
    x = torch.randn(64, WIDTH)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    clock.lap()
