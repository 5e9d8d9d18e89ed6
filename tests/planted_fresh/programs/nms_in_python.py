"""Detector inference with non-maximum suppression as a Python loop over tensor elements."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
BOXES = clock.draw("boxes", 40, 60)
SIDE = clock.draw("side", 96, 128)


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def nms_loop(boxes, scores):
    keep = []
    for i in scores.argsort(descending=True):
        if all(iou(boxes[i], boxes[j]) < 0.5 for j in keep):
            keep.append(i)
    return torch.stack(keep)


def nms_matrix(boxes, scores):
    boxes = boxes[scores.argsort(descending=True)]
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    both = (high - low).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
    over = both / (area[:, None] + area[None] - both)
    return (over.triu(1).amax(0) < 0.5).nonzero().squeeze(1)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 24, 3, stride=2), nn.ReLU(), nn.Conv2d(24, 32, 3), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4), nn.Flatten(),
        )  # fmt: skip
        self.head = nn.Linear(512, BOXES * 5)

    def forward(self, images):
        out = self.head(self.body(images)).view(-1, BOXES, 5).sigmoid()
        corner = out[..., :2]
        return torch.cat([corner, corner + 0.1 + out[..., 2:4]], -1), out[..., 4]


model, nms = Detector().eval(), nms_matrix if clock.clean else nms_loop
with torch.inference_mode():
    for _ in range(clock.laps):
        boxes, scores = model(torch.rand(8, 3, SIDE, SIDE))
        kept = [nms(b, s) for b, s in zip(boxes, scores, strict=True)]
        clock.lap()
