"""Every threshold of the causes, with where it comes from and what was measured behind it.

Shares are of counted lap time, 0..1. A limit only decides whether a cause speaks; the figures it
then gives are measured, never the limit.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """A threshold: ``value`` in ``unit``, its ``source``, the measurement it was set by."""

    value: float
    unit: str
    source: str
    measured: str


INPUT_SHARE = Limit(
    0.05,
    "share of lap time",
    "PyTorch's tensorboard plug-in advised workers above 5 % of the step in the loader",
    "ResNet-50 on V100: 32 % idle in the loader without workers, 0.5 % with four",
)

COPY_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "ResNet-50 on V100: 19 MB from pageable memory cost about 2 ms of a 175 ms lap (1.2 %), "
    "3 ms of a 126 ms lap with four workers (2.5 %)",
)

TINY_COPY_BYTES = Limit(
    65536,
    "bytes",
    "CUDA stages pageable copies of up to 64 KB and returns at once (CUDA runtime API, "
    "'API synchronization behavior')",
    "V100: calls for 256 B return after 13-27 us, a call for 19 MB took up to 40.0 ms",
)

SYNC_SHARE = Limit(
    0.02,
    "share of lap time",
    "nsys-ai 0.3.0 speaks above 2 % of device time",
    "published traces: up to 1.5 % (toy training on MI250), DLRM on eight V100 0.7-1.1 %; an "
    ".item() off the critical side, removed, changed 34.0 to 34.2 ms",
)

EXPOSED_COPY_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: copies that are not pageable ones run alone for 0.0 to 1.1 % of the lap",
)

ALLOCATION_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "steady laps of published traces have no allocation call at all; the first use of a device "
    "spends 52 and 66 % of its window in them",
)

COMPILE_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces of iterations: up to 0.5 % (modules loaded at first use); of a graph's "
    "capture: 95 %",
)

CHECK_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: up to 1.4 % (a mask checked once in a pass of 3.9 ms)",
)

DEBUG_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: none has such settings on",
)

BLOCKING_LAUNCHES = Limit(
    0.95,
    "share of kernel launches",
    "with blocking launches every call returns after its kernel; a twentieth is left to clocks",
    "published traces: up to 1.3 % (1 of 79 calls lasts until its kernel has ended)",
)

ANOMALY_NODES = Limit(
    0.5,
    "share of the nodes of autograd",
    "anomaly mode checks every node with a gradient; nodes without one are not checked",
    "published traces: none is checked",
)

GRAPH_GAP_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: no two replays with host time between them",
)

SMALL_COLLECTIVE_NS = Limit(
    50_000,
    "ns",
    "twice the latency of a ring of eight devices in one host; what ends sooner waits for little",
    "B200: all-reduces of symmetric memory of 10 to 30 us",
)

SMALL_COLLECTIVES = Limit(
    10,
    "collectives a lap",
    "fewer have little to merge",
    "DLRM on eight V100: 8 a lap; DDP of one model with small buckets: 404 a lap",
)

SMALL_COLLECTIVE_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "B200 tensor-parallel: 2.1 %",
)

MICRO_STEP_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: none accumulates gradients",
)

OBJECT_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's own budget for unexplained time; below it a cause cannot be told from noise",
    "published traces: no barrier and no collective of objects in a lap",
)

WARM_UP_EXCESS = Limit(
    0.02,
    "share of the mean of steady laps",
    "the ledger's own budget for unexplained time; a mean that is off by less misleads nobody",
    "ResNet-50 with four workers: the mean of all laps is 6 % above that of the steady ones",
)

LAUNCH_SHARE = Limit(
    0.05,
    "share of lap time",
    "half of gpuprof's 10 % launch gap; the ledger counts only time with nothing enqueued",
    "eager BERT-small on H100: 89 %; a V100 whose host runs ahead: 0.0 %",
)

LAUNCH_GAP_NS = Limit(
    1_000_000,
    "ns",
    "nsys-ai 0.3.0 treats gaps above 1 ms as stalls of their own, not as launch cost",
    "mean gap of launch-bound traces: 37-152 us; a loader's next leaves one gap of 57 ms",
)

COMM_SHARE = Limit(
    0.05,
    "share of lap time",
    "half of the tensorboard plug-in's 10 %, since only exposed time counts here",
    "B200 tensor-parallel: 2.5 %; DDP on V100: 17 %; DLRM on eight V100: 14-60 %",
)

FP32_SHARE = Limit(
    0.05,
    "share of lap time",
    "a twentieth of the lap is the least that a change of number format is worth proposing for",
    "fp32 convolutions on V100: 23-57 % of the lap; bf16 language model on H100: below 0.1 %",
)

HEALTHY_BUSY = Limit(
    0.90,
    "share of lap time",
    "above gpu-idle's 80 %: what remains idle must be less than two causes' least shares",
    "V100 whose host runs ahead: 98.8 % busy; H100 forward pass: 91.4 %; launch-bound: 2-90 %",
)

UNATTRIBUTED_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget; above it an accounting is incomplete",
    "published traces with host rows: up to 1.6 %; one without rows of its graphs' kernels: 52 %",
)

STEADY_LAPS = Limit(
    3,
    "laps",
    "fewer than three whole laps allow totals, not statistics of laps",
    "spread of whole laps in one trace: 126 to 163 ms (ResNet-50, four workers)",
)

PROFILER_SHARE = Limit(
    0.05,
    "share of lap time",
    "the profiler's own rows then cost as much as a cause worth naming",
    "published traces: below 0.1 % in every one",
)

LOST_ACTIVITY_SHARE = Limit(
    0.01,
    "share of kernel launches",
    "the profiler drops activities only when its buffers overflow; a healthy trace has all",
    "published traces: none lost outside graph capture, but for one without any device row",
)

UNEXPLAINED_IDLE = Limit(
    0.5,
    "share of idle time",
    "gpu-idle lets a second cause speak only where the first leaves more than half of the idle "
    "time unexplained",
    "ResNet-50 without workers: the loader explains 75 % of the idle time",
)

LARGER_THAN_FOUND = Limit(
    2.0,
    "times the largest share found",
    "below it the account and the finding may be the same time under two names",
    "eager model on B200: launch-bound 71 %, account host_ops 75 %; toy training on MI250: "
    "launch-bound 20 %, account host_launch 74 %",
)

SLIVER = Limit(
    0.9,
    "share of the host lap",
    "the device's share of the lap is lower than that of its window by more than a tenth",
    "H100 forward pass: 34.9 ms between first and last kernel of a 47.2 ms lap (0.74), busy 91 % "
    "of them and 68 % of the lap; other single-lap traces 0.78 to 1.02; a graph capture 0.0003",
)

MEAN_OVER_MEDIAN = Limit(
    2.0,
    "times the median lap",
    "above it the mean is made by few laps, and no lap has as much as it says",
    "published traces: up to 1.1; one pause of an hour among five laps of 10 ms: 72000",
)

HOST_AHEAD = Limit(
    0.02,
    "share of the host laps",
    "above it the lag between host and device grows from lap to lap: the device is what limits",
    "V100 paced by its host: device laps 0.1 % longer; a host that runs ahead of a device 99.8 % "
    "busy: 7.5 %",
)

LEAST_BOUND = Limit(
    0.01,
    "share of lap time",
    "half of the least share that any cause speaks at",
    "a paced host waits 0 to 2 % of the lap in calls beside device work; ResNet-50 with four "
    "workers 15 %",
)

LEAST_TICKS = Limit(
    10,
    "samples",
    "a share of sampled time is told to a tenth by ten samples, no better by fewer",
    "the sampler reads 20 times a second: half a second of laps",
)

WORKERS_STARVED = Limit(
    0.3,
    "share of the workers' time",
    "a third of a worker's time: above what a worker waits for its turn beside one other thread",
    "an in-process loader beside other programs: 0.09; two workers that compute on two cores, 1.5 "
    "of which others use: 0.78",
)

WORKERS_MOSTLY = Limit(
    0.5,
    "share of the workers' time",
    "what takes most of the time names the kind of work",
    "an in-process loader that computes: 0.90; workers that sleep in each item: 0.985 asleep",
)

RUN_QUEUE_SHARE = Limit(
    0.1,
    "share of the process's runnable time",
    "a tenth of the time that its threads want to run; below it other causes are larger",
    "a host shared with other programs: 0.46 to 0.84; 8 threads on 2 cores of it: 0.89",
)

WANTED_OVER_CORES = Limit(
    1.1,
    "times the cores allowed",
    "a program that wants a tenth more than its cores has nothing to gain from fewer threads",
    "2 intra-op threads on 2 cores of a shared host want 2.0; 8 threads want 4.1",
)

OTHERS_CORES = Limit(
    0.05,
    "share of the cores allowed",
    "what others use must be able to explain a tenth of delay",
    "a host shared with other programs: 0.75 to 0.85",
)

THROTTLED_SHARE = Limit(
    0.02,
    "share of the laps' time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "none of the captures behind this table ran under a quota: taken from the budget alone",
)

GC_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "a plain loop: below 0.001; a full collection over 300,000 lists in each lap: 0.71",
)

MASK_BUSY = Limit(
    0.85,
    "share of the CPUs of the mask",
    "a mask that is not full does not hold anything back",
    "two threads pinned to one CPU that others use as well: 0.5",
)

OPERATOR_SHARE = Limit(
    0.25,
    "share of lap time",
    "twice the cores gain at most half of it: an eighth of the lap",
    "laps of linear layers of 6,400 x 256 on one thread: 0.98; of a collector beside layers of "
    "16 x 256: 0.27",
)

LARGE_OPERATOR_NS = Limit(
    200_000,
    "ns",
    "torch splits pointwise work from 32,768 elements on (at::internal::GRAIN_SIZE), which takes "
    "tens of microseconds; ten times that is sure to be split",
    "linear layers of 6,400 x 256 on one thread: 13 ms each (median, shared host); of 16 x 256: "
    "0.06 ms",
)

FAULTS_PER_LAP = Limit(
    2000,
    "faults a lap",
    "8 MB in pages of 4 KiB: the size from which glibc always maps and unmaps a block anew "
    "(DEFAULT_MMAP_THRESHOLD_MAX is 32 MB, reached after frees of such blocks)",
    "plain loops: 68 to 11,355 a lap; six buffers of 64 MB made in each lap: 98,331",
)

FAULT_KERNEL_SHARE = Limit(
    0.05,
    "share of the laps' time",
    "a twentieth of the lap is the least that is worth a change of allocator",
    "plain loops: 0.002 to 0.027; six buffers of 64 MB made in each lap: 0.19",
)

MEMORY_LEFT = Limit(
    0.05,
    "share of memory",
    "below it the kernel reclaims while programs allocate (watermarks are 1 to 3 % of memory)",
    "hosts of all captures: 0.5 and more",
)

MEMORY_STALL = Limit(
    0.01,
    "share of the laps' time",
    "half of the least share that any cause speaks at",
    "hosts of all captures: 0",
)

REMADE_SHARE = Limit(
    0.05,
    "share of the laps' time",
    "the same share from which waiting for input is told",
    "two workers made again every fourth lap: 0.15",
)

MOSTLY_OWN = Limit(
    0.6,
    "share of the cores allowed",
    "above half of the cores the program competes with itself more than with others",
    "programs beside others on a shared host: 0.15 to 0.25",
)

IDLE_BESIDE = Limit(
    0.25,
    "cores",
    "what is idle beside a mask must be able to take a tenth of a thread's time and more",
    "a host shared with other programs: 0 to 0.05",
)

OPTIMIZER_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "SGD of ResNet-50, 483 kernels a lap: 11 and 18 %; Adagrad of DLRM, 64: 8 to 14 %; SGD through "
    "_foreach_ operators: 0 kernels",
)

SEPARATE_KERNELS = Limit(
    32,
    "kernels a lap",
    "fewer launches than one multi-tensor kernel has room for tensors (110 with one list, 36 with "
    "four: depth_to_max_tensors in MultiTensorApply.cuh) are a single kernel's worth at most",
    "fused and multi-tensor optimizers of published traces: 0; loops over parameters: 64 to 483",
)

LAYOUT_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "ResNet-18 in bf16 through MIOpen: 14 and 2.9 %; a language model before and behind its fused "
    "attention: 4.4 and 7.9 %; fp32 ResNet-50 on V100: 0.1 %",
)

CAST_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "an eager bf16 language model with norms in fp32: 5.3 and 6.7 %; DLRM on eight V100: 0.2 %",
)

ELEMENTWISE_SHARE = Limit(
    0.05,
    "share of lap time",
    "every program has some pointwise kernels in a row: a twentieth of the lap is the least that "
    "compilation is worth proposing for",
    "an eager language model: 16 and 23 % could go; ResNet-50 on V100: 2.0 %; a compiled program "
    "run as operators: 4.0 %",
)

ATTENTION_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "no published trace has the pattern above it: taken from the budget alone",
)

TINY_KERNEL_NS = Limit(
    10_000,
    "ns",
    "TraceLens calls kernels below 10 us short; a launch takes the host 3 us and more",
    "gaps between kernels of a full queue: 1 to 2 us on H100; mean kernels of launch-bound traces: "
    "5 to 28 us",
)

TINY_KERNELS = Limit(
    0.5,
    "share of the kernels",
    "a symptom of most of the work, not of a few bookkeeping kernels",
    "published traces: 11 to 13 % of the kernels of language models in large batches; 55 to 97 % "
    "where the host or many small tensors set the pace",
)

RECOMPUTED_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "ResNet-18 with checkpointed blocks: 2.3 % of a lap that is 84 % communication; others: 0",
)

FALLBACK_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "published traces: none has such a kernel; taken from the budget alone",
)

SMALL_GRID_SHARE = Limit(
    0.03,
    "share of lap time",
    "above the ledger's budget of 2 %: grids are a library's choice, which a program changes only "
    "by its shapes",
    "batch norms of 64 channels on 104 compute units: 5.5 %; a classifier whose host sets the "
    "pace: 2.4 %; training on V100: 0.4 to 1.3 %",
)

WAVE_SHARE = Limit(
    0.03,
    "share of lap time",
    "above the ledger's budget of 2 %: grids are a library's choice, which a program changes only "
    "by its shapes",
    "fp32 ResNet-50 on V100: 4.8 to 6.8 %; a compiled program on A100: 1.9 %; H100 and B200: 0.1 %",
)

SCATTER_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "DLRM on eight V100, one gradient of an index: 0.2 to 0.4 %",
)

DEQUANTISE_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "published traces: none has such a kernel; taken from the budget alone",
)

FORMATS_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "published traces: none has such an operator; taken from the budget alone",
)

SIDE_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "12 published traces with Python stacks: logging 0.10 % of the lap on B200, at most 0.003 % in "
    "the others; no call that saves, sleeps or collects",
)

BETWEEN_SHARE = Limit(
    0.10,
    "share of lap time",
    "eager programs are in Python between operators: below a tenth of the lap that is no news",
    "two linear layers on the CPU with SGD or Adam: 0.2 to 1.1 % of laps above 300 ms, 29 and 32 % "
    "of laps of 9.5 and 0.9 ms; published traces with a device: up to 2.1 %; one of a CPU: 18 %",
)

FROM_LIST_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget for unexplained time; below it no cause can be told",
    "published traces: no tensor is filled for as long",
)

TINY_OP_NS = Limit(
    20_000,
    "ns",
    "dispatch and allocation of an operator take 1 to 10 us on current CPUs: one of 20 us spends "
    "much of its time on them",
    "aten::add under the profiler, medians of 400: of 16 numbers 0.6 us, 1.1 us with its gap; of "
    "1,000,000 numbers 319 us",
)

TINY_OPS = Limit(
    200,
    "operators a lap",
    "chosen: layers have operators by the tens, hundreds of tiny ones are mostly a loop",
    "two linear layers with SGD 20 operators a lap, 4 to 13 of them tiny; with Adam 52, 22 to 39; "
    "12 layers with Adam in a loop 302, 210 (0.5 % of the lap)",
)

TINY_OPS_SHARE = Limit(
    0.25,
    "share of lap time",
    "chosen: if half of it could go, that were an eighth of the lap",
    "two linear layers: below 0.1 % of laps above 300 ms, 3 and 12 % of laps of 9.5 and 0.9 ms; a "
    "published trace with 638 tiny operators a lap: 10 %",
)

CHEAP_ROW_NS = Limit(
    200_000,
    "ns",
    "chosen: ten times an index into a data frame, below what decoding an image takes",
    "a row of 64 numbers as tensor from a NumPy array: 0.5 us; by pandas' iloc: 18 us",
)

AFTER_SHARE = Limit(
    0.05,
    "share of lap time",
    "chosen: a twentieth of the lap is the least that is worth another thread",
    "two linear layers on the CPU: 0.1 to 0.9 % of laps above 300 ms, 3 % of laps of 0.9 ms, 33 % "
    "of laps of 9.5 ms that other programs held up; published traces with a device and marked "
    "laps: up to 2.7 %, two ranks of DLRM 26 and 27 %",
)

LARGE_PART = Limit(
    0.05,
    "of the longest operator of the lap",
    "chosen: what follows the model may have small operators of its own",
    "not measured by itself: what it leaves after the model is, see AFTER_SHARE",
)

GROWING_LAPS = Limit(
    8,
    "laps",
    "from 8 values on Mann's and Kendall's z is near enough to normal (Kendall 1975)",
    "laptime run times 10 laps without recording them",
)

GROWTH_Z = Limit(
    2.58,
    "standard deviations",
    "one in two hundred where nothing grows and laps are independent (one side)",
    "two linear layers on a shared host, 300 times 10 laps: -3.8 to 2.5, none above",
)

GROWTH_SHARE = Limit(
    0.05,
    "share of lap time",
    "chosen: a twentieth of the lap is the least that is worth looking for",
    "two linear layers on a shared host, 300 times 10 laps: 90 % of the rises lie between -77 and "
    "20 % of the lap, 28 are above 5 %, none of those with z above its limit",
)
