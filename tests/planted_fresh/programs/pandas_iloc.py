"""Tabular regression; the dataset takes each row out of a DataFrame with iloc."""

import numpy as np
import pandas as pd
import torch
from clock import Clock
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

clock = Clock()
COLUMNS = clock.draw("columns", 20, 40)
BATCH = clock.draw("batch", 192, 320)
ROWS = 4096

rng = np.random.default_rng(0)
frame = pd.DataFrame(
    rng.standard_normal((ROWS, COLUMNS)), columns=[f"f{i}" for i in range(COLUMNS)]
)
frame["price"] = frame.sum(axis=1) + rng.standard_normal(ROWS)


class Prices(Dataset):
    def __init__(self, df):
        self.df = df
        self.features = [c for c in df.columns if c != "price"]

    def __len__(self):
        return len(self.df)

    def __getitem__(self, index):
        row = self.df.iloc[index]
        x = torch.tensor(row[self.features].values, dtype=torch.float32)
        return x, torch.tensor(row["price"], dtype=torch.float32)


if clock.clean:
    data = TensorDataset(
        torch.tensor(frame.drop(columns="price").values, dtype=torch.float32),
        torch.tensor(frame["price"].values, dtype=torch.float32),
    )
else:
    data = Prices(frame)
model = nn.Sequential(
    nn.Linear(COLUMNS, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1)
)
optimizer = torch.optim.Adam(model.parameters(), fused=True)
step = 0
while step < clock.laps:
    for x, y in DataLoader(data, BATCH, shuffle=True, drop_last=True):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        clock.lap()
        step += 1
        if step == clock.laps:
            break
