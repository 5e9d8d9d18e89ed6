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
    "ResNet-50 on V100: 34 % idle in the loader without workers, below 1 % with four",
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
    "one .item() per step off the critical side cost nothing: 34.0 against 34.2 ms",
)

LAUNCH_SHARE = Limit(
    0.05,
    "share of lap time",
    "half of gpuprof's 10 % launch gap; the ledger counts only time with nothing enqueued",
    "H100, eager BERT-small: most of the lap; V100 trace with the host ahead: below 1 %",
)

LAUNCH_GAP_NS = Limit(
    1_000_000,
    "ns",
    "nsys-ai 0.3.0 treats gaps above 1 ms as stalls of their own, not as launch cost",
    "a launch with its operator costs 5-100 us of host time in the traces measured, ten times "
    "less than the limit; a loader's next without its span leaves one gap of 60 ms",
)

COMM_SHARE = Limit(
    0.05,
    "share of lap time",
    "half of the tensorboard plug-in's 10 %, since only exposed time counts here",
    "DDP on V100 with overlap: 2-4 %; DLRM on eight V100: up to half of the lap",
)

FP32_SHARE = Limit(
    0.05,
    "share of lap time",
    "a twentieth of the lap is the least that a change of number format is worth proposing for",
    "ResNet-50 in fp32 on V100: about a third of the lap; bf16 language models: none",
)

HEALTHY_BUSY = Limit(
    0.90,
    "share of lap time",
    "above gpu-idle's 80 %: what remains idle must be less than two causes' least shares",
    "V100 trace called healthy by its authors: 97.5-98.4 % busy; H100 forward pass: 91 %",
)

UNATTRIBUTED_SHARE = Limit(
    0.02,
    "share of lap time",
    "the ledger's budget; above it an accounting is incomplete",
    "traces with host rows stay below it",
)

STEADY_LAPS = Limit(
    3,
    "laps",
    "fewer than three whole laps allow totals, not statistics of laps",
    "one third of the published traces hold a single step",
)

PROFILER_SHARE = Limit(
    0.05,
    "share of lap time",
    "the profiler's own rows then cost as much as a cause worth naming",
    "buffer flushes: below 1 % in the traces measured",
)

LOST_ACTIVITY_SHARE = Limit(
    0.01,
    "share of kernel launches",
    "the profiler drops activities only when its buffers overflow; a healthy trace has all",
    "published traces have an activity for every kernel launch outside graph capture",
)

UNEXPLAINED_IDLE = Limit(
    0.5,
    "share of idle time",
    "gpu-idle lets a second cause speak only where the first leaves more than half of the idle "
    "time unexplained",
    "ResNet-50 without workers: the loader explains 77 % of the idle time",
)
