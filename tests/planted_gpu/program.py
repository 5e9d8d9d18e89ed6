"""The programs that are simulated: training of a transformer or of a convolutional network, inference.

Without a fault each is what a careful engineer would have: large kernels launched ahead of the device,
fused norms and attention, pinned input prefetched, gradients reduced while backward runs.
A ``Plant`` is asked at every place where a fault may enter; the plain one does nothing.
"""

# Kernels and functions are named as libraries spell them.
# ruff: noqa: E501

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.planted_gpu.engine import Event, Kernel, Simulator
from tests.planted_gpu.spec import G2025, Needs, Spec
from tests.planted_gpu.vocabulary import Vocabulary


class Plant:
    """A fault, and with ``planted`` false its absence from the same program."""

    id = "healthy"
    accepted: frozenset[str] = frozenset()
    needs = Needs()

    def __init__(self, planted: bool) -> None:
        self.planted = planted

    def configure(self, p: Program) -> None:
        """Sizes of both versions."""

    def lap(self, p: Program, lap: int) -> bool:
        """Run a lap of its own kind instead of the program's; False: it did not."""
        return False

    def start(self, p: Program, lap: int) -> None:
        """Before anything else of a lap."""

    def load(self, p: Program, lap: int) -> float:
        """Milliseconds in the loader."""
        return 0.15

    def layer(self, p: Program, layer: int, lap: int) -> None:
        """After a layer's forward."""

    def optimizer(self, p: Program) -> bool:
        """Run the optimizer itself; False: it did not."""
        return False

    def end(self, p: Program, lap: int) -> None:
        """After everything else of a lap."""


class Program:
    """One run of one program."""

    def __init__(self, spec: Spec, plant: Plant) -> None:
        self.spec, self.plant = spec, plant
        self.sim = Simulator(spec, f"{plant.id} {plant.planted}")
        self.v = Vocabulary(spec)
        self.random = random.Random(f"sizes {spec.seed} {plant.id}")
        """For what both versions share."""
        self.base = plant.needs.base
        if self.base == "any":
            self.base = self.random.choice(["transformer", "convolutional", "inference"])
        self.layers = self.random.randint(3, 5)
        self.width = spec.device.hidden
        self.tokens = self._tokens()
        self.sequence = self.random.choice([512, 1024])
        self.single = False
        self.eager_attention = False
        self.micro_steps = 1
        self.checkpointing = False
        self.input_bytes = 0
        """0: token ids only."""
        self.distributed = plant.needs.distributed
        self.bus = spec.device.bus
        self.reduce_each_micro = False
        self.reduce_after = False
        self.pieces = 1
        self.latency_us = 25.0
        self.images = 64 if spec.device.half > 300e12 else 24
        self.channels, self.side = 256, 56
        self.library_transposes = False
        self.sequence_number = self.random.randint(50, 20_000)
        self.tape: list[tuple[str, int, Callable[[], None]]] = []
        self.copied: Event | None = None
        plant.configure(self)

    def _tokens(self) -> int:
        """About one millisecond of products a layer, and grids that fill their last wave."""
        d, device = self.width, self.spec.device
        tile, slots = self.v.plain_tile, self.spec.device.sms * self.v.plain_tile.per_sm
        target = 1e-3 * device.half / (24 * d * d)
        best, found = 0.0, 1024
        for tokens in range(512, 32768, 256):
            if not 0.6 * target < tokens < 1.9 * target:
                continue
            waves = [tokens / tile.m * n * d / tile.n / slots for n in (1, 3, 4)]
            score = min(w / math.ceil(w) for w in waves)
            if score > best:
                best, found = score, tokens
        return found

    # The run

    def run(self) -> Simulator:
        sim, spec = self.sim, self.spec
        with sim.frames("train.py(214): <module>", "train.py(187): main"):
            for lap in range(spec.laps):
                number = spec.first_step + lap
                name = f"ProfilerStep#{number}"
                if spec.marks != "ProfilerStep":
                    name = spec.marks.format(number)
                with sim.mark(name, device=spec.generation == G2025):
                    self.one_lap(lap)
        sim.sync(device=True)
        return sim

    def one_lap(self, lap: int) -> None:
        sim = self.sim
        self.plant.start(self, lap)
        if self.plant.lap(self, lap):
            return
        self.load(lap)
        if self.base == "inference":
            with sim.frame("serve.py(88): predict"):
                self.forward(lap, gradients=False)
            self.answer()
            self.plant.end(self, lap)
            return
        with sim.frame("train.py(121): train_step"):
            with sim.mark("Optimizer.zero_grad#AdamW.zero_grad"):
                sim.think(12)
            for micro in range(self.micro_steps):
                if self.distributed:
                    with sim.mark("DistributedDataParallel.forward", device=True):
                        self.forward(lap)
                else:
                    self.forward(lap)
                last = micro == self.micro_steps - 1
                self.backward(reduce=last or self.reduce_each_micro)
            with sim.mark("Optimizer.step#AdamW.step", device=True):
                if not self.plant.optimizer(self):
                    self.fused_step()
        if self.spec.item_each_lap:
            self.item()
        self.plant.end(self, lap)

    # Input and output

    def load(self, lap: int) -> None:
        sim, spec = self.sim, self.spec
        ms = self.plant.load(self, lap)
        with (
            sim.frame("torch/utils/data/dataloader.py(701): __next__"),
            sim.mark("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
        ):
            sim.spend(ms)
        if not self.input_bytes:
            with sim.op("aten::to"), sim.op("aten::copy_"):
                sim.copy("HtoD", self.tokens * 8, pinned=True)
            return
        # Prefetched on its own stream, one lap ahead.
        if self.copied is None:
            self.copied = self.prefetch()
        sim.wait(spec.compute_stream, self.copied)
        self.copied = self.prefetch()

    def prefetch(self) -> Event:
        sim = self.sim
        with sim.op("aten::to"), sim.op("aten::_to_copy"), sim.op("aten::copy_"):
            sim.copy("HtoD", self.input_bytes, pinned=True, stream=self.spec.copy_stream)
        return sim.record(self.spec.copy_stream)

    def answer(self) -> None:
        """The results of inference to the host."""
        with self.sim.op("aten::to"), self.sim.op("aten::copy_"):
            self.sim.copy("DtoH", 262_144, pinned=True)
            self.sim.sync()

    def item(self) -> None:
        """``loss.item()``: four bytes and a wait."""
        sim = self.sim
        with sim.op("aten::item"), sim.op("aten::_local_scalar_dense"):
            sim.copy("DtoH", 4, pinned=self.spec.generation == G2025 and not self.spec.amd)
            sim.sync()

    # Forward

    def forward(self, lap: int, gradients: bool = True) -> None:
        sim = self.sim
        self.tape = []
        with sim.frames("torch/nn/modules/module.py(1553): _call_impl", "model.py(66): forward"):
            if self.base == "convolutional":
                for layer in range(self.layers + 2):
                    with sim.frame(f"nn.Module: ConvBlock_{layer}"):
                        self.convolution_block(lap, layer)
                        self.plant.layer(self, layer, lap)
            else:
                self.embed()
                for layer in range(self.layers):
                    with sim.frame(f"nn.Module: TransformerBlock_{layer}"):
                        self.block(layer)
                        self.plant.layer(self, layer, lap)
            if gradients:
                self.loss()

    def embed(self) -> None:
        size = 2 * self.tokens * self.width * 2
        kernel = self.v.pointwise(
            f"void at::native::vectorized_gather_kernel<16, long>(char*, char*, {self.v.half}*, int, long, long, long, long, bool)",
            size,
            self.tokens * self.width,
        )
        dims = [[50304, self.width], [self.tokens]]
        with self.sim.op("aten::embedding", dims, [self.v.half, "long int"], **self.sequenced()):
            self.sim.launch(kernel)
        self.remember("EmbeddingBackward0", lambda: self.embed_backward())

    def embed_backward(self) -> None:
        v, n = self.v, self.tokens * self.width
        with self.sim.op("aten::embedding_dense_backward"):
            kernel = v.pointwise(
                f"void (anonymous namespace)::embedding_backward_feature_kernel<{v.half}, float, long>(long const*, {v.half} const*, {v.half}*, int, long, int)",
                6 * n,
                n,
            )
            self.sim.launch(kernel)

    def block(self, layer: int) -> None:
        t, d = self.tokens, self.width
        self.norm(t, d)
        with self.sim.frame(f"nn.Module: Attention_{layer}"):
            self.linear(t, 3 * d, d)
            self.attention()
            self.linear(t, d, d)
        self.norm(t, d)
        with self.sim.frame(f"nn.Module: MLP_{layer}"):
            self.linear(t, 4 * d, d)
            self.gelu(t * 4 * d)
            self.linear(t, d, 4 * d)
        self.remember("layer", lambda: None)

    def sequenced(self) -> dict[str, Any]:
        self.sequence_number += 1
        return {"Sequence number": self.sequence_number, "Fwd thread id": 0}

    def remember(self, name: str, run: Callable[[], None]) -> None:
        self.tape.append((name, self.sequence_number, run))

    def norm(self, rows: int, width: int) -> None:
        kernel = self.v.norm(rows, width)
        with self.sim.op("fused::add_norm", [[rows, width]], [self.v.half], **self.sequenced()):
            self.sim.launch(kernel)
        self.remember("FusedAddNormBackward", lambda: self.norm_backward(rows, width))

    def norm_backward(self, rows: int, width: int) -> None:
        with self.sim.op("fused::add_norm_backward", [[rows, width]], [self.v.half]):
            self.sim.launch(self.v.norm_backward(rows, width))

    def linear(self, m: int, n: int, k: int) -> None:
        sim = self.sim
        kind = "float" if self.single else self.v.half
        with (
            sim.frame("nn.Module: Linear_0"),
            sim.frame("torch/nn/modules/linear.py(125): forward"),
            sim.op("aten::linear", [[m, k], [n, k], [n]], [kind] * 3),
        ):
            dims = [[n], [m, k], [k, n], [], []]
            kinds = [kind, kind, kind, "Scalar", "Scalar"]
            with sim.op("aten::addmm", dims, kinds, **self.sequenced()):
                sim.launch(self.v.gemm(m, n, k, "tn", self.single))
        self.remember("AddmmBackward0", lambda: self.linear_backward(m, n, k))

    def linear_backward(self, m: int, n: int, k: int) -> None:
        sim = self.sim
        kind = "float" if self.single else self.v.half
        with sim.op("aten::mm", [[m, n], [n, k]], [kind] * 2):
            sim.launch(self.v.gemm(m, k, n, "nn", self.single))
        with sim.op("aten::mm", [[n, m], [m, k]], [kind] * 2):
            sim.launch(self.v.gemm(n, k, m, "nt", self.single))

    def gelu(self, count: int) -> None:
        kernel = self.v.activation(count)
        with self.sim.op("aten::gelu", [[count]], [self.v.half], **self.sequenced()):
            self.sim.launch(kernel)
        self.remember("GeluBackward0", lambda: self.gelu_backward(count))

    def gelu_backward(self, count: int) -> None:
        functor = "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(float, float)#1}"
        with self.sim.op("aten::gelu_backward", [[count], [count]], [self.v.half] * 2):
            self.sim.launch(self.v.elementwise(functor, 6 * count, count, 2))

    def attention(self) -> None:
        sim, d = self.sim, self.width
        if self.eager_attention:
            self.attention_of_products()
            return
        heads, batch = d // 64, max(1, self.tokens // self.sequence)
        dims = [[batch, heads, self.sequence, 64]] * 3
        name = {
            "V100": "aten::_scaled_dot_product_efficient_attention",
            "H100": "aten::_scaled_dot_product_cudnn_attention",
        }.get(self.spec.device.key, "aten::_scaled_dot_product_flash_attention")
        with (
            sim.op("aten::scaled_dot_product_attention", dims, [self.v.half] * 3),
            sim.op(name, dims, [self.v.half] * 3, **self.sequenced()),
        ):
            for kernel in self.v.flash(self.tokens, self.sequence, d):
                sim.launch(kernel)
        self.remember("ScaledDotProductFlashAttentionBackward0", self.attention_backward)

    def attention_backward(self) -> None:
        with self.sim.op("aten::_scaled_dot_product_flash_attention_backward"):
            for kernel in self.v.flash(self.tokens, self.sequence, self.width, backward=True):
                self.sim.launch(kernel)

    def batched(self, rows: int, out: int, inner: int, heads: int) -> Kernel:
        kernel = self.v.product(
            self.v.plain_tile, rows, out, inner, "nt", self.spec.device.half * 0.6, split=False
        )
        alone = kernel.us
        whole = max(
            2.0 * heads * rows * out * inner / (self.spec.device.half * 0.6) * 1e6,
            2 * heads * (rows * out + rows * inner + out * inner) / self.spec.device.memory * 1e6,
        )
        grid = (kernel.grid[0], kernel.grid[1], heads)
        return Kernel(
            kernel.name, max(alone, whole + 1.4), grid, kernel.block, kernel.registers,
            kernel.shared, api=kernel.api,
        )  # fmt: skip

    def attention_of_products(self) -> None:
        """Scores written out: bmm, scale, mask, softmax, dropout, bmm."""
        sim, v = self.sim, self.v
        heads = max(1, self.tokens // self.sequence) * (self.width // 64)
        s = self.sequence
        scores = heads * s * s
        half = v.half
        dims = [[heads, s, 64], [heads, 64, s]]
        with (
            sim.op("aten::matmul", dims, [half] * 2),
            sim.op("aten::bmm", dims, [half] * 2, **self.sequenced()),
        ):
            sim.launch(self.batched(s, s, 64, heads))
        with sim.op("aten::div", [[heads, s, s], []], [half, "Scalar"], **self.sequenced()):
            sim.launch(v.scale(scores))
        with sim.op("aten::add", [[heads, s, s], [1, s, s]], [half] * 2, **self.sequenced()):
            sim.launch(v.add(scores))
        with (
            sim.op("aten::softmax", [[heads, s, s]], [half]),
            sim.op("aten::_softmax", [[heads, s, s]], [half], **self.sequenced()),
        ):
            sim.launch(v.softmax(heads * s, s))
        dims = [[heads, s, s], [heads, s, 64]]
        with (
            sim.op("aten::matmul", dims, [half] * 2),
            sim.op("aten::bmm", dims, [half] * 2, **self.sequenced()),
        ):
            sim.launch(self.batched(s, 64, s, heads))

        def backward() -> None:
            with sim.op("aten::bmm", dims, [half] * 2):
                sim.launch(self.batched(s, s, 64, heads))
            with sim.op("aten::bmm", dims, [half] * 2):
                sim.launch(self.batched(s, 64, s, heads))
            with sim.op("aten::_softmax_backward_data", [[heads, s, s]], [half]):
                sim.launch(v.softmax(heads * s, s, backward=True))
            with sim.op("aten::div", [[heads, s, s]], [half]):
                sim.launch(v.scale(scores))
            for _ in range(2):
                with sim.op("aten::bmm", dims, [half] * 2):
                    sim.launch(self.batched(s, 64, s, heads))

        self.remember("BmmBackward0", backward)

    def convolution_block(self, lap: int, layer: int) -> None:
        sim, v = self.sim, self.v
        n, c, side = self.images, self.channels, self.side
        count = n * c * side * side
        library = "miopen" if self.spec.amd else "cudnn"
        dims = [[n, c, side, side], [c, c, 3, 3]]
        kinds = [v.half] * 2
        with (
            sim.frame(f"nn.Module: Conv2d_{layer}"),
            sim.op("aten::conv2d", dims, kinds),
            sim.op("aten::convolution", dims, kinds, **self.sequenced()),
            sim.op(f"aten::{library}_convolution", dims, kinds),
        ):
            self.convolve("fprop", count)
        self.remember("ConvolutionBackward0", lambda: self.convolution_backward(dims, count))
        with sim.op("fused::batch_norm_relu", [[n, c, side, side]], [v.half], **self.sequenced()):
            sim.launch(v.triton("_native_batch_norm_legit_functional_relu", 4 * count, count, 3))

        def norm_backward() -> None:
            with sim.op("fused::batch_norm_relu_backward"):
                name = "native_batch_norm_backward_threshold_backward"
                sim.launch(v.triton(name, 6 * count, count, 9))

        self.remember("FusedBatchNormReluBackward", norm_backward)

    def convolve(self, way: str, count: int) -> None:
        kernel = self.v.convolution(way, self.images, self.channels, self.side, self.channels)
        if self.library_transposes:
            self.sim.launch(self.v.transpose(count, last=True))
            if way == "wgrad":
                self.sim.launch(self.v.transpose(count, last=True))
        self.sim.launch(kernel)
        if self.library_transposes and way != "wgrad":
            self.sim.launch(self.v.transpose(count, last=False))

    def convolution_backward(self, dims: list[list[int]], count: int) -> None:
        with self.sim.op("aten::convolution_backward", [dims[0], *dims], [self.v.half] * 3):
            self.convolve("dgrad", count)
            self.convolve("wgrad", count)

    def loss(self) -> None:
        sim, v = self.sim, self.v
        rows, classes = (self.images, 1000) if self.base == "convolutional" else (self.tokens, 2048)
        with sim.op("aten::cross_entropy_loss", [[rows, classes], [rows]], [v.half, "long int"]):
            with sim.op("aten::log_softmax", [[rows, classes]], [v.half], **self.sequenced()):
                sim.launch(v.softmax(rows, classes))
            with sim.op("aten::nll_loss_nd", [[rows, classes], [rows]], ["float", "long int"]):
                sim.launch(v.tiny("at::native::nll_loss_forward", 4.0, 1))
        self.remember(
            "LogSoftmaxBackward0", lambda: sim.launch(v.softmax(rows, classes, backward=True))
        )

    # Backward, reduction, optimizer

    def backward(self, reduce: bool) -> None:
        sim = self.sim
        tape, self.tape = self.tape, []
        with (
            sim.frames(
                "torch/_tensor.py(581): backward",
                "torch/autograd/__init__.py(242): backward",
                "<built-in method run_backward of torch._C._EngineBase object at 0x7f10a2b3c4d0>",
            ),
            sim.thread(self.spec.autograd_tid),
        ):
            for at in range(len(tape) - 1, -1, -1):
                name, number, run = tape[at]
                if name == "layer":
                    if self.checkpointing:
                        self.recompute(tape, at)
                    continue
                outer = f"autograd::engine::evaluate_function: {name}"
                args: dict[str, Any] = {"Sequence number": number, "Fwd thread id": 1}
                with sim.op(outer, **args), sim.op(name, **args):
                    run()
                if name in ("AddmmBackward0", "ConvolutionBackward0"):
                    self.accumulate()
                if name == "AddmmBackward0" and reduce and not self.reduce_after:
                    self.reduce(self.pieces)
            if self.distributed and reduce:
                if self.reduce_after:
                    self.reduce(self.pieces * self.layers * 4)
                done = sim.record(self.spec.comm_stream)
                sim.wait(self.spec.compute_stream, done)

    def accumulate(self) -> None:
        name = "torch::autograd::AccumulateGrad"
        outer = f"autograd::engine::evaluate_function: {name}"
        with (
            self.sim.op(outer, before=1.5, after=0.5),
            self.sim.op(name, before=1.0, after=0.5),
        ):
            pass

    def recompute(self, tape: Sequence[tuple[str, int, Callable[[], None]]], at: int) -> None:
        """A block's forward once more, as ``torch.utils.checkpoint`` does."""
        layer = sum(1 for entry in tape[:at] if entry[0] == "layer")
        kept, self.tape = self.tape, []
        name = "CheckpointFunctionBackward"
        with (
            self.sim.op(f"autograd::engine::evaluate_function: {name}"),
            self.sim.op(name),
            self.sim.frames(
                "torch/autograd/function.py(307): apply",
                "torch/utils/checkpoint.py(272): backward",
                "model.py(48): forward",
            ),
        ):
            self.block(layer)
        self.tape = kept

    def layer_bytes(self) -> int:
        return 2 * 12 * self.width * self.width

    def reduce(self, pieces: int) -> None:
        """All-reduce a quarter of a layer's gradients (or all of them) in ``pieces``."""
        if not self.distributed:
            return
        whole = self.layer_bytes() // 4
        if self.reduce_after:
            whole *= self.layers * 4
        for _ in range(pieces):
            self.all_reduce(whole // pieces)

    def all_reduce(self, size: int) -> None:
        sim, spec = self.sim, self.spec
        elements = size // 2
        args: dict[str, Any] = {}
        if spec.generation == G2025:
            args = {
                "Collective name": "allreduce",
                "dtype": self.v.half.removeprefix("c10::"),
                "In msg nelems": elements,
                "Out msg nelems": elements,
                "Group size": spec.ranks,
                "Process Group Name": "0",
                "Process Group Description": "default_pg",
            }
        with (
            sim.op("c10d::allreduce_"),
            sim.op("record_param_comms", [[elements]], [self.v.half], **args),
        ):
            ready = sim.record(spec.compute_stream)
            sim.wait(spec.comm_stream, ready)
            share = 2 * (spec.ranks - 1) / spec.ranks
            late = sim.random.expovariate(1 / 12)
            us = self.latency_us + share * size / self.bus * 1e6 + late
            with sim.mark("nccl:all_reduce"):
                sim.launch(self.v.collective("AllReduce", us, elements), spec.comm_stream)

    def parameters(self) -> int:
        if self.base == "convolutional":
            return (self.layers + 2) * self.channels * self.channels * 9 + 20_000_000
        return 12 * self.width * self.width * self.layers

    def fused_step(self) -> None:
        with self.sim.op("aten::_fused_adamw_"):
            for kernel in self.v.fused_optimizer(self.parameters() * 4 // 7):
                self.sim.launch(kernel)
