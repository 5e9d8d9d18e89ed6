"""Chat model that encodes the whole conversation again in each turn."""

import torch
from clock import Clock
from torch import nn

clock = Clock()
TURN = clock.draw("tokens_a_turn", 20, 32)
WIDTH = 64 * clock.draw("heads", 2, 3)


class Chat(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, WIDTH // 64, 4 * WIDTH, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 1000)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.body(self.embed(tokens), mask=mask, is_causal=True)[:, -1])


model = Chat().eval()
history = torch.randint(0, 1000, (1, 64))
with torch.inference_mode():
    for _ in range(clock.laps):
        history = torch.cat([history, torch.randint(0, 1000, (1, TURN - 1))], 1)
        if clock.clean:
            history = history[:, -64:]
        answer = model(history).argmax(-1, keepdim=True)
        history = torch.cat([history, answer], 1)
        clock.lap()
