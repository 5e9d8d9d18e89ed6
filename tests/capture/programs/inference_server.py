"""A server's loop: requests come by a queue from another thread, are batched and answered."""

import queue
import threading
import time

import torch
from torch import nn


def clients(requests, n):
    for i in range(n):
        requests.put(torch.full((16,), float(i % 7)))
        time.sleep(0.002)
    requests.put(None)


@torch.inference_mode()
def serve(model, requests):
    answered = 0
    over = False
    while not over:
        batch = [requests.get()]
        while len(batch) < 4 and not requests.empty():
            batch.append(requests.get())
        if batch[-1] is None:
            over = True
            batch.pop()
        if batch:
            logits = model(torch.stack(batch))
            answered += len(logits.argmax(-1).tolist())
    return answered


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 10)).eval()
    todo = queue.Queue()
    thread = threading.Thread(target=clients, args=(todo, 300))
    thread.start()
    print("answered", serve(net, todo))
    thread.join()
