"""Faults of the host: it waits, or does something else, while the device has nothing to do."""

# Kernels and functions are named as libraries spell them.
# ruff: noqa: E501

from __future__ import annotations

from tests.planted_gpu.engine import Kernel
from tests.planted_gpu.program import Plant, Program
from tests.planted_gpu.spec import G2025, Needs


class InputStarvation(Plant):
    id = "input-starvation"
    accepted = frozenset({id})
    needs = Needs(base="any")

    def load(self, p: Program, lap: int) -> float:
        usual = 8 if p.base == "inference" else 20 + 6 * p.layers
        return p.sim.random.uniform(0.5, 1.6) * usual if self.planted else 0.15


class HostSync(Plant):
    """``.item()`` in every layer, and host work after each before anything is launched again."""

    id = "host-sync"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if self.planted:
            for _ in range(3):
                p.item()
                p.sim.think(230)


class LaunchBound(Plant):
    """A small model at a small batch, op by op; without the fault the same kernels as one graph."""

    id = "launch-bound"
    accepted = frozenset({id, "many-tiny-kernels"})

    def configure(self, p: Program) -> None:
        p.layers = p.random.randint(8, 16)
        self.kernels = small_kernels(p, 2.2, 7.0)

    def lap(self, p: Program, lap: int) -> bool:
        sim = p.sim
        with sim.op("aten::copy_"):
            sim.copy("HtoD", 4096, pinned=True)
        if self.planted:
            with sim.frames("serve.py(88): predict", "model.py(66): forward"):
                for kernel, op in zip(self.kernels, OPS * p.layers, strict=True):
                    with sim.op(op, before=9, after=2.5), sim.op(op + "_out", before=4, after=1):
                        sim.launch(kernel)
        else:
            with sim.frame("torch/cuda/graphs.py(88): replay"):
                sim.graph(self.kernels, 0.8, 7)
        p.answer()
        return True


def small_kernels(p: Program, low: float, high: float) -> list[Kernel]:
    """The kernels of a small network whose chains are fused already, ``low`` to ``high`` us each."""
    v, r = p.v, p.random
    made: list[Kernel] = []
    for _ in range(p.layers):
        for like in (
            v.norm(64, p.width),
            v.product(v.plain_tile, 64, 256, 256, "tn", 1e15),
            v.flash(64, 64, 256)[0],
            v.product(v.plain_tile, 64, 256, 256, "tn", 1e15),
            v.norm(64, p.width),
            v.product(v.plain_tile, 64, 512, 256, "tn", 1e15),
            v.triton("gelu", 1000, 1000, 1),
            v.product(v.plain_tile, 64, 256, 512, "tn", 1e15),
        ):
            grid = (p.spec.device.sms * 24, 1, 1)  # whole waves, whatever a multiprocessor holds
            us = r.uniform(low, high)
            made.append(
                Kernel(like.name, us, grid, like.block, like.registers, like.shared, api=like.api)
            )
    return made


MUL = "at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >"
OPS = (
    "fused::add_norm",
    "aten::addmm",
    "aten::scaled_dot_product_attention",
    "aten::addmm",
    "fused::add_norm",
    "aten::addmm",
    "aten::gelu",
    "aten::addmm",
)


class GraphGaps(Plant):
    """A lap of many small graphs with the host between them, or gaps between a graph's nodes."""

    id = "graph-gaps"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.layers = p.random.randint(16, 32)
        self.gap = p.random.uniform(3.0, 5.0)
        self.pieces = (1, 8, 16)[p.spec.seed // 1000 % 3]
        self.kernels = small_kernels(p, 11, 19)

    def lap(self, p: Program, lap: int) -> bool:
        sim = p.sim
        with sim.op("aten::copy_"):
            sim.copy("HtoD", 4096, pinned=True)
        pieces = self.pieces if self.planted else 1
        gap = self.gap if self.planted and pieces == 1 else 0.7
        size = -(-len(self.kernels) // pieces)
        for piece in range(pieces):
            with sim.frame("torch/cuda/graphs.py(88): replay"):
                sim.graph(self.kernels[piece * size : (piece + 1) * size], gap, 7 + piece)
            if pieces > 1:
                sim.think(4.5 * size + 14 * size)  # longer than the piece runs
        p.answer()
        return True


class GcPauses(Plant):
    id = "gc-pauses"
    accepted = frozenset({id, "explicit-collection"})
    needs = Needs(stacks=True)

    def configure(self, p: Program) -> None:
        self.explicit = p.spec.generation != G2025 or p.random.random() < 0.5

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if self.planted and layer == 1:
            sim = p.sim
            if self.explicit:
                with sim.frames("train.py(77): free_memory", "<built-in function collect>"):
                    sim.spend(p.sim.random.uniform(18, 60))
            else:
                with sim.frame("Python GC"):
                    sim.spend(p.sim.random.uniform(18, 60))


class PythonBetweenOps(Plant):
    id = "python-between-ops"
    accepted = frozenset({id})
    needs = Needs(stacks=True)

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted:
            return
        sim = p.sim
        for _ in range(3):
            with sim.frame("losses.py(143): match_targets"):
                for _ in range(5):
                    with sim.frame("losses.py(158): <listcomp>"):
                        sim.spend(0.36)
                    with sim.frame("<method 'append' of 'list' objects>"):
                        sim.think(2)
            with sim.op("aten::mul", [[64]], ["float"]):
                sim.launch(p.v.tiny(MUL, 2.1, 1))


class LoggingMetrics(Plant):
    id = "logging-metrics"
    accepted = frozenset({id})
    needs = Needs(stacks=True)

    def configure(self, p: Program) -> None:
        self.frames = p.random.choice([
            ("wandb/sdk/wandb_run.py(1789): log", "wandb/sdk/wandb_run.py(1602): _log", "wandb/sdk/interface/interface.py(648): publish_partial_history", "json/encoder.py(183): encode"),
            ("torch/utils/tensorboard/writer.py(456): add_histogram", "torch/utils/tensorboard/summary.py(481): histogram", "torch/utils/tensorboard/summary.py(508): make_histogram", "numpy/lib/histograms.py(680): histogram"),
            ("mlflow/tracking/fluent.py(830): log_metrics", "mlflow/tracking/client.py(1780): log_batch", "requests/sessions.py(500): request", "<method 'recv_into' of '_socket.socket' objects>"),
        ])  # fmt: skip

    def end(self, p: Program, lap: int) -> None:
        if self.planted:
            p.item()
            with p.sim.frames("train.py(150): log_metrics", *self.frames):
                p.sim.spend(p.sim.random.uniform(0.35, 1.0) * (12 + 3 * p.layers))


class CheckpointStalls(Plant):
    id = "checkpoint-stalls"
    accepted = frozenset({id})
    needs = Needs(stacks=True)

    def configure(self, p: Program) -> None:
        self.laps = set(p.random.sample(range(1, p.spec.laps), p.random.choice([1, 2])))

    def end(self, p: Program, lap: int) -> None:
        if not self.planted or lap not in self.laps:
            return
        sim = p.sim
        with sim.frames(
            "train.py(163): save_checkpoint",
            "torch/serialization.py(849): save",
            "torch/serialization.py(1068): _save",
        ):
            for _ in range(6):
                with sim.op("aten::to"), sim.op("aten::copy_"):
                    sim.copy("DtoH", 20_000_000, pinned=False)
                    sim.sync()
                with sim.frame("<method 'write_record' of 'torch._C.PyTorchFileWriter' objects>"):
                    sim.spend(sim.random.uniform(12, 30))


class HostWorkAfterModel(Plant):
    id = "host-work-after-model"
    accepted = frozenset({id})
    needs = Needs(base="inference", stacks=True)

    def configure(self, p: Program) -> None:
        self.frames = p.random.choice([
            ("serve.py(102): decode", "transformers/tokenization_utils_base.py(3811): batch_decode", "transformers/tokenization_utils_fast.py(682): _decode"),
            ("detect.py(77): postprocess", "ops/boxes.py(41): non_max_suppression", "numpy/core/fromnumeric.py(1025): argsort"),
            ("eval.py(60): accumulate", "pycocotools/cocoeval.py(160): evaluateImg", "metrics.py(33): compute_iou"),
        ])  # fmt: skip

    def end(self, p: Program, lap: int) -> None:
        if self.planted:
            for _ in range(8):
                with p.sim.frames(*self.frames):
                    p.sim.spend(p.sim.random.uniform(0.25, 0.8))


class DebugSettings(Plant):
    """Every launch blocks until its kernel has finished (CUDA_LAUNCH_BLOCKING, HIP_LAUNCH_BLOCKING)."""

    id = "debug-settings"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.sim.blocking = self.planted
        target = p.tokens // 4
        p.tokens = max(512, target // 256 * 256)


class DeviceAllocation(Plant):
    """The allocator's cache does not fit: blocks are freed and allocated again in every lap."""

    id = "device-allocation"
    accepted = frozenset({id})

    def start(self, p: Program, lap: int) -> None:
        if not self.planted:
            return
        with p.sim.op("aten::empty"):
            for _ in range(p.sim.random.randint(4, 7)):
                p.sim.stall(p.sim.api["free"], 0.5, drain=True)
            p.sim.stall(p.sim.api["malloc"], 1.6)

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if self.planted:
            with p.sim.op("aten::empty"):
                p.sim.stall(p.sim.api["free"], 0.7, drain=True)
                p.sim.stall(p.sim.api["malloc"], p.sim.random.uniform(0.6, 1.6))


class CacheEmptying(Plant):
    id = "cache-emptying"
    accepted = frozenset({id})
    needs = Needs(stacks=True)

    def end(self, p: Program, lap: int) -> None:
        if not self.planted:
            return
        sim = p.sim
        with sim.frames(
            "train.py(171): cleanup",
            "torch/cuda/memory.py(170): empty_cache",
            "<built-in function _cuda_emptyCache>",
        ):
            sim.sync(device=True)
            for _ in range(9):
                sim.stall(sim.api["free"], 0.45, drain=True)
        self.empty = True

    empty = False

    def start(self, p: Program, lap: int) -> None:
        if self.planted and self.empty:
            for _ in range(9):
                with p.sim.op("aten::empty"):
                    p.sim.stall(p.sim.api["malloc"], 0.35)


class PinnedAllocation(Plant):
    id = "pinned-allocation"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.input_bytes = 40_000_000

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if self.planted and layer % 2 == 0:
            p.item()
            with p.sim.op("aten::pin_memory"), p.sim.op("aten::_pin_memory"):
                p.sim.stall(p.sim.api["host_alloc"], p.sim.random.uniform(3.5, 7))
            with p.sim.op("aten::copy_"):
                p.sim.copy("HtoD", 2_000_000, pinned=True)


class CompileInWindow(Plant):
    id = "compile-in-window"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        count = p.random.randint(1, 3)
        self.laps = set(p.random.sample(range(1, p.spec.laps), count))
        self.marked = not p.spec.stacks or p.random.random() < 0.6

    def start(self, p: Program, lap: int) -> None:
        if not self.planted or lap not in self.laps:
            return
        sim = p.sim
        with sim.frames(
            "torch/_dynamo/eval_frame.py(574): _fn",
            "torch/_dynamo/convert_frame.py(1231): __call__",
            "torch/_dynamo/convert_frame.py(987): _compile",
        ):
            if self.marked:
                with (
                    sim.op("entire_frame_compile (dynamo_timed)"),
                    sim.op("backend_compile (dynamo_timed)"),
                    sim.op("GraphLowering.compile_to_fn (dynamo_timed)"),
                ):
                    sim.spend(sim.random.uniform(90, 300))
            else:
                with sim.frames(
                    "torch/_inductor/compile_fx.py(1552): compile_fx",
                    "torch/_inductor/graph.py(2280): compile_to_module",
                    "torch/_inductor/codecache.py(2734): load_by_key_path",
                ):
                    sim.spend(sim.random.uniform(90, 300))
            for _ in range(4):
                sim.call(sim.api["module"], 240)


class GraphCaptureInWindow(Plant):
    """A new batch size in most laps, and a graph captured for each."""

    id = "graph-capture-in-window"
    accepted = frozenset({id})

    def configure(self, p: Program) -> None:
        p.layers = p.random.randint(10, 20)
        self.kernels = small_kernels(p, 12, 40)
        self.laps = {i for i in range(1, p.spec.laps) if p.random.random() < 0.7} or {1}

    def lap(self, p: Program, lap: int) -> bool:
        sim = p.sim
        if self.planted and lap in self.laps:
            with sim.frames(
                "runner.py(231): capture",
                "torch/cuda/graphs.py(186): __enter__",
            ):
                sim.sync(device=True)
                sim.call(sim.api["begin_capture"], 12)
            sim.capturing = True
            for kernel, op in zip(self.kernels, OPS * p.layers, strict=True):
                with sim.op(op, before=7, after=2):
                    sim.launch(kernel)
            sim.capturing = False
            with sim.frame("torch/cuda/graphs.py(197): __exit__"):
                sim.call(sim.api["end_capture"], 150)
                sim.stall(sim.api["instantiate"], sim.random.uniform(2.5, 6))
        with sim.frame("torch/cuda/graphs.py(88): replay"):
            sim.graph(self.kernels, 0.8, 7 + (lap if self.planted else 0))
        p.answer()
        return True


class WarmUpInWindow(Plant):
    """The first lap loads modules, allocates and fills caches."""

    id = "warm-up-in-window"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted or lap:
            return
        sim = p.sim
        for _ in range(6):
            with sim.op("aten::empty"):
                sim.stall(sim.api["malloc"], sim.random.uniform(0.5, 1.4))
            if not p.spec.amd and p.spec.generation == G2025:
                sim.overhead("Lazy Function Loading", sim.random.uniform(0.5, 2.5))
            else:
                sim.stall(sim.api["module"], sim.random.uniform(0.5, 2.5))

    def start(self, p: Program, lap: int) -> None:
        if self.planted:
            p.sim.slow_host = 14.0 if lap == 0 else 1.0


class WorkThatGrows(Plant):
    """A hook is registered again in every lap, so each lap runs it once more than the last."""

    id = "work-that-grows"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted:
            return
        sim, v = p.sim, p.v
        count = p.tokens * p.width * (3 if p.base != "convolutional" else 1)
        for _ in range(lap):
            with (
                sim.frame("hooks.py(31): activation_norm"),
                sim.op("aten::linalg_vector_norm", [[p.tokens, 3 * p.width]], [v.half]),
            ):
                for _ in range(12):
                    sim.launch(v.reduce("NormTwoOps", 2 * count, count))


class ChecksInHotPath(Plant):
    """``assert torch.isfinite(x).all()`` after every layer."""

    id = "checks-in-hot-path"
    accepted = frozenset({id})

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted:
            return
        sim, v = p.sim, p.v
        n = p.tokens * p.width * 4
        half = v.half
        for _ in range(2):
            with sim.frame("model.py(91): check_finite"):
                with sim.op("aten::isfinite", [[n]], [half]):
                    with sim.op("aten::abs", [[n]], [half]):
                        sim.launch(v.unary("abs", n))
                    with sim.op("aten::eq", [[n], [n]], [half] * 2):
                        sim.launch(
                            v.elementwise(
                                "at::native::(anonymous namespace)::CompareEqFunctor<float>",
                                5 * n,
                                n,
                                2,
                            )
                        )
                    with sim.op("aten::ne", [[n], []], [half, "Scalar"]):
                        sim.launch(
                            v.elementwise(
                                "at::native::(anonymous namespace)::CompareEqFunctor<c10::BFloat16>",
                                3 * n,
                                n,
                            )
                        )
                    with sim.op("aten::mul", [[n], [n]], ["bool"] * 2):
                        sim.launch(
                            v.elementwise(
                                "at::native::BinaryFunctor<bool, bool, bool, at::native::binary_internal::MulFunctor<bool> >",
                                3 * n,
                                n,
                                2,
                            )
                        )
                with sim.op("aten::all", [[n]], ["bool"]):
                    sim.launch(v.reduce("and_kernel_cuda", n, n))
                with sim.op("aten::is_nonzero", [[]], ["bool"]):
                    p.item()
            sim.think(60)


class AutotuningInWindow(Plant):
    """A shape that is new: every algorithm is timed."""

    id = "autotuning-in-window"
    accepted = frozenset({id})
    needs = Needs(base="convolutional")

    def configure(self, p: Program) -> None:
        self.laps = set(p.random.sample(range(1, p.spec.laps), min(3, p.spec.laps - 1)))

    def layer(self, p: Program, layer: int, lap: int) -> None:
        if not self.planted or lap not in self.laps:
            return
        sim, v = p.sim, p.v
        n, c, side = p.images, p.channels, p.side
        dims = [[n, c, side, side], [c, c, 3, 3]]
        library = "miopen" if p.spec.amd else "cudnn"
        real = v.convolution("fprop", n, c, side, c)
        names = _TRIALS_AMD if p.spec.amd else _TRIALS
        with (
            sim.op("aten::conv2d", dims, [v.half] * 2),
            sim.op("aten::convolution", dims, [v.half] * 2),
            sim.op(f"aten::{library}_convolution", dims, [v.half] * 2),
        ):
            for name in names:
                sim.call(sim.api["record"], 1.5)
                slow = sim.random.uniform(1.0, 6.0)
                sim.launch(Kernel(name, real.us * slow, real.grid, (128, 1, 1), 128, 32768))
                sim.call(sim.api["record"], 1.5)
                start = sim.now_ns
                sim.now_ns = max(start + 3000, sim.device_tail_ns() + 3000)
                sim._call(sim.api["event_sync"], start, {})
            sim.launch(real)


_TRIALS = (
    "void implicit_convolve_sgemm<__half, __half, 128, 6, 7, 3, 3, 5, 1, false, false, true>(int, int, int, __half const*, int, __half*)",
    "void cudnn::winograd_nonfused::winogradForwardData4x4<float, __half>(cudnn::winograd_nonfused::WinogradDataParams<float, __half>)",
    "void fft2d_r2c_32x32<__half, false, 1u, true>(float2*, __half const*, int, int, int, int)",
    "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_stage5_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
    "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage4_warpsize4x1x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
    "void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x5_nhwc_align8>(cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128_32x5_nhwc_align8::Params)",
    "void cudnn::cnn::implicit_convolveNd_sgemm<__half, 3, 1024, 5, 5, 3, 3, 3, 1, true, false, true>(int, int, int, __half const*, int)",
)  # fmt: skip
_TRIALS_AMD = (
    "naive_conv_ab_nonpacked_fwd_nhwc_half_double_half",
    "miopenSp3AsmConv_v30_3_1_gfx9_fp16_dot2_edc_stride1",
    "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt64x64x32_wt16x16x16_ws1x1_wr2x2_ta1x8x1x1_1x4x1x64_tb1x8x1x1_1x4x1x64",
    "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt256x64x32_wt64x32x4_ws1x1_wr2x1_ta1x8x4x1_1x4x1x64_tb1x8x1x1_1x4x1x64",
    "Im2d2Col_v2",
    "gridwise_convolution_implicit_gemm_v4r4_xdlops_nchw_kcyx_nkhw",
)

ALL: tuple[type[Plant], ...] = (
    InputStarvation, HostSync, LaunchBound, GraphGaps, GcPauses, PythonBetweenOps, LoggingMetrics,
    CheckpointStalls, HostWorkAfterModel, DebugSettings, DeviceAllocation, CacheEmptying,
    PinnedAllocation, CompileInWindow, GraphCaptureInWindow, WarmUpInWindow, WorkThatGrows,
    ChecksInHotPath, AutotuningInWindow,
)  # fmt: skip
