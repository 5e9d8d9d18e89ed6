"""Image classifier; each item is augmented in Python, in the training process."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from twin import Twin

twin = Twin()
SIDE, BATCH = twin.draw("side", 24, 40), twin.draw("batch", 16, 32)
ROUNDS = twin.draw("rounds", 4, 8)


class Images(Dataset):
    def __init__(self, count, augment):
        self.images = torch.rand(count, 3, SIDE, SIDE)
        self.labels = torch.randint(0, 10, (count,))
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = self.images[i]
        if self.augment:
            for _ in range(ROUNDS):
                image = torch.roll(image.flip(-1), shifts=(1, 2), dims=(1, 2))
                image = (image - image.mean()) / (image.std() + 1e-5)
                image = image.clamp(-3, 3) + 0.01 * torch.randn_like(image)
        return image, self.labels[i]


model = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(),
    nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
data = Images(BATCH * twin.laps, augment=twin.planted)
for images, labels in DataLoader(data, batch_size=BATCH, shuffle=True):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
    twin.lap()
