"""A recurrent layer as a Python loop over time, gate by gate; nn.LSTM in the twin."""

import torch
from torch import nn
from twin import Twin

twin = Twin()
STEPS, HIDDEN = twin.draw("steps", 80, 120), twin.draw("hidden", 48, 80)


class Unrolled(nn.Module):
    def __init__(self, size, hidden):
        super().__init__()
        self.gates = nn.ModuleList(nn.Linear(size + hidden, hidden) for _ in range(4))
        self.hidden = hidden

    def forward(self, x):
        h = c = x.new_zeros(x.shape[0], self.hidden)
        out = []
        for t in range(x.shape[1]):
            both = torch.cat((x[:, t], h), 1)
            i, f, o = (torch.sigmoid(g(both)) for g in self.gates[:3])
            c = f * c + i * torch.tanh(self.gates[3](both))
            h = o * torch.tanh(c)
            out.append(h)
        return torch.stack(out, 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        rnn = Unrolled(16, HIDDEN) if twin.planted else nn.LSTM(16, HIDDEN, batch_first=True)
        self.rnn, self.head = rnn, nn.Linear(HIDDEN, 1)

    def forward(self, x):
        out = self.rnn(x)
        return self.head(out if torch.is_tensor(out) else out[0])


model = Model()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(16, STEPS, 16)
for _ in range(twin.laps):
    optimizer.zero_grad()
    model(x).square().mean().backward()
    optimizer.step()
    twin.lap()
