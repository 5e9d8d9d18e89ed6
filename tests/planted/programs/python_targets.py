"""Detection targets matched box by box in Python, or as one tensor expression."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
ANCHORS, BOXES = twin.draw("anchors", 2500, 4500), twin.draw("boxes", 6, 10)

torch.manual_seed(twin.seed)
low = torch.rand(ANCHORS, 2)
anchors = torch.cat((low, low + 0.2), 1)


def overlap(a, b):
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def match_in_python(boxes):
    listed = boxes.tolist()
    return torch.tensor([max(overlap(a, b) for b in listed) for a in anchors.tolist()])


def match(boxes):
    corner = torch.minimum(anchors[:, None, 2:], boxes[None, :, 2:])
    size = (corner - torch.maximum(anchors[:, None, :2], boxes[None, :, :2])).clamp(min=0)
    both, area = size.prod(-1), lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return (both / (area(anchors)[:, None] + area(boxes)[None] - both)).amax(1)


model = nn.Sequential(nn.Linear(4, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                      nn.Linear(256, 1))  # fmt: skip
optimizer = torch.optim.Adam(model.parameters())
for _ in range(twin.laps):
    corner = torch.rand(BOXES, 2) * 0.8
    boxes = torch.cat((corner, corner + 0.2), 1)
    target = match_in_python(boxes) if twin.planted else match(boxes)
    optimizer.zero_grad()
    nn.functional.mse_loss(model(anchors).squeeze(1), target).backward()
    optimizer.step()
    twin.lap()
