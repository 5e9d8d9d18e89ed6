"""Kernels by what they do: the names that each vendor's libraries give them, and how long they take.

A duration follows from work: FLOPs at the device's reachable rate times the waves that its grid
needs, or bytes at the reachable memory rate, whichever is longer, plus a start cost.
"""

# Kernels and functions are named as libraries spell them.
# ruff: noqa: E501

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from tests.planted_gpu.engine import Kernel
from tests.planted_gpu.spec import G2021, G2025, Spec

START_US = 1.4


def _ceil(a: float, b: float) -> int:
    return max(1, math.ceil(a / b))


@dataclass(frozen=True)
class Tile:
    """A GEMM kernel of a library: its name by orientation, its tile, what a block takes."""

    name: str
    m: int
    n: int
    threads: int
    registers: int
    shared: int
    per_sm: int
    api: str = "launch"
    persistent: bool = False


_FLASH = {
    "V100": ("fmha_cutlassF_f16_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t, cutlass::arch::Sm70, true, 64, 64, 64, true, true>::Params)",
             "fmha_cutlassB_f16_aligned_64x64_k64_sm70(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::arch::Sm70, cutlass::half_t, true, false, false, 64, 64, 64>::Params)"),
    "A100": ("void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, false>(pytorch_flash::Flash_fwd_params)",
             "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t>, false, true, false, false, true, true>(pytorch_flash::Flash_bwd_params)"),
    "H100": ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_6_64x128x128_4x1x1_kernel0_0",
             "cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_8_64x64x128_1x1x1_kernel0_0"),
    "MI250": ("attn_fwd", "bwd_kernel_dk_dv"),
    "MI300": ("attn_fwd", "bwd_kernel_fuse"),
}  # fmt: skip


class Vocabulary:
    """The kernels of one run."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.device = spec.device
        self.random = random.Random(f"names {spec.seed}")
        self.half = self.device.dtype
        key = self.device.key
        if key == "V100":
            tiles = [
                Tile("volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_{}", 128, 128, 256, 118, 32768, 2)
            ]
        elif key == "A100":
            tiles = [
                Tile(
                    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_{}",
                    128,
                    128,
                    128,
                    238,
                    81920,
                    2,
                ),
                Tile(
                    "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_{}_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_{}_align8::Params)",
                    128,
                    128,
                    128,
                    242,
                    81920,
                    2,
                ),
            ]
        elif key == "H100":
            tiles = [
                Tile(
                    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_{}_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
                    128,
                    128,
                    384,
                    168,
                    213000,
                    1,
                    "launch_ex",
                ),
                Tile(
                    "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_{}",
                    128,
                    256,
                    384,
                    168,
                    214000,
                    1,
                    "launch_ex",
                    True,
                ),
            ]
        else:
            isa = "ISA90a" if key == "MI250" else "ISA942"
            tiles = [
                Tile("Cijk_{}_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_EPS0_GRVWA8_GRVWB8_GSUAMB_" + isa + "_IU1_K1", 256, 128, 256, 128, 49152, 1, "launch_ex"),
                Tile("Cijk_{}_BBS_BH_MT128x128x32_MI32x32x8x1_SN_1LDSB0_APM1_ABV0_ACED0_AF0EM1_AF1EM1_AMAS3_" + isa + "_IU1_K1", 128, 128, 256, 128, 32768, 1, "launch_ex"),
            ]  # fmt: skip
        self.tile = self.random.choice(tiles)
        self.plain_tile = next(t for t in tiles if not t.persistent)

    # Matrix products

    def gemm(self, m: int, n: int, k: int, way: str = "tn", single: bool = False) -> Kernel:
        """A well-made matrix product; ``single``: in fp32 without tensor cores."""
        tile = self.single_tile() if single else self.tile
        return self.product(tile, m, n, k, way, self.device.single if single else self.device.half)

    def product(
        self, tile: Tile, m: int, n: int, k: int, way: str, rate: float, split: bool = True
    ) -> Kernel:
        blocks = _ceil(m, tile.m) * _ceil(n, tile.n)
        slots = self.device.sms * tile.per_sm
        z = 1
        if split and not tile.persistent:
            while z < 48 and blocks * z / slots / math.ceil(blocks * z / slots) < 0.965:
                z += 1
        waves = blocks * z / slots
        stretch = 1.0 if tile.persistent else math.ceil(waves) / waves
        size = 4 if rate == self.device.single else 2
        compute = 2.0 * m * n * k / rate * 1e6 * stretch
        moved = size * (m * k + n * k + m * n) / self.device.memory * 1e6
        grid = (slots, 1, 1) if tile.persistent else (_ceil(m, tile.m), _ceil(n, tile.n), z)
        if self.spec.amd:
            grid = (blocks * z, 1, 1)
        way = (
            {"tn": "Alik_Bljk", "nn": "Ailk_Bljk", "nt": "Ailk_Bjlk"}[way] if self.spec.amd else way
        )
        if "nvjet" in tile.name:
            way = way.upper() + "N"
        return Kernel(
            tile.name.replace("{}", way),
            START_US + max(compute, moved),
            grid,
            (tile.threads, 1, 1),
            tile.registers,
            tile.shared,
            api=tile.api,
        )

    def single_tile(self) -> Tile:
        name = {
            "V100": "volta_sgemm_128x64_{}",
            "A100": "ampere_sgemm_128x64_{}",
            "H100": "sm80_xmma_gemm_f32f32_f32f32_f32_{}_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
            "MI250": "Cijk_{}_SB_Bias_HA_S_SAV_UserArgs_MT128x64x16_MI16x16x1_SN_LDSB0_AFC1_ISA90a",
            "MI300": "Cijk_{}_S_B_Bias_HA_S_SAV_UserArgs_MT128x64x16_MI16x16x1_SN_LDSB0_AFC1_ISA942",
        }[self.device.key]  # fmt: skip
        return Tile(name, 128, 64, 128, 122, 12544, 4 if not self.spec.amd else 1)

    def convolution(self, way: str, n: int, c: int, side: int, k: int) -> Kernel:
        """A 3x3 convolution with tensor cores, channels last. ``way``: fprop, dgrad, wgrad."""
        kind = "f16" if self.device.key == "V100" else "bf16"
        if self.spec.amd:
            word = {"fprop": "fwd", "dgrad": "bwd", "wgrad": "wrw"}[way]
            name = f"igemm_{word}_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_tb1x8x2x1_1x4x1x64_gkgs"
        elif self.device.key == "V100":
            name = f"void xmma_cudnn::gemm::kernel<xmma_cudnn::implicit_gemm::{way}::Kernel_traits<xmma_cudnn::Volta_hmma_fp32_traits, 128, 128, 32> >"
        else:
            arch = "sm90" if self.device.key == "H100" else "sm80"
            name = f"{arch}_xmma_{way}_implicit_gemm_{kind}{kind}_{kind}f32_f32_nhwckrsc_nhwc_tilesize128x128x64_stage4_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn"
        flops = 2.0 * n * side * side * c * k * 9
        blocks = _ceil(n * side * side, 128) * _ceil(k, 128)
        if way == "wgrad":
            blocks = max(blocks, self.device.sms * 8)
        # Whole waves of up to two blocks a multiprocessor: no time is lost to the last one.
        blocks = _ceil(blocks, 2 * self.device.sms) * 2 * self.device.sms
        us = START_US + flops / (self.device.half * 0.9) * 1e6
        return Kernel(name, us, (blocks, 1, 1), (128, 1, 1), 224, 81920, api="launch_ex")

    # Memory-bound

    def pointwise(self, name: str, size: int, count: int, vector: int = 4) -> Kernel:
        """A memory-bound kernel over ``size`` bytes in all, ``count`` elements."""
        us = START_US + size / self.device.memory * 1e6
        return Kernel(name, us, (_ceil(count, 128 * vector), 1, 1), (128, 1, 1), 26, 0)

    def elementwise(self, functor: str, size: int, count: int, inputs: int = 1) -> Kernel:
        array = "at::detail::Array" if self.spec.generation == G2021 else "std::array"
        kind = f"{array}<char*, {inputs + 1}{'ul' if array == 'std::array' else ''}>"
        name = f"void at::native::vectorized_elementwise_kernel<4, {functor}, {kind} >(int, {functor}, {kind})"
        return self.pointwise(name, size, count)

    def add(self, count: int, size: int = 2) -> Kernel:
        kind = self.half if size == 2 else "float"
        return self.elementwise(f"at::native::CUDAFunctor_add<{kind}>", 3 * size * count, count, 2)

    def mul(self, count: int, size: int = 2) -> Kernel:
        kind = self.half if size == 2 else "float"
        functor = f"at::native::BinaryFunctor<{kind}, {kind}, {kind}, at::native::binary_internal::MulFunctor<float> >"
        return self.elementwise(functor, 3 * size * count, count, 2)

    def scale(self, count: int, size: int = 2) -> Kernel:
        kind = self.half if size == 2 else "float"
        functor = f"at::native::AUnaryFunctor<{kind}, {kind}, {kind}, at::native::binary_internal::MulFunctor<float> >"
        return self.elementwise(functor, 2 * size * count, count)

    def unary(self, word: str, count: int, size: int = 2) -> Kernel:
        functor = f"at::native::{word}_kernel_cuda(at::TensorIteratorBase&)::{{lambda()#2}}::operator()() const::{{lambda()#2}}::operator()() const::{{lambda({'float' if size == 4 else self.half})#1}}"
        return self.elementwise(functor, 2 * size * count, count)

    def activation(self, count: int) -> Kernel:
        functor = "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
        return self.elementwise(functor.replace("c10::BFloat16", self.half), 4 * count, count)

    def cast(self, count: int, up: bool) -> Kernel:
        if up:
            functor = "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}"
            name = f"void at::native::unrolled_elementwise_kernel<{functor}, std::array<char*, 2ul>, 4, TrivialOffsetCalculator<1, unsigned int>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int, {functor}, std::array<char*, 2ul>)"
            return self.pointwise(name, 6 * count, count)
        word = "float16" if self.half == "c10::Half" else "bfloat16"
        functor = (
            f"at::native::{word}_copy_kernel_cuda(at::TensorIteratorBase&)::{{lambda(float)#1}}"
        )
        return self.elementwise(functor, 6 * count, count)

    def strided_copy(self, count: int) -> Kernel:
        """What ``contiguous`` of a transposed tensor runs."""
        functor = "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}".replace(
            "c10::BFloat16", self.half
        )
        name = f"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<{functor}>(at::TensorIteratorBase&, {functor} const&)::{{lambda(int)#1}}>(int, at::native::gpu_kernel_impl_nocast<{functor}>(at::TensorIteratorBase&, {functor} const&)::{{lambda(int)#1}})"
        us = START_US + 4 * count / (self.device.memory * 0.55) * 1e6
        return Kernel(name, us, (_ceil(count, 512), 1, 1), (128, 1, 1), 18, 0)

    def transpose(self, count: int, last: bool) -> Kernel:
        """A library's own change between channels first and channels last."""
        if self.spec.amd:
            word = self.random.choice(
                ["batched_transpose_32x32_half", "batched_transpose_16x32_half"]
            )
            us = START_US + 4 * count / (self.device.memory * 0.7) * 1e6
            return Kernel(word, us, (_ceil(count, 1024), 1, 1), (256, 1, 1), 32, 0, api="launch_ex")
        ways = ("nchwToNhwc", "nhwcToNchw")
        kind = "__half" if self.half == "c10::Half" else "__nv_bfloat16"
        word = ways[0] if last else ways[1]
        space = "cudnn::ops" if self.spec.generation != G2025 else "cudnn::engines_precompiled"
        name = f"void {space}::{word}Kernel<{kind}, {kind}, float, {'false, true' if last else 'true, false'}, (cudnnKernelDataType_t)0>({space}::{word.replace('To', '2').lower()}_params_t<float>, {kind} const*, {kind}*)"
        us = START_US + 4 * count / (self.device.memory * 0.75) * 1e6
        return Kernel(name, us, (_ceil(count, 4096), 1, 4), (256, 1, 1), 32, 2112)

    def norm(self, rows: int, width: int) -> Kernel:
        """Residual addition and layer norm in one kernel, as compilers and fused libraries make it."""
        name = self.random.choice([
            "triton_per_fused_add_native_layer_norm_2",
            "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_4",
            f"void vllm::fused_add_rms_norm_kernel<{self.half}, 8>({self.half}*, long, {self.half}*, {self.half} const*, float, int, int)",
        ])  # fmt: skip
        us = START_US + 8 * rows * width / self.device.memory * 1e6
        api = "driver" if name.startswith("triton") else "launch"
        return Kernel(name, us, (rows, 1, 1), (256, 1, 1), 40, 128, api=api)

    def norm_backward(self, rows: int, width: int) -> Kernel:
        us = START_US + 10 * rows * width / self.device.memory * 1e6
        name = "triton_red_fused_add_native_layer_norm_native_layer_norm_backward_sum_7"
        return Kernel(name, us, (rows, 1, 1), (256, 1, 1), 48, 256, api="driver")

    def triton(self, ops: str, size: int, count: int, number: int = 0) -> Kernel:
        us = START_US + size / self.device.memory * 1e6
        name = f"triton_poi_fused_{ops}_{number}"
        return Kernel(name, us, (_ceil(count, 1024), 1, 1), (256, 1, 1), 30, 0, api="driver")

    def reduce(self, op: str, size: int, count: int, blocks: int | None = None) -> Kernel:
        kind = f"at::native::ReduceOp<float, at::native::{op}<float, float, float, float>, unsigned int, float, 4, 4>"
        name = f"void at::native::reduce_kernel<512, 1, {kind} >({kind})"
        us = START_US + 1.5 + size / self.device.memory * 1e6
        grid = blocks if blocks is not None else min(_ceil(count, 4096), self.device.sms * 8)
        return Kernel(name, us, (grid, 1, 1), (32, 16, 1), 34, 16)

    def softmax(self, rows: int, width: int, backward: bool = False) -> Kernel:
        way, reads = ("backward", 3) if backward else ("forward", 2)
        name = f"void (anonymous namespace)::softmax_warp_{way}<{self.half}, {self.half}, float, 11, false{'' if backward else ', false'}>({self.half}*, {self.half} const*, int, int, int)"
        us = START_US + 2 * reads * rows * width / self.device.memory * 1e6
        return Kernel(name, us, (_ceil(rows, 4), 1, 1), (32, 4, 1), 66, 0)

    def flash(self, tokens: int, sequence: int, width: int, backward: bool = False) -> list[Kernel]:
        """Fused attention: 4 T S d FLOPs forward, 2.5 times that backward, half of them masked."""
        names = _FLASH[self.device.key]
        flops = 4.0 * tokens * sequence * width * (2.5 if backward else 1.0) / 2
        us = 4.0 + flops / (self.device.half * 0.55) * 1e6
        blocks = _ceil(tokens, 128) * max(1, width // 64)
        kernel = Kernel(
            names[1] if backward else names[0], us, (blocks, 1, 1), (128, 1, 1), 168, 65536
        )
        if backward and self.device.key == "MI250":
            first = Kernel(kernel.name, us * 0.6, kernel.grid, kernel.block, 128, 32768)
            return [first, Kernel("bwd_kernel_dq", us * 0.4, kernel.grid, kernel.block, 128, 32768)]
        return [kernel]

    def tiny(self, functor: str, us: float, blocks: int) -> Kernel:
        """A kernel over a small tensor."""
        kernel = self.elementwise(functor, 1, 1)
        return Kernel(kernel.name, us, (blocks, 1, 1), (128, 1, 1), 24, 0)

    def fused_optimizer(self, parameters: int) -> list[Kernel]:
        """Adam in multi-tensor kernels: 28 bytes a parameter, in pieces."""
        meta = "at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>"
        functor = "at::native::(anonymous namespace)::FusedAdamMathFunctor<float, 4, (at::native::(anonymous namespace)::ADAM_MODE)1, false>"
        name = f"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<{meta}, {functor}, float const*, double, double, double, double, double, bool, float*, float*>({meta}, {functor}, float const*, double)"
        pieces = max(1, parameters // 40_000_000)
        us = 28 * parameters / pieces / self.device.memory * 1e6
        blocks = max(320, parameters // pieces // 65536)
        return [Kernel(name, us, (blocks, 1, 1), (512, 1, 1), 48, 0)] * pieces

    def collective(self, word: str, us: float, elements: int) -> Kernel:
        half = "half" if self.half == "c10::Half" else "bf16"
        if self.spec.amd:
            name = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
        elif self.spec.generation == G2021:
            name = f"ncclKernel_{word}_RING_LL_{'Sum_' if word == 'AllReduce' else ''}half(ncclWorkElem)"
        elif self.spec.generation != G2025:
            name = f"ncclKernel_{word}_RING_LL_{'Sum_' if word == 'AllReduce' else ''}half(ncclDevComm*, unsigned long, ncclWork*)"
        else:
            name = f"ncclDevKernel_{word}_{'Sum_' + half + '_' if word == 'AllReduce' else ''}RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        args: list[tuple[str, object]] = []
        if self.spec.generation == G2025 and not self.spec.amd:
            args = [
                ("Collective name", {"AllReduce": "allreduce", "AllGather": "allgather"}[word]),
                ("In msg nelems", elements),
                ("Out msg nelems", elements * (1 if word == "AllReduce" else self.spec.ranks)),
                ("Group size", self.spec.ranks),
                ("dtype", self.half.removeprefix("c10::")),
                ("Process Group Name", "0"),
                ("Process Group Description", "default_pg"),
            ]
        return Kernel(
            name, us, (24, 1, 1), (544, 1, 1), 96, 82240, tuple(args),
            "launch_ex" if self.spec.generation == G2025 else "launch",
        )  # fmt: skip
