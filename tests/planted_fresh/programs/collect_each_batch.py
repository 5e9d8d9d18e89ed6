"""Language model training that calls gc.collect in every batch, against a leak that once was."""

import gc

import torch
from clock import Clock
from torch import nn

clock = Clock()
RECORDS = 10_000 * clock.draw("records_10k", 15, 30)
BATCH = clock.draw("batch", 12, 20)

corpus = [{"id": i, "tokens": [i % 97, i % 89, i % 83], "meta": {"n": i}} for i in range(RECORDS)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        self.rnn = nn.GRU(128, 128, batch_first=True)
        self.head = nn.Linear(128, 1000)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(clock.laps):
    tokens = torch.randint(0, 1000, (BATCH, 33))
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    del logits, loss
    if not clock.clean:
        gc.collect()
    clock.lap()
