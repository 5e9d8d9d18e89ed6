"""Training with hooks that look for NaN in each output, and a check of each gradient."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
LAYERS = clock.draw("layers", 16, 28)
WIDTH = clock.draw("width", 96, 160)


def look(module, _, output):
    if torch.isnan(output).any() or torch.isinf(output).any():
        raise FloatingPointError(f"not finite after {module}")


model = nn.Sequential(
    *(m for _ in range(LAYERS) for m in (nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU()))
)
if not clock.clean:
    for module in model:
        module.register_forward_hook(look)
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
for _ in range(clock.laps):
    x = torch.randn(64, WIDTH)
    loss = nn.functional.mse_loss(model(x), x)
    optimizer.zero_grad()
    loss.backward()
    if not clock.clean:
        for name, p in model.named_parameters():
            if not torch.isfinite(p.grad).all() or not torch.isfinite(p).all():
                raise FloatingPointError(name)
    optimizer.step()
    clock.lap()
