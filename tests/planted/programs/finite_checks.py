"""Every gradient and weight checked for NaN in every step, with distributions validated."""

import torch
from torch import nn
from torch.distributions import Categorical, Normal
from twin import Twin

twin = Twin()
LAYERS, WIDTH = twin.draw("layers", 24, 40), twin.draw("width", 64, 96)


def check(model):
    for name, p in model.named_parameters():
        if not bool(torch.isfinite(p).all()) or not bool(torch.isfinite(p.grad).all()):
            raise FloatingPointError(name)
        if float(p.grad.abs().max()) > 1e6 or float(p.abs().max()) > 1e6:
            raise FloatingPointError(name)


model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(512, WIDTH)
for _ in range(twin.laps):
    optimizer.zero_grad()
    out = model(x)
    policy = Categorical(logits=out, validate_args=twin.planted)
    value = Normal(out.mean(1), 1.0, validate_args=twin.planted)
    loss = -policy.log_prob(policy.sample()).mean() - value.log_prob(x[:, 0]).mean()
    loss.backward()
    if twin.planted:
        check(model)
    optimizer.step()
    twin.lap()
