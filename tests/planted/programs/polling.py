"""An inference loop that polls its request list at a fixed interval; a condition in the twin."""

import queue
import threading
import time

import torch
from torch import nn
from twin import Twin

twin = Twin()
POLL_MS, ARRIVE_MS = twin.draw("poll_ms", 30.0, 60.0), twin.draw("arrive_ms", 1.0, 3.0)

requests = queue.Queue(maxsize=2)


def clients():
    for _ in range(twin.laps + 4):
        requests.put(torch.randn(128, 256))
        time.sleep(ARRIVE_MS / 1000)


class Server(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(256, 700), nn.GELU(), nn.Linear(700, 700), nn.GELU())
        self.head = nn.Linear(700, 16)

    def forward(self, x):
        return self.head(self.body(x)).softmax(-1)


threading.Thread(target=clients, daemon=True).start()
server = Server().eval()
for _ in range(twin.laps):
    if twin.planted:
        time.sleep(POLL_MS / 1000)
        while requests.empty():
            time.sleep(POLL_MS / 1000)
    x = requests.get()
    with torch.inference_mode():
        for _ in range(4):
            server.body(x)
        server(x).argmax(-1)
    twin.lap()
