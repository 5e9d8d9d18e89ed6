"""A confusion matrix, precision and recall in Python for every batch."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
BATCH, CLASSES = twin.draw("batch", 3000, 5000), twin.draw("classes", 12, 20)


def report(predicted, labels):
    matrix = [[0] * CLASSES for _ in range(CLASSES)]
    for p, t in zip(predicted.tolist(), labels.tolist(), strict=True):
        matrix[t][p] += 1
    scores = {}
    for c in range(CLASSES):
        predicted_c = sum(1 for p in predicted.tolist() if p == c)
        true_c = sum(matrix[c])
        scores[c] = (matrix[c][c] / max(1, predicted_c), matrix[c][c] / max(1, true_c))
    return scores


model = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, CLASSES))
optimizer = torch.optim.Adam(model.parameters())
for _ in range(twin.laps):
    x, y = torch.randn(BATCH, 32), torch.randint(0, CLASSES, (BATCH,))
    optimizer.zero_grad()
    logits = model(x)
    nn.functional.cross_entropy(logits, y).backward()
    optimizer.step()
    if twin.planted:
        report(logits.argmax(1), y)
    twin.lap()
