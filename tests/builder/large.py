"""Large training traces for benchmarks: 50 MB to gigabytes of Kineto text, in seconds.

    python -m tests.builder.large OUT.json.gz --mb 500 --seed 1

A model of some thousand operator blocks is drawn from the seed; each lap runs it once with fresh
times and ids: loader, copy, forward with Python stacks, backward on its own thread with all-reduces
on their own stream, optimiser, and a wait for the loss. The text is deterministic by size and seed.
"""

from __future__ import annotations

import argparse
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from tests.builder.large_text import FRAME, HEAD, MEMORY, OP, SPAN, TAIL, WORK
from tests.builder.large_vocabulary import Block, backward_block, escaped, forward_block

I64 = npt.NDArray[np.int64]

FRAMES = 8
FORWARD, BACKWARD, OPTIMISER = 950, 950, 100
PID, MAIN, AUTOGRAD = 4100, 4100, 4242
RECENT = 10
"""How far back a block may repeat another's operators and kernel, as the layers of a model do."""
DEVICE_LOAD = 0.8
"""Device work on the compute stream, as a share of the host's time for the lap."""
BASE_NS = 1_735_632_360_000_000_000
START_NS = 14_367_640_000_000_123
"""Start of the trace after the base."""


@dataclass(frozen=True)
class LargeFile:
    """What was written. ``busy`` is the share of the device's span in which something ran."""

    path: Path
    items: int
    python_items: int
    laps: int
    text_bytes: int
    file_bytes: int
    busy: float

    @property
    def ratio(self) -> float:
        """Text bytes over file bytes."""
        return self.text_bytes / self.file_bytes


class _Sink:
    """The file being written, gzip where its name says so, with what went in so far."""

    def __init__(self, file: BinaryIO, packed: bool) -> None:
        self.file = file
        self.text_bytes = 0
        self.items = 0
        self._packer = zlib.compressobj(6, zlib.DEFLATED, 31) if packed else None

    def write(self, text: str, items: int) -> None:
        raw = text.encode()
        self.text_bytes += len(raw)
        self.items += items
        self.file.write(self._packer.compress(raw) if self._packer else raw)

    def close(self) -> None:
        if self._packer:
            self.file.write(self._packer.flush())


def _clock(ns: I64) -> list[I64]:
    """A time's two numbers in the text: microseconds and the three decimals."""
    return [ns // 1000, ns % 1000]


def _fill(template: str, columns: Sequence[I64]) -> str:
    """A template for many items, filled item by item."""
    return template % tuple(np.stack(columns, axis=-1).ravel().tolist())


class _Model:
    """The blocks that every lap runs, as templates, and the ids given so far."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.noise = np.random.Generator(np.random.PCG64(seed))
        main: list[Block] = []
        grad: list[Block] = []
        for _ in range(FORWARD + OPTIMISER):
            main.append(forward_block(rng, FRAMES, main[-RECENT:]))
        for at in range(BACKWARD):
            grad.append(backward_block(rng, grad[-RECENT:], comm=at % 40 == 39))
        self.blocks = main[:FORWARD] + grad + main[FORWARD:]
        self.on_main = np.array([bool(b.frames) for b in self.blocks])
        self.comm = np.array([b.stream != 7 for b in self.blocks])
        self.weight = np.array([b.weight for b in self.blocks])
        self.ops = "".join(
            OP % (escaped(name), MAIN if b.frames else AUTOGRAD, args)
            for b in self.blocks for name, args in b.ops
        )  # fmt: skip
        self.frames = "".join(FRAME % escaped(f) for b in self.blocks for f in b.frames)
        self.work = "".join(self._work(b) for b in self.blocks)
        allocations = int(self.on_main.sum())
        self.memory = MEMORY * allocations
        self.sizes: I64 = self.noise.integers(1, 1 << 16, allocations) * 512
        self.addresses: I64 = 0x7F1400000000 + np.cumsum(self.sizes)
        self.external = self.correlation = self.event = self.python = 1000

    @staticmethod
    def _work(block: Block) -> str:
        tid = MAIN if block.frames else AUTOGRAD
        call = "cudaLaunchKernel" if block.stream == 7 else "cudaLaunchKernelExC"
        return WORK % (
            escaped(block.kernel), block.stream, block.stream, block.kernel_args, block.stream,
            call, tid, tid,
        )  # fmt: skip


@dataclass
class _Times:
    """Where the simulation is: the host's clock and when each stream runs dry, ns after base."""

    host: int
    compute: int
    comm: int


def _queue(ready: I64, dur: I64, tail: int) -> I64:
    """Starts on one stream: each when ready and its predecessor ended 900 ns ago, in order."""
    before = np.concatenate([[0], np.cumsum(dur + 900)[:-1]])
    starts: I64 = before + np.maximum(np.maximum.accumulate(ready - before), tail + 900)
    return starts


def _lap(model: _Model, sink: _Sink, at: int, times: _Times) -> tuple[int, int]:
    """Write one lap; gives its Python items and its busy time on the device."""
    noise, count = model.noise, len(model.blocks)
    mark = times.host
    loader = int(noise.integers(2_000_000, 5_000_000))
    host = noise.integers(70_000, 160_001, count)
    host[~model.on_main] = noise.integers(40_000, 90_001, int((~model.on_main).sum()))
    end = mark + 20_000 + loader + np.cumsum(host)
    start = end - host

    # Frames nest from both ends; operators nest inside the innermost frame.
    depth = np.where(model.on_main, FRAMES, 0)[:, None]
    inset = np.cumsum(noise.integers(200, 1_500, (count, FRAMES)), axis=1)
    outset = np.cumsum(noise.integers(200, 1_200, (count, FRAMES)), axis=1)
    frame_start = (start[:, None] + inset)[model.on_main]
    frame_end = (end[:, None] - outset)[model.on_main]
    low = start + np.where(depth[:, 0] > 0, inset[:, -1], 0) + noise.integers(300, 3_000, count)
    high = end - np.where(depth[:, 0] > 0, outset[:, -1], 0) - noise.integers(300, 3_000, count)
    early = low + noise.integers(400, 2_000, count)
    early_end = early + noise.integers(2_500, 6_000, count)
    launching = early_end + noise.integers(400, 2_000, count)
    call = launching + noise.integers(2_000, 8_000, count)
    call_end = call + noise.integers(3_500, 9_000, count)
    launching_end = np.minimum(call_end + noise.integers(500, 3_000, count), high - 100)
    inner = early + noise.integers(300, 900, count)
    inner_end = early_end - noise.integers(200, 900, count)
    op_start = np.stack([low, early, launching, inner], axis=1).ravel()
    op_end = np.stack([high, early_end, launching_end, inner_end], axis=1).ravel()

    compute = ~model.comm
    dur = model.weight * noise.uniform(0.97, 1.03, count)
    dur *= DEVICE_LOAD * float(host.sum()) / float(dur[compute].sum())
    kernel_dur = np.maximum(dur.astype(np.int64), 1_500)
    ready = call_end + noise.integers(2_500, 5_000, count)
    kernel = np.empty(count, dtype=np.int64)
    kernel[compute] = _queue(ready[compute], kernel_dur[compute], times.compute)
    kernel[~compute] = _queue(ready[~compute], kernel_dur[~compute], times.comm)
    kernel_end = kernel + kernel_dur
    times.compute = int(kernel_end[compute].max())
    times.comm = int(kernel_end[~compute].max())

    external = model.external + np.arange(4 * count)
    sequence = np.repeat(model.correlation + np.arange(count), 4)
    events = model.event + np.arange(4 * count)
    sink.write(
        _fill(
            model.ops,
            [
                *_clock(op_start),
                *_clock(op_end - op_start),
                external,
                events - 900,
                sequence,
                events,
            ],
        ),
        4 * count,
    )
    rows = frame_start.size
    python = model.python + 2 + np.arange(rows)
    parent = python - 1
    parent[::FRAMES] = model.python + 1
    spans = _clock(frame_start.ravel()) + _clock((frame_end - frame_start).ravel())
    sink.write(
        _fill(model.frames, [*spans, parent, python, events[-1] + 1 + np.arange(rows)]), rows
    )
    launched = external[2::4]
    correlation = model.correlation + np.arange(count)
    sink.write(
        _fill(
            model.work,
            [
                *_clock(kernel), *_clock(kernel_dur), launched, correlation,
                correlation, *_clock(kernel),
                *_clock(call), *_clock(call_end - call), launched, correlation,
                correlation, *_clock(call),
            ],
        ),
        4 * count,
    )  # fmt: skip
    marks = early[model.on_main]
    total = (40 << 30) + np.cumsum(model.sizes)
    place = np.roll(model.addresses, at)
    after = events[-1] + 1 + rows + np.arange(len(marks))
    sink.write(_fill(model.memory, [*_clock(marks), total, model.sizes, place, after]), len(marks))
    loss = max(times.compute, int(end[-1])) + 12_000
    times.host = _spans(model, sink, at, mark, loader, start, end, loss)
    model.external += 4 * count + 10
    model.correlation += count + 10
    model.event += 4 * count + rows + len(marks) + 1
    model.python += rows + 10
    return rows + 1, _union(kernel, kernel_end)


def _spans(
    model: _Model,
    sink: _Sink,
    at: int,
    mark: int,
    loader: int,
    start: I64,
    end: I64,
    loss: int,
) -> int:
    """Write a lap's mark, loader, lap frame, backward frame and the wait for the loss; its end."""
    after = loss + 15_000
    name = '"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"'
    external = model.external + 4 * len(start)
    on = (str(PID), str(MAIN))

    def span(kind: str, name: str, low: int, high: int, args: str) -> str:
        times = (*divmod(low, 1000), *divmod(high - low, 1000))
        return SPAN % (kind, name, *on, *times, args)

    ids = [f'"External id": {external + n}' for n in range(4)]
    python = f'"Python parent id": 1, "Python id": {model.python + 1}'
    call = f'{ids[3]}, "cbid": 131, "correlation": {model.correlation + len(start)}'
    last, ready = int(end[-1]), mark + 5_000 + loader
    text = [
        span("user_annotation", f'"ProfilerStep#{at + 2}"', mark, after, ids[0]),
        span("user_annotation", name, mark + 5_000, ready, ids[1]),
        span("python_function", '"train.py(41): train_step"', ready + 5_000, after - 2_000, python),
        span("cpu_op", '"aten::item"', last + 1_000, loss + 5_000, ids[2]),
        span("cpu_op", '"aten::_local_scalar_dense"', last + 1_500, loss + 4_000, ids[3]),
        span("cuda_runtime", '"cudaStreamSynchronize"', last + 3_000, loss + 2_000, call),
    ]  # fmt: skip
    sink.write("".join(text), len(text))
    return after


def _union(start: I64, end: I64) -> int:
    """Length of the union of spans."""
    order = np.argsort(start, kind="stable")
    low, high = start[order], end[order]
    reach = np.concatenate([low[:1], np.maximum.accumulate(high)[:-1]])
    return int(np.maximum(high - np.maximum(low, reach), 0).sum())


def generate(path: Path | str, mb: float, seed: int = 1) -> LargeFile:
    """Write a trace of about ``mb`` million bytes of text, in whole laps; gzip if it ends in gz."""
    target = Path(path)
    model = _Model(seed)
    times = _Times(START_NS, START_NS, START_NS)
    laps = python = busy = 0
    with target.open("wb") as file:
        sink = _Sink(file, packed=target.name.endswith(".gz"))
        sink.write(HEAD, 0)
        while not laps or sink.text_bytes < mb * 1e6:
            rows, ran = _lap(model, sink, laps, times)
            python, busy, laps = python + rows, busy + ran, laps + 1
        whole = (*divmod(START_NS - 50_000, 1000), *divmod(times.host - START_NS + 90_000, 1000))
        root = '"Python parent id": null, "Python id": 1'
        sink.write(
            SPAN % ("python_function", '"train.py(1): <module>"', PID, MAIN, *whole, root), 1
        )
        sink.write(TAIL % (*divmod(START_NS, 1000), *divmod(times.host, 1000), BASE_NS), 2)
        sink.close()
    return LargeFile(
        target, sink.items, python + 1, laps, sink.text_bytes, target.stat().st_size,
        busy / (times.host - START_NS),
    )  # fmt: skip


def main() -> None:
    """Write one file and say what it holds."""
    parser = argparse.ArgumentParser(description="Write a large training trace.")
    parser.add_argument("path", help="file to write; gzip if the name ends in .gz")
    parser.add_argument("--mb", type=float, default=500, help="million bytes of text")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    made = generate(asked.path, asked.mb, asked.seed)
    print(
        f"{made.path}: {made.items} items ({made.python_items / made.items:.1%} Python), "
        f"{made.laps} laps, {made.text_bytes} bytes of text "
        f"({made.text_bytes / made.items:.0f} an item), {made.file_bytes} bytes stored, "
        f"ratio {made.ratio:.1f}, device busy {made.busy:.1%}"
    )


if __name__ == "__main__":
    main()
