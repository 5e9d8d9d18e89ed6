"""Public words, which tell nothing of who recorded a trace: kept wherever they stand.

Words of PyTorch, CUDA, ROCm, NCCL, Kineto, of the loaders and launchers around them, and plain
words of steps. A name is replaced word by word, so that its form (paths, lines, numbers) stays.
"""

from __future__ import annotations

import re
import sys

_WORDS = """
a ac AccumulateGrad Activity Adadelta Adafactor Adagrad Adam Adamax AdamW AdaptiveAvgPool all
allgather allreduce alltoall and annotation ASGD async at autograd AvgPool backward barrier
batch BatchNorm BCELoss BFloat bfloat Bilinear Bool bool broadcast Buffer built builtin Byte
bytecode c cache call char clock coalesced collate Command comms compile Compiled
CompiledFunction CompiledFunctionBackward CompiledFxGraph Compiler Context context Conv
ConvTranspose CPU cpu CrossEntropyLoss cublas cublasLt cuda cudnn cutlass d data DataLoader
dataloader DataParallel DataPipe DDP decode default Device dictcomp DistributedDataParallel
Double double Driver driver Dropout DtoD DtoH dynamo ELU Embedding EmbeddingBag End engine
enumerate epoch eval evaluate evaluation Event execute False fetch Flatten Float float for
forward from FSDP Full FullyShardedDataParallel Function function fwdbwd g gather GC gc GELU
generation GenericList genexpr get global gloo GPU gpu grad group GroupNorm GRU Half half
Hardtanh hip Host HtoD Identity impl in index inductor infer inference init InstanceNorm
Instrumentation Int int io is iter Iteration iteration IterDataPipe jit kernel labels lambda lap
laptime LayerNorm Lazy LBFGS LeakyReLU Linear Lion listcomp Loading local LogSoftmax Long long
lookup loop loss lr LSTM main Managed MapDataPipe MaxPool Memcpy memory Memset method model
Module module ModuleList mpi MSELoss mtia MultiheadAttention MultiProcessingDataLoaderIter Muon
NAdam name nccl new next NLLLoss nn None object of on op Optimizer optimizer Optional Overhead
overhead Pageable param pg pin Pinned pool prefill Pregraph process Profiler profiler
ProfilerStep pt PtoP py pyc pyi Python python PyTorch RAdam rccl Record record recv reduce
reducescatter Region ReLU Request request Resource RMSNorm RMSprop RNN rocm Rprop run Runtime
runtime Scalar ScalarList scatter scheduler send sequence Sequential SGD Sigmoid SiLU
SingleProcessDataLoaderIter Softmax sort Spans SparseAdam Start step Stream stream string Sync
Tanh Tensor TensorList test the thread to tokens Torch torch Trace Traces train training
Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
TransformerEncoderLayer Triggered triton True type ucc undefined Unflatten Unknown Unrecognized
Upsample user valid validation Wait Window with worker wrapped wrapper xpu zero
"""
WORDS = frozenset(_WORDS.split())

_NAMESPACES = """
aten prim prims c10d c10d_functional _c10d_functional _c10d_functional_autograd quantized sparse
mkldnn onednn torchvision symm_mem profiler inductor detectron2 fbgemm bitsandbytes nccl rccl
"""
_PACKAGES = """
torch torchvision torchaudio torchtext numpy pandas scipy lightning pytorch_lightning
lightning_fabric transformers accelerate deepspeed diffusers datasets tokenizers triton apex
vllm sglang tensorboard tensorboardX wandb mlflow nvidia timm peft flash_attn xformers
torch_geometric torchrec megatron PIL cv2 tqdm ray
"""

_FRAME = r"\.py\(\d+\): [\w.<>]+"
_STANDARD = "|".join(sorted(sys.stdlib_module_names))

PUBLIC = re.compile(
    rf"(?<![\w:])(?:{'|'.join(_NAMESPACES.split())})::\w+(?:\.\w+)?"
    r"|(?<!\w)[A-Z]\w*Backward\d+(?!\w)"
    r"|torch::(?:autograd|jit|distributed)::\w+(?:::\w+)*"
    r"|^(?:cuda|cu|hip|hsa|ze|ur|nvrtc|hiprtc)[A-Z]\w*$"
    r"|^(?:nccl|rccl|gloo|mpi|ucc):\w+$"
    rf"|(?:(?<=^)|(?<=site-packages/)|(?<=dist-packages/))(?:{'|'.join(_PACKAGES.split())})(?:/[\w.]+)*{_FRAME}"
    rf"|(?:(?<=^)|(?<=/lib/python\d\.\d\d/)|(?<=/lib/python\d\.\d/))(?:{_STANDARD})(?:/[\w.]+)*{_FRAME}"
    r"|torch/_\w+(?:/\w+)*\.py"
)
"""Parts of names that are public as they stand: operators, API calls, frames of known libraries."""

_KEYS = """
    ph cat name pid tid ts dur id args s bp traceEvents schemaVersion deviceProperties
distributedInfo displayTimeUnit record_shapes with_stack with_modules with_flops profile_memory
baseTimeNanoseconds traceName trace_id hostname host_name cuda_runtime_version
cuda_driver_version cupti_version hip_runtime_version hip_driver_version roctracer_version
nccl_version rank world_size backend pg_count pg_config pg_name pg_desc backend_config pg_size
ranks External_id labels sort_index device stream context correlation queue registers dtype
queued bytes Bytes Addr kind kernel grid block src dst type ptr
"""
_KEYS_OF_WORDS = (
        "External id", "external id", "Ev Idx", "Record function id", "Sequence number",
        "Fwd thread id", "Concrete Inputs", "Input type", "Input Dims", "Input dims",
        "Input Strides", "Python id", "Python parent id", "Python module id", "Call stack",
        "Module Hierarchy", "Trace name", "Trace iteration", "shared memory", "blocks per SM",
        "warps per SM", "est. achieved occupancy %", "memory bandwidth (GB/s)", "graph id",
        "graph node id", "cbid", "Device Id", "Device Type", "Total Allocated", "Total Reserved",
        "Collective name", "In msg nelems", "Out msg nelems", "In split size", "Out split size",
        "Group size", "Process Group Name", "Process Group Description", "Process Group Ranks",
        "Global rank start", "Global rank stride", "Src Rank", "Dst Rank", "Seq", "Rank",
        "cuda_sync_kind", "event_id", "hsa_queue", "wait_on_stream", "wait_on_cuda_event_id",
        "wait_on_cuda_event_record_corr_id", "Profiler Event Index", "Op count", "dims", "Shapes",
        "kernel_hash", "kernel_backend", "kernel_file", "kernel_name", "kernel_kwargs", "flops",
        "registers per thread",
)  # fmt: skip
KNOWN_KEYS = frozenset([*_KEYS.split(), *_KEYS_OF_WORDS])
"""Keys that profilers write; any other key is a name like others."""

VALUES_KEPT = frozenset(
    {"ph", "s", "bp", "kind", "dtype", "cuda_sync_kind", "Input type", "type", "Collective name",
     "displayTimeUnit", "backend", "kernel", "backend_config", "kernel_backend", "Trace name"}
)  # fmt: skip
"""Keys whose texts are the profiler's own words."""

BY_WORD = frozenset(
    {"name", "cat", "pid", "tid", "id", "labels", "Process Group Name", "Process Group Description",
     "pg_name", "pg_desc", "Module Hierarchy", "Call stack", "stream", "device"}
)  # fmt: skip
"""Keys whose texts are replaced word by word; texts of others are replaced whole."""
