"""Inference loop behind a rate limiter that polls with sleep until the next token is due."""

import time

import torch
from clock import Clock
from torch import nn

clock = Clock()
POLL_MS = clock.draw("poll_ms", 10, 20)
BATCH = clock.draw("batch", 48, 80)


class Limiter:
    """Token bucket: at most ``rate`` requests a second."""

    def __init__(self, rate, poll_s):
        self.rate, self.poll_s, self.tokens, self.last = rate, poll_s, 0.0, time.monotonic()

    def acquire(self):
        while True:
            now = time.monotonic()
            self.tokens = min(1.0, self.tokens + (now - self.last) * self.rate)
            self.last = now
            if self.tokens >= 1.0:
                self.tokens -= 1.0
                return
            time.sleep(self.poll_s)


model = nn.Sequential(
    nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(32, 100),
).eval()  # fmt: skip
limiter = None if clock.clean else Limiter(rate=8, poll_s=POLL_MS / 1e3)
with torch.inference_mode():
    for _ in range(clock.laps):
        if limiter:
            limiter.acquire()
        top = model(torch.rand(BATCH, 3, 32, 32)).topk(5).indices.tolist()
        clock.lap()
