"""Which ids are right for each program, declared before anything was run."""

from __future__ import annotations

from pathlib import Path

from tests.planted.declared import Kind

PROGRAMS = Path(__file__).with_name("programs")
_TWO_RANKS = ("-m", "torch.distributed.run", "--nproc-per-node", "2")

ACCEPTED: dict[str, tuple[str, ...]] = {
    "image_decode": ("input-starvation",),
    "pandas_iloc": ("input-starvation", "rows-one-by-one"),
    "f1_each_step": ("logging-metrics", "host-work-after-model"),
    "log_fsync": ("logging-metrics",),
    "saved_often": ("checkpoint-stalls",),
    "rate_limited": ("fixed-timers",),
    "single_thread": ("too-few-threads",),
    "collect_each_batch": ("explicit-collection", "gc-pauses"),
    "short_epochs": ("workers-remade",),
    "nms_in_python": ("many-tiny-ops", "host-work-after-model", "python-between-ops"),
    "features_cat": ("work-that-grows",),
    "anomaly_transformer": ("debug-settings",),
    "nan_hooks": ("checks-in-hot-path",),
    "meters_reduced": ("many-small-collectives",),
    "copied_adamw": ("unfused-optimizer", "many-tiny-ops"),
    "tokenised_collate": ("slow-collate", "tensor-from-list", "input-starvation"),
    "chat_history": ("work-that-grows",),
    "npz_each_item": ("slow-reads", "input-starvation"),
    "accumulate_synced": ("reduced-every-micro-step",),
    "padded_requests": ("page-faults",),
}
RANKED = frozenset({"meters_reduced", "accumulate_synced"})
"""Programs of two ranks."""


def kind(program: str) -> Kind:
    launcher = _TWO_RANKS if program in RANKED else ()
    return Kind(str(PROGRAMS / program), frozenset(ACCEPTED[program]), launcher)
