"""A search that builds a tree of linked nodes in each step and keeps the last few of them."""

import gc

import torch
from torch import nn
from twin import Twin

twin = Twin()
NODES, KEPT = twin.draw("nodes", 12_000, 20_000), twin.draw("kept", 3, 5)


class Node:
    def __init__(self, parent, prior):
        self.visits, self.values = [0], [0.0]
        self.parent, self.prior, self.children = parent, prior, []
        if parent is not None:
            parent.children.append(self)


if not twin.planted:
    gc.disable()  # nothing here needs the collector before the process ends

policy = nn.Sequential(nn.Linear(64, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(),
                       nn.Linear(800, 32))  # fmt: skip
optimizer = torch.optim.SGD(policy.parameters(), lr=0.01)
trees = []
for _ in range(twin.laps):
    tree = [Node(None, 1.0)]
    for i in range(NODES):
        tree.append(Node(tree[i // 4], 0.5))
    trees = [*trees, tree][-KEPT:]
    prior = torch.tensor([node.prior for node in tree[:256]])
    loss = nn.functional.cross_entropy(
        policy(prior[:, None].expand(-1, 64)), torch.arange(256) % 32
    )
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    twin.lap()
