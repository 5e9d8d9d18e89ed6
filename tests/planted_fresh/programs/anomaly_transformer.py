"""Small transformer trained with anomaly detection left on after a hunt for a NaN."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
DEPTH = clock.draw("depth", 3, 5)
WIDTH = 32 * clock.draw("heads", 2, 3)

if not clock.clean:
    torch.autograd.set_detect_anomaly(True)
embed = nn.Embedding(256, WIDTH)
layer = nn.TransformerEncoderLayer(WIDTH, WIDTH // 32, 2 * WIDTH, batch_first=True)
model = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
head = nn.Linear(WIDTH, 256)
parameters = [*embed.parameters(), *model.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-4, fused=True)
for _ in range(clock.laps):
    tokens = torch.randint(0, 256, (4, 33))
    logits = head(model(embed(tokens[:, :-1])))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    clock.lap()
