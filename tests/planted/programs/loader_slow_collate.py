"""Sentences of different lengths, padded in Python token by token, or row by row."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader
from twin import Twin

twin = Twin()
BATCH, LONGEST, VOCAB = twin.draw("batch", 96, 160), twin.draw("longest", 150, 250), 4000
random.seed(twin.seed)
sentences = [
    [random.randrange(1, VOCAB) for _ in range(random.randrange(LONGEST // 2, LONGEST))]
    for _ in range(BATCH * 4)
]


def pad_in_python(batch):
    longest = max(len(s) for s in batch)
    rows, mask = [], []
    for sentence in batch:
        row, seen = [], []
        for position in range(longest):
            token = sentence[position] if position < len(sentence) else 0
            row.append(token % VOCAB)
            seen.append(1.0 if token else 0.0)
        rows.append(row)
        mask.append(seen)
    return torch.tensor(rows), torch.tensor(mask)


def pad(batch):
    ids = nn.utils.rnn.pad_sequence(batch, batch_first=True)
    return ids, (ids > 0).float()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, 32)
        self.mix = nn.Linear(32, 64)
        self.head = nn.Linear(64, 8)

    def forward(self, ids, mask):
        hidden = torch.relu(self.mix(self.embed(ids))) * mask[..., None]
        return self.head(hidden.sum(1) / mask.sum(1, keepdim=True))


model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
data = sentences if twin.planted else [torch.tensor(s) for s in sentences]
collate = pad_in_python if twin.planted else pad
loader = DataLoader(data * (twin.laps // 4), batch_size=BATCH, collate_fn=collate)
for ids, mask in loader:
    optimizer.zero_grad()
    model(ids, mask).logsumexp(1).mean().backward()
    optimizer.step()
    twin.lap()
