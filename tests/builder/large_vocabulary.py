"""Names and arguments of the large generated traces: a few thousand, as a training run has them.

Everything is drawn from one seeded generator. The texts are templates for ``%``: percent signs in
them are doubled.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

REPEATED = 0.7
"""Share of blocks that repeat a recent one's operators: sets how well the text compresses."""

_LAYERS = (
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "gate_proj",
    "up_proj",
    "down_proj",
    "norm",
    "act",
)
_OPS = (
    ("aten::linear", "aten::t", "aten::addmm", "aten::transpose"),
    ("aten::matmul", "aten::reshape", "aten::mm", "aten::view"),
    ("aten::scaled_dot_product_attention", "aten::empty_like", "aten::_flash_attention_forward",
     "aten::empty"),
    ("aten::layer_norm", "aten::empty", "aten::native_layer_norm", "aten::empty_strided"),
    ("aten::silu", "aten::empty_like", "aten::silu", "aten::empty_strided"),
    ("aten::to", "aten::empty_strided", "aten::copy_", "aten::as_strided"),
    ("aten::mul", "aten::expand", "aten::mul", "aten::as_strided"),
    ("aten::dropout", "aten::empty_like", "aten::native_dropout", "aten::empty"),
)  # fmt: skip
_BACKWARD = ("AddmmBackward0", "MmBackward0", "ScaledDotProductFlashAttentionBackward0",
             "NativeLayerNormBackward0", "SiluBackward0", "ToCopyBackward0", "MulBackward0",
             "NativeDropoutBackward0")  # fmt: skip
_FILES = ("modeling_llama.py", "trainer.py", "attention.py", "mlp.py", "embedding.py", "losses.py")
_TYPES = ("c10::BFloat16", "float", "c10::Half")
_FUNCTORS = ("CUDAFunctor_add", "BinaryFunctor<float, float, float, MulFunctor", "SiluFunctor",
             "FillFunctor", "direct_copy_kernel_cuda", "AddcmulFunctor",
             "sigmoid_kernel_cuda")  # fmt: skip


@dataclass(frozen=True)
class Block:
    """What one host block records: Python frames around four operators around one launch.

    ``ops`` are (name, arguments) of the outer, the early, the launching and the inner operator;
    ``stream`` is the kernel's stream; ``weight`` its mean duration relative to others'.
    """

    frames: Sequence[str]
    ops: Sequence[tuple[str, str]]
    kernel: str
    kernel_args: str
    stream: int
    weight: float


def escaped(text: str) -> str:
    """JSON text of a string, safe inside a ``%`` template."""
    return json.dumps(text).replace("%", "%%")


def _shape_args(rng: random.Random, inputs: int) -> str:
    """Arguments of an operator as ``record_shapes`` writes them."""
    rows = rng.choice((16, 32, 64, 128)) * rng.randint(1, 512)
    dims, strides, types, concrete = [], [], [], []
    for at in range(inputs):
        columns = rng.choice((768, 1024, 2048, 4096, 11008, 50257)) + (at * 64)
        dims.append(f"[{rows}, {columns}]")
        strides.append(f"[{columns}, 1]")
        types.append(f'"{rng.choice(_TYPES)}"')
        concrete.append('""')
        rows = columns
    return (
        f'"Concrete Inputs": [{", ".join(concrete)}, "1"], '
        f'"Input type": [{", ".join(types)}, "Scalar"], '
        f'"Input Strides": [{", ".join(strides)}, []], "Input Dims": [{", ".join(dims)}, []]'
    )


def _kernel_name(rng: random.Random, kind: int) -> str:
    """A kernel name of a kind: eager templates, cuBLAS, CUTLASS, Triton, attention."""
    tile = f"{rng.choice((64, 128, 256))}x{rng.choice((64, 128, 192, 256))}"
    if kind == 0:
        functor = rng.choice(_FUNCTORS)
        array = f"std::array<char*, {rng.randint(2, 4)}ul>"
        return (
            f"void at::native::vectorized_elementwise_kernel<{rng.choice((2, 4, 8))}, "
            f"at::native::{functor}<{rng.choice(_TYPES)}>, {array} >(int, "
            f"at::native::{functor}<{rng.choice(_TYPES)}>, {array})"
        )
    if kind == 1:
        return (
            f"nvjet_tst_{tile}_64x{rng.randint(2, 6)}_{rng.choice((1, 2))}x1_h_bz_"
            f"coopA_{rng.choice(('TNT', 'NNT', 'NTN'))}"
        )
    if kind == 2:
        return (
            f"ampere_bf16_s16816gemm_bf16_{tile}_ldg8_f2f_stages_{rng.choice((32, 64))}x"
            f"{rng.randint(3, 6)}_{rng.choice(('tn', 'nn', 'nt'))}"
        )
    if kind == 3:
        parts = rng.sample(("add", "mul", "silu", "native_layer_norm", "view", "mean", "rsqrt"), 4)
        kind_name = rng.choice(("poi", "red", "per"))
        return f"triton_{kind_name}_fused_{'_'.join(parts)}_{rng.randint(0, 999)}"
    return (
        "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_"
        f"{tile}_{rng.choice((32, 64))}x{rng.randint(2, 5)}_{rng.choice(('tn', 'nn'))}_align"
        f"{rng.choice((2, 4, 8))}>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_{tile}::Params)"
    )


def _kernel_args(rng: random.Random) -> str:
    """Launch geometry as Kineto writes it, after the ids."""
    blocks, threads = rng.randint(1, 60_000), rng.choice((128, 256, 512))
    per_sm, deep = blocks / 132, rng.choice((1, 2, 8))
    return (
        f'"registers per thread": {rng.randint(16, 255)},\n      "shared memory": '
        f'{rng.choice((0, 16384, 49152, 101376))},\n      "blocks per SM": {per_sm:.6f},\n'
        f'      "warps per SM": {per_sm * threads / 32:.6f},\n'
        f'      "grid": [{blocks}, {deep}, 1],\n      "block": [{threads}, 1, 1],\n'
        f'      "est. achieved occupancy %%": {rng.randint(0, 100)}'
    )


def _frames(rng: random.Random, layer: int, count: int) -> list[str]:
    """A chain of Python frames, outermost first."""
    chain = [f"nn.Module: LlamaDecoderLayer_{layer}"]
    while len(chain) < count - 1:
        part = rng.choice(_LAYERS)
        where = rng.choice(_FILES)
        chain += [
            "torch/nn/modules/module.py(1773): _wrapped_call_impl",
            "torch/nn/modules/module.py(1784): _call_impl",
            f"nn.Module: {part.title().replace('_', '')}_{rng.randint(0, 400)}",
            f"models/{where}({rng.randint(20, 2400)}): {part}_forward",
        ]
    kind = rng.choice(("linear", "layer_norm", "silu", "scaled_dot_product_attention"))
    last = f"<built-in method {kind} of type object at 0x7f1{layer:02d}a3c0>"
    return [*chain[: count - 1], last]


def _again(rng: random.Random, recent: Sequence[Block]) -> Block | None:
    """A recent block to repeat, or None for a new one."""
    plain = [b for b in recent if b.stream == 7]
    return rng.choice(plain) if plain and rng.random() < REPEATED else None


def forward_block(rng: random.Random, frames: int, recent: Sequence[Block]) -> Block:
    """A block of the main thread; it may repeat the operators of a recent one under new frames."""
    stack = _frames(rng, rng.randint(0, 79), frames)
    again = _again(rng, recent)
    if again:
        return replace(again, frames=stack)
    kind = rng.randrange(len(_OPS))
    ops = [(name, _shape_args(rng, 3 - (at & 1))) for at, name in enumerate(_OPS[kind])]
    heavy = rng.randrange(5)
    return Block(
        stack, ops, _kernel_name(rng, heavy), _kernel_args(rng), 7,
        rng.lognormvariate(0.0, 0.9) * (2.0 if heavy in (1, 2, 4) else 0.5),
    )  # fmt: skip


def backward_block(rng: random.Random, recent: Sequence[Block], comm: bool) -> Block:
    """A block of the autograd thread; ``comm`` makes it an all-reduce on its own stream."""
    again = _again(rng, recent)
    if again and not comm:
        return again
    kind = rng.randrange(len(_OPS))
    node = _BACKWARD[kind]
    names = [f"autograd::engine::evaluate_function: {node}", "aten::t", _OPS[kind][2], "aten::view"]
    kernel, stream, args = _kernel_name(rng, rng.randrange(5)), 7, _kernel_args(rng)
    if comm:
        elements = rng.randint(10**6, 10**8)
        names = ["c10d::allreduce_", "aten::empty", "record_param_comms", "aten::view"]
        kernel = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
        stream = 20
        args += (
            f',\n      "Collective name": "allreduce", "In msg nelems": {elements},'
            ' "Group size": 8, "dtype": "BFloat16", "Process Group Name": "0", '
            '"Process Group Description": "default_pg", '
            '"Process Group Ranks": "[0, 1, 2, 3, 4, 5, 6, 7]"'
        )
    ops = [(name, _shape_args(rng, 3 - (at & 1))) for at, name in enumerate(names)]
    return Block((), ops, kernel, args, stream, 6.0 if comm else rng.lognormvariate(0.0, 0.9))
