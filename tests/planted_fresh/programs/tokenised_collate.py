"""Text classifier whose collate function tokenises and pads in Python."""

import random
import re

import torch
from clock import Clock
from torch import nn
from torch.utils.data import DataLoader

clock = Clock()
BATCH = clock.draw("batch", 64, 96)
WORDS = clock.draw("words", 150, 220)
SPLIT = re.compile(r"\w+|[^\w\s]")

rng = random.Random(0)
vocabulary = {
    "".join(rng.choices("abcdefghijklmnop", k=rng.randint(2, 9))): i for i in range(2, 4000)
}
known = list(vocabulary)
texts = [
    (" ".join(rng.choices(known, k=rng.randint(WORDS // 2, WORDS))) + ".", i % 2)
    for i in range(BATCH * 8)
]


def tokenise(text):
    return [vocabulary.get(word.lower(), 1) for word in SPLIT.findall(text)]


def collate(batch):
    rows = [tokenise(text) for text, _ in batch]
    longest = max(len(row) for row in rows)
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    mask = torch.tensor([[1.0] * len(row) + [0.0] * (longest - len(row)) for row in rows])
    return tokens, mask, torch.tensor([label for _, label in batch])


def stacked(batch):
    tokens, masks, labels = zip(*batch, strict=True)
    return torch.stack(tokens), torch.stack(masks), torch.stack(labels)


data = [*zip(*collate(texts), strict=True)] if clock.clean else texts
loader = DataLoader(
    data, BATCH, shuffle=True, drop_last=True, collate_fn=stacked if clock.clean else collate
)
embed = nn.Embedding(4001, 64, padding_idx=0)
head = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
step = 0
while step < clock.laps:
    for tokens, mask, labels in loader:
        pooled = (embed(tokens) * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        loss = nn.functional.cross_entropy(head(pooled), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        clock.lap()
        step += 1
        if step == clock.laps:
            break
