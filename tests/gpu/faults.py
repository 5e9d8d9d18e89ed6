"""Faults to plant on a real device, each with its clean twin, and the findings that count as right.

A fault is a function ``build(planted, device, scale)`` that gives the step to run in each lap.
``scale`` 1 is for a data-centre GPU; tests run them on the CPU at a small one. Only torch and the
standard library are needed. What is accepted was written before any of them was run on a device.
"""

from __future__ import annotations

import gc
import io
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Step = Callable[[int], object]
Build = Callable[[bool, torch.device, float], Step]


@dataclass(frozen=True)
class Fault:
    """A fault: the ids of findings that are right at first place, in order of priority."""

    name: str
    accepted: frozenset[str]
    build: Build
    cuda_only: bool = False


FAULTS: list[Fault] = []


def _fault(*accepted: str, cuda_only: bool = False) -> Callable[[Build], Build]:
    def register(build: Build) -> Build:
        FAULTS.append(Fault(build.__name__, frozenset(accepted), build, cuda_only))
        return build

    return register


def _side(of: int, scale: float, least: int = 16) -> int:
    """A length, scaled, a multiple of 8."""
    return max(least, int(of * scale) // 8 * 8)


def _trained(layers: nn.Module, device: torch.device, inputs: Tensor) -> Step:
    """A training step of the layers on inputs that are on the device."""
    model = layers.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def step(lap: int) -> None:
        optimizer.zero_grad()
        model(inputs).float().square().mean().backward()
        optimizer.step()

    return step


def _perceptron(width: int, depth: int) -> nn.Sequential:
    return nn.Sequential(*(m for _ in range(depth) for m in (nn.Linear(width, width), nn.ReLU())))


@_fault("host-sync")
def synchronises_each_operator(planted: bool, device: torch.device, scale: float) -> Step:
    """``.item()`` after each of many small operators."""
    a = torch.randn(_side(512, scale), _side(512, scale), device=device) / 32

    def step(lap: int) -> float:
        x, seen = a, 0.0
        for _ in range(200):
            x = torch.tanh(x @ a)
            if planted:
                seen += x[0, 0].item()
        return seen

    return step


@_fault("launch-bound", "many-tiny-kernels", "unfused-elementwise")
def many_tiny_operators(planted: bool, device: torch.device, scale: float) -> Step:
    """A thousand operators on a few numbers each; clean: the same numbers at once."""
    rows = 1000
    x = torch.randn(rows, 256, device=device)

    def step(lap: int) -> Tensor:
        if planted:
            return torch.stack([torch.tanh(row * 1.01) for row in x])
        return torch.tanh(x * 1.01)

    return step


@_fault("pageable-copies")
def copies_from_pageable_memory(planted: bool, device: torch.device, scale: float) -> Step:
    """A large batch copied from pageable memory in each lap; clean: from pinned, ahead."""
    width = _side(4096, scale)
    host = torch.randn(width, width)
    weight = torch.randn(width, width, device=device)
    ahead = host.pin_memory() if device.type == "cuda" else host
    side = torch.cuda.Stream() if device.type == "cuda" else None

    def step(lap: int) -> Tensor:
        if planted or side is None:
            return host.to(device) @ weight
        with torch.cuda.stream(side):
            x = ahead.to(device, non_blocking=True)
        y = weight @ weight
        torch.cuda.current_stream().wait_stream(side)
        x.record_stream(torch.cuda.current_stream())
        return x @ y

    return step


@_fault("exposed-copies")
def copies_before_work(planted: bool, device: torch.device, scale: float) -> Step:
    """A pinned batch copied on the computing stream; clean: the batch stays on the device."""
    width = _side(8192, scale)
    host = torch.randn(width, width)
    host = host.pin_memory() if device.type == "cuda" else host
    here = host.to(device)
    weight = torch.randn(width, _side(256, scale), device=device)

    def step(lap: int) -> Tensor:
        x = host.to(device, non_blocking=True) if planted else here
        return x @ weight

    return step


@_fault("unfused-optimizer")
def loops_over_parameters(planted: bool, device: torch.device, scale: float) -> Step:
    """Adam that updates one parameter after the other; clean: fused."""
    width = _side(256, scale)
    model = _perceptron(width, 150).to(device)
    how: dict[str, Any] = {"foreach": False} if planted else {"fused": True}
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, **how)
    for parameter in model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return lambda lap: optimizer.step()


@_fault("fp32-matmul")
def multiplies_in_fp32(planted: bool, device: torch.device, scale: float) -> Step:
    """Products in fp32 with TF32 off; clean: bf16."""
    width = _side(8192, scale)
    dtype = torch.float32 if planted else torch.bfloat16
    a = torch.randn(width, width, device=device, dtype=dtype)

    def step(lap: int) -> Tensor:
        torch.backends.cuda.matmul.allow_tf32 = False
        x = a
        for _ in range(3):
            x = x @ a
        return x

    return step


@_fault("eager-attention")
def attends_eagerly(planted: bool, device: torch.device, scale: float) -> Step:
    """Attention as product, softmax, product; clean: ``scaled_dot_product_attention``."""
    shape = (4, 16, _side(4096, scale), 64)
    dtype = torch.bfloat16
    q, k, v = (torch.randn(shape, device=device, dtype=dtype) for _ in range(3))

    def step(lap: int) -> Tensor:
        if planted:
            return torch.softmax((q @ k.transpose(-2, -1)) * 0.125, dim=-1) @ v
        return functional.scaled_dot_product_attention(q, k, v)

    return step


@_fault("unfused-elementwise")
def chains_of_elementwise(planted: bool, device: torch.device, scale: float) -> Step:
    """Twelve passes over a large tensor; clean: one."""
    n = _side(1 << 26, scale)
    x = torch.randn(n, device=device)

    def step(lap: int) -> Tensor:
        if not planted:
            return torch.tanh(x)
        y = x
        for _ in range(3):
            y = torch.sigmoid((y * 1.01 + 0.5) - 0.1)
        return y

    return step


@_fault("layout-copies")
def changes_layout(planted: bool, device: torch.device, scale: float) -> Step:
    """The layout of images is changed around each convolution; clean: it stays."""
    channels, side = 64, _side(256, scale)
    x = torch.randn(16, channels, side, side, device=device)
    x = x.to(memory_format=torch.channels_last)
    weight = torch.randn(channels, channels, 1, 1, device=device)
    weight = weight.to(memory_format=torch.channels_last)

    def step(lap: int) -> Tensor:
        y = x
        for _ in range(6):
            y = functional.conv2d(y, weight) * 0.1
            if planted:
                y = y.contiguous(memory_format=torch.contiguous_format)
                y = y.contiguous(memory_format=torch.channels_last)
        return y

    return step


@_fault("cast-copies")
def casts_weights_again(planted: bool, device: torch.device, scale: float) -> Step:
    """Large fp32 weights are cast to bf16 for each use; clean: they are bf16."""
    width = _side(8192, scale)
    dtype = torch.float32 if planted else torch.bfloat16
    weights = [torch.randn(width, width, device=device, dtype=dtype) for _ in range(4)]
    x = torch.randn(64, width, device=device, dtype=torch.bfloat16)

    def step(lap: int) -> Tensor:
        y = x
        for w in weights:
            y = (y @ w.to(torch.bfloat16)) * 0.01
        return y

    return step


@_fault("cache-emptying", "device-allocation", cuda_only=True)
def empties_the_cache(planted: bool, device: torch.device, scale: float) -> Step:
    """``torch.cuda.empty_cache()`` in each lap, after large tensors were freed."""
    n = _side(1 << 27, scale)
    weight = torch.randn(2048, 2048, device=device)

    def step(lap: int) -> Tensor:
        parts = [torch.empty(n, device=device) for _ in range(8)]
        x = weight @ weight
        del parts
        if planted:
            torch.cuda.empty_cache()
        return x

    return step


@_fault("pinned-allocation", cuda_only=True)
def pins_again(planted: bool, device: torch.device, scale: float) -> Step:
    """A batch is pinned anew, and larger, in each lap; clean: one pinned buffer is filled."""
    n = _side(1 << 25, scale)
    host = torch.randn(n + (1 << 22) * 40)
    buffer = host[:n].pin_memory()

    def step(lap: int) -> Tensor:
        if planted:
            return host[: n + (1 << 22) * (lap % 40)].pin_memory().to(device, non_blocking=True)
        return buffer.to(device, non_blocking=True)

    return step


@_fault("recomputation")
def recomputes_the_forward(planted: bool, device: torch.device, scale: float) -> Step:
    """Every layer is checkpointed though memory is free."""
    from torch.utils.checkpoint import checkpoint

    width = _side(4096, scale)
    model = nn.ModuleList(_perceptron(width, 2) for _ in range(6)).to(device)
    inputs = torch.randn(2048, width, device=device, requires_grad=True)

    def step(lap: int) -> None:
        y = inputs
        for layer in model:
            y = checkpoint(layer, y, use_reentrant=False) if planted else layer(y)
        y.square().mean().backward()

    return step


@_fault("small-grids")
def fills_few_multiprocessors(planted: bool, device: torch.device, scale: float) -> Step:
    """Reductions of long rows, few of them; clean: as many numbers in many rows."""
    n = _side(1 << 13, scale) << 11
    x = torch.randn(n, device=device)
    rows = 8 if planted else 1 << 11

    def step(lap: int) -> Tensor:
        y = x.view(rows, -1)
        return sum(
            (torch.softmax(y, dim=1)[:, 0].sum() for _ in range(8)), torch.zeros((), device=device)
        )

    return step


@_fault("autotuning-in-window", cuda_only=True)
def tunes_each_shape(planted: bool, device: torch.device, scale: float) -> Step:
    """``cudnn.benchmark`` meets a new image size in each lap; clean: one size."""
    weight = torch.randn(64, 64, 3, 3, device=device)
    base = _side(128, scale)

    def step(lap: int) -> Tensor:
        torch.backends.cudnn.benchmark = planted
        side = base + lap if planted else base
        return functional.conv2d(torch.ones(8, 64, side, side, device=device), weight)

    return step


@_fault("index-scatter-backward")
def gathers_with_duplicates(planted: bool, device: torch.device, scale: float) -> Step:
    """The gradient of indexing with many duplicates; clean: of a product with the counts."""
    rows = _side(1 << 20, scale)
    table = torch.randn(1000, 128, device=device, requires_grad=True)
    index = torch.randint(0, 4, (rows,), device=device)

    def step(lap: int) -> None:
        table.grad = None
        if planted:
            table[index].sum().backward()
        else:
            counts = torch.bincount(index, minlength=1000).to(table.dtype)
            (counts @ table).sum().backward()

    return step


@_fault("graph-gaps", cuda_only=True)
def replays_many_graphs(planted: bool, device: torch.device, scale: float) -> Step:
    """A CUDA graph for each operator; clean: one graph of all."""
    x = torch.randn(_side(1 << 20, scale), device=device)
    graphs: list[Any] = []
    for _ in range(200 if planted else 1):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(1 if planted else 200):
                x.mul_(1.0001)
        graphs.append(graph)

    def step(lap: int) -> None:
        for graph in graphs:
            graph.replay()

    return step


@_fault("input-starvation")
def loads_without_workers(planted: bool, device: torch.device, scale: float) -> Step:
    """Each sample takes 1 ms to make in the training process; clean: no time at all."""
    from torch.utils.data import DataLoader

    class Samples:
        def __len__(self) -> int:
            return 1 << 20

        def __getitem__(self, index: int) -> Tensor:
            if planted:
                time.sleep(0.001)
            return torch.zeros(1024)

    batches: Iterator[Tensor] = iter(DataLoader(Samples(), batch_size=16))
    trained = _trained(
        _perceptron(1024, 4), device, torch.randn(_side(8192, scale), 1024, device=device)
    )

    def step(lap: int) -> None:
        next(batches).to(device)
        trained(lap)

    return step


@_fault("gc-pauses", "explicit-collection")
def collects_garbage(planted: bool, device: torch.device, scale: float) -> Step:
    """``gc.collect()`` in each lap, with a large heap."""
    heap = [{"number": i} for i in range(int(1_000_000 * max(scale, 0.05)))]
    trained = _trained(_perceptron(1024, 4), device, torch.randn(1024, 1024, device=device))

    def step(lap: int) -> int:
        trained(lap)
        if planted:
            gc.collect()
        return len(heap)

    return step


@_fault("checkpoint-stalls")
def saves_each_lap(planted: bool, device: torch.device, scale: float) -> Step:
    """The whole model is serialised in each lap."""
    model = _perceptron(_side(2048, scale), 6)
    trained = _trained(model, device, torch.randn(1024, _side(2048, scale), device=device))

    def step(lap: int) -> int:
        trained(lap)
        if not planted:
            return 0
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        return file.tell()

    return step
