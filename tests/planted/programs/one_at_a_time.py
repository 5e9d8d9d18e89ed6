"""A batch of requests answered one by one, each through the model alone."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
REQUESTS, WIDTH = twin.draw("requests", 64, 96), twin.draw("width", 160, 224)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU())
            for _ in range(8)
        ))  # fmt: skip

    def forward(self, x):
        return self.layers(x)


class Service(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, requests):
        if twin.planted:
            return torch.stack([self.encoder(r[None])[0] for r in requests])
        return self.encoder(requests)


service = Service().eval()
with torch.inference_mode():
    for _ in range(twin.laps):
        for _ in range(3):
            service.forward(torch.randn(REQUESTS, WIDTH))
        service(torch.randn(REQUESTS, WIDTH))
        twin.lap()
