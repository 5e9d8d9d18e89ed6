"""Inference that pads each request into a freshly allocated buffer of the largest size."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
SIDE = 32 * clock.draw("side_32", 12, 15)
BATCH = clock.draw("batch", 24, 32)

model = nn.Sequential(
    nn.AvgPool2d(16), nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(16, 10),
).eval()  # fmt: skip
images = [torch.rand(3, SIDE - 8 * (i % 8), SIDE - 8 * (i % 5)) for i in range(BATCH)]
kept = torch.zeros(BATCH, 3, SIDE, SIDE)
with torch.inference_mode():
    for _ in range(clock.laps):
        padded = kept if clock.clean else torch.zeros(BATCH, 3, SIDE, SIDE)
        for i, image in enumerate(images):
            padded[i, :, : image.shape[1], : image.shape[2]] = image
        top = model(padded).argmax(1).tolist()
        del padded
        clock.lap()
