"""Faults of the device's work: copies, kernels that need not run, kernels that run badly."""

# Kernels and functions are named as libraries spell them.
# ruff: noqa: E501

from __future__ import annotations

from tests.planted_gpu.engine import Event, Kernel
from tests.planted_gpu.program import Plant, Program
from tests.planted_gpu.spec import Needs


class PageableCopies(Plant):
    id = "pageable-copies"
    accepted = frozenset({id})
    needs = Needs(nvidia=True, base="any")

    def configure(self, p: Program) -> None:
        low, high = (0.0008, 0.0016) if p.base == "inference" else (0.001, 0.003)
        self.size = round(p.random.uniform(low, high) * p.spec.device.pcie)
        p.input_bytes = 0 if self.planted else self.size

    def start(self, p: Program, lap: int) -> None:
        if self.planted:
            with p.sim.op("aten::to"), p.sim.op("aten::_to_copy"), p.sim.op("aten::copy_"):
                p.sim.copy("HtoD", self.size, pinned=False)
                p.sim.sync()


class ExposedCopies(Plant):
    """Pinned and asynchronous, but on the stream of the kernels, which wait for it."""

    id = "exposed-copies"
    accepted = frozenset({id})
    needs = Needs(base="any")

    def configure(self, p: Program) -> None:
        low, high = (0.001, 0.002) if p.base == "inference" else (0.003, 0.006)
        self.size = round(p.random.uniform(low, high) * p.spec.device.pcie)
        p.input_bytes = 0 if self.planted else self.size

    def start(self, p: Program, lap: int) -> None:
        if self.planted:
            with p.sim.op("aten::to"), p.sim.op("aten::_to_copy"), p.sim.op("aten::copy_"):
                p.sim.copy("HtoD", self.size, pinned=True)


class UnfusedOptimizer(Plant):
    """Adam tensor by tensor."""

    id = "unfused-optimizer"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        self.tensors = p.random.randint(60, 110)

    def optimizer(self, p: Program) -> bool:
        if not self.planted:
            return False
        sim, v = p.sim, p.v
        count = p.parameters() // self.tensors
        steps = (
            ("aten::lerp_", "lerp", 3),
            ("aten::mul_", "mul", 2),
            ("aten::addcmul_", "addcmul", 3),
            ("aten::sqrt", "sqrt", 2),
            ("aten::div", "div", 2),
            ("aten::add_", "add", 2),
            ("aten::addcdiv_", "addcdiv", 4),
        )
        with sim.frame("torch/optim/adamw.py(339): _single_tensor_adamw"):
            for _ in range(self.tensors):
                for op, word, passes in steps:
                    with sim.op(op, [[count], [count]], ["float"] * 2, before=6, after=2):
                        kernel = v.unary(word, count, 4)
                        us = 1.4 + 4.0 * passes * count / p.spec.device.memory * 1e6
                        sim.launch(Kernel(kernel.name, us, kernel.grid, kernel.block, 28))
        return True


class UnfusedElementwise(Plant):
    """Norm, rotary and activation written out in PyTorch; fused: one kernel for each chain."""

    id = "unfused-elementwise"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        sim, v = p.sim, p.v
        n = p.tokens * p.width * 4
        dims = [[p.tokens, 4 * p.width]] * 2
        if not self.planted:
            with sim.op("CompiledFxGraph"):
                sim.launch(v.triton("add_mul_neg_pow_rsqrt_sigmoid_sub_tanh", 4 * n, n, 5))
            return
        chain: list[tuple[str, Kernel]] = [
            ("aten::pow", v.unary("pow", n)),
            ("aten::mul", v.scale(n)),
            ("aten::add", v.add(n)),
            ("aten::mul", v.scale(n)),
            ("aten::tanh", v.unary("tanh", n)),
            ("aten::add", v.scale(n)),
            ("aten::mul", v.mul(n)),
            ("aten::neg", v.unary("neg", n)),
            ("aten::mul", v.mul(n)),
            ("aten::sigmoid", v.unary("sigmoid", n)),
            ("aten::mul", v.mul(n)),
            ("aten::sub", v.add(n)),
        ]
        for op, kernel in chain:
            with sim.op(op, dims, [v.half] * 2, **p.sequenced()):
                sim.launch(kernel)


class EagerAttention(Plant):
    id = "eager-attention"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.sequence = p.random.choice([1024, 2048])
        p.eager_attention = self.planted


class Fp32Matmul(Plant):
    id = "fp32-matmul"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.tokens = max(512, p.tokens // 3 // 256 * 256)
        p.single = self.planted


class LayoutCopies(Plant):
    """Channels first where the library wants channels last; or transposed tensors made contiguous."""

    id = "layout-copies"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        if p.random.random() < 0.6:
            p.base = "convolutional"
            p.library_transposes = self.planted
        else:
            p.base = "transformer"

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted or p.base == "convolutional":
            return
        sim, v = p.sim, p.v
        n = p.tokens * p.width * 4
        for _ in range(4):
            with (
                sim.op("aten::contiguous", [[p.tokens, 4 * p.width]], [v.half]),
                sim.op("aten::clone", [[p.tokens, 4 * p.width]], [v.half]),
                sim.op("aten::copy_", [[p.tokens, 4 * p.width]] * 2, [v.half] * 2),
            ):
                sim.launch(v.strided_copy(n))


class CastCopies(Plant):
    """Activations to fp32 and back around each part."""

    id = "cast-copies"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted:
            return
        sim, v = p.sim, p.v
        n = p.tokens * p.width * 4
        dims = [[p.tokens, 4 * p.width]]
        for _ in range(3):
            for up in (True, False):
                kinds = [v.half, "float"] if not up else ["float", v.half]
                with (
                    sim.op("aten::to", dims, kinds[1:]),
                    sim.op("aten::_to_copy", dims, kinds[1:]),
                    sim.op("aten::copy_", dims * 2, kinds),
                ):
                    sim.launch(v.cast(n, up))


class SmallGrids(Plant):
    """A long product or sum by a handful of blocks; without the fault it is split over the device."""

    id = "small-grids"
    accepted = frozenset({id})
    needs = Needs(grids=True)

    def configure(self, p: Program) -> None:
        self.blocks = p.random.randint(2, 12)
        self.matrix = p.random.random() < 0.5
        self.us = p.random.uniform(450, 900)

    def layer(self, p: Program, layer: int, lap: int) -> None:
        sim, v = p.sim, p.v
        sms = p.spec.device.sms
        rows = p.tokens * p.width
        blocks = self.blocks if self.planted else self.blocks * (-(-2 * sms // self.blocks))
        us = self.us if self.planted else 4 + self.us * self.blocks / sms
        for _ in range(2):
            if self.matrix:
                k = v.gemm(128, 128, 4096, "nt")
                dims = [[128, p.tokens * 16], [p.tokens * 16, 128 * self.blocks]]
                with sim.op("aten::mm", dims, [v.half] * 2):
                    tile = v.plain_tile
                    name = v.product(tile, 128, 128, 128, "nt", 1e15).name
                    sim.launch(
                        Kernel(
                            name,
                            us,
                            (self.blocks, 1, blocks // self.blocks),
                            k.block,
                            tile.registers,
                            tile.shared,
                        )
                    )
            else:
                with sim.op("aten::sum", [[rows, self.blocks]], ["float"]):
                    reduce = v.reduce("func_wrapper_t", 1, rows, blocks)
                    sim.launch(Kernel(reduce.name, us, (blocks, 1, 1), reduce.block, 34, 16))


class WaveQuantisation(Plant):
    """Products whose grids just overflow one wave; without the fault they just fill it."""

    id = "wave-quantisation"
    accepted = frozenset({id})
    needs = Needs(nvidia=True)

    def configure(self, p: Program) -> None:
        tile = p.v.plain_tile
        slots = p.spec.device.sms * tile.per_sm
        columns = max(c for c in range(1, 20) if slots % c == 0 and c * c <= slots)
        self.grid = (slots // columns, columns)
        self.k = p.random.choice([8192, 16384])

    def lap(self, p: Program, lap: int) -> bool:
        sim, v = p.sim, p.v
        tile = v.plain_tile
        with sim.op("aten::copy_"):
            sim.copy("HtoD", 65536, pinned=True)
        rows, columns = self.grid
        m, n = tile.m * (rows + self.planted), tile.n * columns
        with sim.frame("model.py(66): forward"):
            for layer in range(14):
                with sim.op("aten::linear"):
                    dims = [[m, self.k], [self.k, n]]
                    with sim.op("aten::mm", dims, [v.half] * 2, **p.sequenced()):
                        sim.launch(
                            v.product(tile, m, n, self.k, "tn", p.spec.device.half, split=False)
                        )
                if layer % 2:
                    with sim.op("fused::add_norm", [[m, n]], [v.half]):
                        sim.launch(v.norm(m, n))
        if lap % 3 == 2:
            p.answer()
        return True


class SlowFallbackKernel(Plant):
    id = "slow-fallback-kernel"
    accepted = frozenset({id})
    needs = Needs(base="convolutional")

    def configure(self, p: Program) -> None:
        nvidia = [
            ("void at::native::(anonymous namespace)::conv_depthwise2d_forward_kernel_generic<c10::Half, int>(at::GenericPackedTensorAccessor<c10::Half const, 4ul, at::DefaultPtrTraits, int>)", "aten::_conv_depthwise2d"),
            ("void cudnn::cnn::conv2d_grouped_direct_kernel<false, true, false, false, 0, 0, int, __half, __half, __half, float, true, true, 1, 2, 3>(cudnn::cnn::GroupedDirectFpropParams)", "aten::cudnn_convolution"),
            ("void at::native::(anonymous namespace)::slow_conv_transpose3d_kernel<float>(long, float const*, float*)", "aten::slow_conv_transpose3d"),
        ]  # fmt: skip
        amd = [
            ("naive_conv_ab_nonpacked_fwd_nchw_half_double_half.kd", "aten::miopen_convolution"),
            ("naive_conv_fwd_nchw_half", "aten::miopen_convolution"),
        ]
        self.name, self.op = p.random.choice(amd if p.spec.amd else nvidia)
        self.factor = p.random.uniform(6, 18)

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if layer >= 2:
            return
        sim, v = p.sim, p.v
        n, c, side = p.images, p.channels, p.side
        dims = [[n, c, side, side], [c, c, 3, 3]]
        real = v.convolution("fprop", n, c, side, c)
        with (
            sim.op("aten::conv2d", dims, [v.half] * 2),
            sim.op("aten::convolution", dims, [v.half] * 2, **p.sequenced()),
        ):
            op = "aten::miopen_convolution" if p.spec.amd else "aten::cudnn_convolution"
            with sim.op(self.op if self.planted else op, dims, [v.half] * 2):
                if self.planted:
                    sim.launch(
                        Kernel(self.name, real.us * self.factor, (8192, 1, 1), (256, 1, 1), 40)
                    )
                else:
                    sim.launch(real)


class Recomputation(Plant):
    id = "recomputation"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.checkpointing = self.planted


class IndexScatterBackward(Plant):
    """``table[index]`` with many duplicates, where an embedding would do."""

    id = "index-scatter-backward"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        self.us = p.random.uniform(900, 2400)

    def layer(self, p: Program, layer: int, lap: int) -> None:
        sim, v = p.sim, p.v
        n = p.tokens * p.width
        gather = f"void at::native::vectorized_gather_kernel<16, long>(char*, char*, {v.half}*, int, long, long, long, long, bool)"
        dims = [[2048, p.width], [p.tokens]]
        op = "aten::index" if self.planted else "aten::embedding"
        if self.planted:
            gather = "void at::native::index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::native::OpaqueType<2> >(at::TensorIteratorBase&)>(long)"
        with sim.op(op, dims, [v.half, "long int"], **p.sequenced()):
            sim.launch(v.pointwise(gather, 4 * n, n))

        def backward() -> None:
            if not self.planted:
                p.embed_backward()
                return
            with (
                sim.op("aten::index_put_"),
                sim.op("aten::_index_put_impl_", dims, [v.half, "long int"]),
            ):
                for name in _SORT:
                    sim.launch(Kernel(name, 7.0, (max(1, p.tokens // 4096), 1, 1), (384, 1, 1), 56))
                name = f"void at::native::(anonymous namespace)::indexing_backward_kernel<{v.half}, 4>(long const*, long const*, {v.half} const*, {v.half}*, long, long, long, long, bool)"
                sim.launch(Kernel(name, self.us, (p.tokens // 4, 8, 1), (32, 4, 1), 40))

        p.remember("IndexBackward0" if self.planted else "EmbeddingBackward0", backward)


_SORT = (
    "void at_cuda_detail::cub::DeviceRadixSortHistogramKernel<at_cuda_detail::cub::DeviceRadixSortPolicy<long, long, int>::Policy900, false, long, int>(int*, long const*, int, int, int)",
    "void at_cuda_detail::cub::DeviceRadixSortExclusiveSumKernel<at_cuda_detail::cub::DeviceRadixSortPolicy<long, long, int>::Policy900, int>(int*)",
    "void at_cuda_detail::cub::DeviceRadixSortOnesweepKernel<at_cuda_detail::cub::DeviceRadixSortPolicy<long, long, int>::Policy900, false, long, long, int, int>(int*, int*, int*, int const*, long*, long const*, long*, long const*, int, int, int)",
)  # fmt: skip


class ExposedCollectives(Plant):
    """Gradients reduced after backward instead of during it."""

    id = "exposed-collectives"
    accepted = frozenset({id})
    needs = Needs(distributed=True)

    def configure(self, p: Program) -> None:
        p.reduce_after = self.planted


class ManySmallCollectives(Plant):
    """A bucket for every few small tensors: each collective costs its latency."""

    id = "many-small-collectives"
    accepted = frozenset({id})
    needs = Needs(distributed=True)

    def configure(self, p: Program) -> None:
        p.bus = p.spec.device.bus * 1.5
        p.pieces = 13 if self.planted else 1
        p.latency_us = p.random.uniform(55, 75)


class ReducedEveryMicroStep(Plant):
    """Accumulation without ``no_sync``."""

    id = "reduced-every-micro-step"
    accepted = frozenset({id})
    needs = Needs(distributed=True)

    def configure(self, p: Program) -> None:
        p.layers = 3
        p.micro_steps = p.random.choice([4, 5])
        p.tokens = max(512, p.tokens // 2 // 256 * 256)
        # Reducing a layer takes 1.15 times its backward: what cannot hide is paid each time.
        p.bus = 1.75 * p.spec.device.half / (1.15 * 1.3 * 2 * p.tokens)
        p.reduce_each_micro = self.planted


class ObjectCollectives(Plant):
    """``all_gather_object`` of metrics in every lap."""

    id = "object-collectives"
    accepted = frozenset({id})
    needs = Needs(distributed=True, stacks=True)

    def end(self, p: Program, lap: int) -> None:
        if not self.planted:
            return
        sim, v, comm = p.sim, p.v, p.spec.comm_stream
        for _ in range(2):
            with sim.frames(
                "train.py(155): gather_metrics",
                "torch/distributed/c10d_logger.py(81): wrapper",
                "torch/distributed/distributed_c10d.py(2713): all_gather_object",
            ):
                with sim.frame("torch/distributed/distributed_c10d.py(2441): _object_to_tensor"):
                    sim.spend(0.3)
                    with sim.op("aten::to"), sim.op("aten::copy_"):
                        sim.copy("HtoD", 4096, pinned=False)
                        sim.sync()
                for elements in (1, 4096):
                    with sim.op("c10d::allgather_"), sim.op("record_param_comms"):
                        ready: Event = sim.record(p.spec.compute_stream)
                        sim.wait(comm, ready)
                        us = 60 + sim.random.expovariate(1 / 900)
                        with sim.mark("nccl:all_gather"):
                            sim.launch(v.collective("AllGather", us, elements), comm)
                        sim.wait(p.spec.compute_stream, sim.record(comm))
                    p.item()
                for _rank in range(p.spec.ranks):
                    with sim.frame(
                        "torch/distributed/distributed_c10d.py(2455): _tensor_to_object"
                    ):
                        p.item()
                        with sim.frame("<built-in function loads>"):
                            sim.think(60)


class Healthy(Plant):
    """No fault at all."""

    id = "healthy"
    needs = Needs(base="any")


ALL: tuple[type[Plant], ...] = (
    PageableCopies, ExposedCopies, UnfusedOptimizer, UnfusedElementwise, EagerAttention, Fp32Matmul,
    LayoutCopies, CastCopies, SmallGrids, WaveQuantisation, SlowFallbackKernel, Recomputation,
    IndexScatterBackward, ExposedCollectives, ManySmallCollectives, ReducedEveryMicroStep,
    ObjectCollectives,
)  # fmt: skip
