"""Non-maximum suppression in NumPy, box by box, after each batch of inference."""

import numpy as np
import torch
from torch import nn
from twin import Twin

twin = Twin()
IMAGES, BOXES = twin.draw("images", 4, 8), twin.draw("boxes", 250, 400)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(3, 12, 3, stride=2), nn.ReLU(),
                                   nn.Conv2d(12, 12, 3, padding=1), nn.ReLU(),
                                   nn.AdaptiveAvgPool2d(6), nn.Flatten())  # fmt: skip
        self.head = nn.Linear(432, BOXES * 5)

    def forward(self, x):
        return self.head(self.trunk(x)).sigmoid().view(-1, BOXES, 5)


def suppress(boxes, threshold=0.5):
    order, kept = list(np.argsort(-boxes[:, 4])), []
    while order:
        best = order.pop(0)
        kept.append(best)
        left = []
        for other in order:
            distance = np.abs(boxes[best, :4] - boxes[other, :4]).sum()
            if distance > threshold:
                left.append(other)
        order = left
    return kept


model = Detector().eval()
for _ in range(twin.laps):
    with torch.inference_mode():
        found = model(torch.rand(IMAGES, 3, 224, 224))
    if twin.planted:
        boxes = found.numpy()
        count = sum(len(suppress(b[:150])) for b in boxes)
    else:
        count = int((found[..., 4] > 0.5).sum())
    twin.lap()
print(count, "boxes in the last batch")
