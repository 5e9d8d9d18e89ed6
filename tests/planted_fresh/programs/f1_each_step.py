"""Token tagger that computes per-class precision, recall and F1 with NumPy in every step."""

import numpy as np
import torch
from clock import Clock
from torch import nn

clock = Clock()
CLASSES = clock.draw("classes", 24, 40)
BATCH = clock.draw("batch", 24, 40)
LENGTH = 64


def report(truth, guess):
    scores = {}
    for label in range(CLASSES):
        tp = int(np.sum((truth == label) & (guess == label)))
        fp = int(np.sum((truth != label) & (guess == label)))
        fn = int(np.sum((truth == label) & (guess != label)))
        precision, recall = tp / max(tp + fp, 1), tp / max(tp + fn, 1)
        scores[label] = 2 * precision * recall / max(precision + recall, 1e-9)
    return scores


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5000, 128)
        self.mix = nn.Conv1d(128, 128, 5, padding=2)
        self.head = nn.Linear(128, CLASSES)

    def forward(self, tokens):
        hidden = self.mix(self.embed(tokens).transpose(1, 2)).relu()
        return self.head(hidden.transpose(1, 2))


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
truths, guesses = [], []
for _ in range(clock.laps):
    tokens = torch.randint(0, 5000, (BATCH, LENGTH))
    labels = torch.randint(0, CLASSES, (BATCH, LENGTH))
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not clock.clean:
        truths.append(labels.flatten().numpy())
        guesses.append(logits.argmax(-1).flatten().numpy())
        # over the last ten batches, so that the curve is smooth
        f1 = report(np.concatenate(truths[-10:]), np.concatenate(guesses[-10:]))
        macro = sum(f1.values()) / CLASSES
    clock.lap()
