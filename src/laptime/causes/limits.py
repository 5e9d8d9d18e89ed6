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
    "above it the mean is made by few laps, and no lap is as long as it says",
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
