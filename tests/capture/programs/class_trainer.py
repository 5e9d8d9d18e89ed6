"""A trainer class: gradient accumulation, clipping, a schedule, validation after each epoch."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Synthetic(Dataset):
    def __init__(self, n):
        generator = torch.Generator().manual_seed(1)
        self.x = torch.randn(n, 24, generator=generator)
        self.y = (self.x.sum(1) > 0).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return {"features": self.x[i], "label": self.y[i]}


class Trainer:
    def __init__(self, args):
        torch.manual_seed(0)
        self.args = args
        train, val = random_split(Synthetic(800), [640, 160])
        self.train_loader = DataLoader(train, batch_size=8, shuffle=True, drop_last=True)
        self.val_loader = DataLoader(val, batch_size=32)
        self.model = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Dropout(0.1), nn.Linear(48, 2))
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=200)
        self.loss = nn.CrossEntropyLoss()

    def fit(self):
        self.validate(-1)
        for epoch in range(self.args.epochs):
            self.model.train()
            for i, batch in enumerate(self.train_loader):
                loss = self.loss(self.model(batch["features"]), batch["label"])
                (loss / self.args.accumulate).backward()
                if (i + 1) % self.args.accumulate == 0:
                    nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                    self.opt.step()
                    self.sched.step()
                    self.opt.zero_grad(set_to_none=True)
            self.validate(epoch)

    @torch.no_grad()
    def validate(self, epoch):
        self.model.eval()
        right = sum(
            (self.model(b["features"]).argmax(1) == b["label"]).sum().item()
            for b in self.val_loader
        )
        print(f"epoch {epoch}: {right} of 160 right")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--accumulate", type=int, default=2)
    torch.set_num_threads(1)
    Trainer(parser.parse_args()).fit()
