"""Rotary tables and the causal mask made anew in each layer of each step."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
LENGTH, LAYERS = twin.draw("length", 256, 384), twin.draw("layers", 3, 5)
WIDTH = 64


def tables(length):
    angle = torch.outer(torch.arange(length).double(), 10_000 ** (-torch.arange(0, WIDTH).double()))
    mask = torch.full((length, length), float("-inf"), dtype=torch.float64).triu(1)
    decay = torch.exp(-(torch.arange(length)[:, None] - torch.arange(length)).abs().double() / 64)
    return angle.cos().float(), angle.sin().float(), (mask + decay.log()).float()


KEPT = tables(LENGTH)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        cos, sin, mask = tables(x.shape[1]) if twin.planted else KEPT
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = q * cos + q.flip(-1) * sin, k * cos + k.flip(-1) * sin
        return x + self.out((q @ k.transpose(1, 2) / 8 + mask).softmax(-1) @ v)


model = nn.Sequential(*(Block() for _ in range(LAYERS)))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
x = torch.randn(1, LENGTH, WIDTH)
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
