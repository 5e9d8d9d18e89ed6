"""A search with many live nodes; a library has set the collector's thresholds low."""

import gc

import torch
from torch import nn
from twin import Twin

twin = Twin()
NODES, NEW = twin.draw("nodes", 60_000, 120_000), twin.draw("new", 1_500, 3_000)


class Node:
    def __init__(self, parent, prior):
        self.parent, self.prior, self.children = parent, prior, []
        if parent is not None:
            parent.children.append(self)


root = Node(None, 1.0)
tree = [root]
for i in range(NODES):
    tree.append(Node(tree[i // 4], 1.0 / (i + 1)))

if twin.planted:
    gc.set_threshold(300, 2, 1)
    gc.freeze()
    gc.unfreeze()  # what a process manager does around its forks

policy = nn.Sequential(nn.Linear(64, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(),
                       nn.Linear(800, 32))  # fmt: skip
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
for step in range(twin.laps):
    leaves = [Node(tree[(step * 31 + j) % NODES], 0.5) for j in range(NEW)]
    prior = torch.tensor([leaf.prior for leaf in leaves[:256]])
    logits = policy(prior[:, None].expand(-1, 64))
    loss = nn.functional.cross_entropy(logits, torch.arange(256) % 32)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    twin.lap()
