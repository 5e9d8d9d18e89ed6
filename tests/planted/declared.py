"""The kinds of fault, and for each the findings that are right, declared before anything is run.

The ids are those of the catalogue (docs/causes.md), chosen from what each cause says it is, not
from what it answered. A kind has several where the catalogue has a general and a specific name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of fault: ``program`` is a file of ``programs/``, ``accepted`` the right ids; empty
    where no cause of the catalogue is this fault, so that nothing found is right."""

    program: str
    accepted: frozenset[str]
    launcher: tuple[str, ...] = ()
    """What comes before the program on the command line, for programs of several ranks."""
    neighbour: str | None = None
    """Another program, which the planted run has beside it on the host."""


def _kind(program: str, *accepted: str, ranks: int = 0, neighbour: str | None = None) -> Kind:
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node", str(ranks)) if ranks else ()
    return Kind(program, frozenset(accepted), launcher, neighbour)


AWAITED = frozenset(
    {
        "checks-in-hot-path",
        "debug-settings",
        "many-small-collectives",
        "object-collectives",
    }
)
"""Ids that are declared, of causes that the catalogue may not have yet."""

DATA, PYTHON = "input-starvation", "python-between-ops"

KINDS: tuple[Kind, ...] = (
    # Data
    _kind("loader_slow_item", DATA),
    _kind("loader_slow_decode", DATA),
    _kind("loader_slow_collate", "slow-collate", DATA),
    _kind("loader_remote", DATA),
    _kind("few_workers", DATA),
    _kind("rows_one_by_one", "rows-one-by-one", DATA),
    _kind("decoded_twice", DATA),
    _kind("iterator_each_step", DATA),
    _kind("slow_files", "slow-reads", DATA),
    _kind("workers_remade", "workers-remade"),
    _kind("workers_each_step", "workers-remade"),
    # Cores
    _kind("one_thread", "too-few-threads"),
    _kind("torchrun_default", "too-few-threads", ranks=1),
    _kind("many_threads", "cpu-oversubscription"),
    _kind("worker_threads", "cpu-oversubscription", DATA),
    _kind("burning_helper", "cpu-oversubscription", DATA),
    _kind("shared_host", "cpu-contention", neighbour="neighbour"),
    _kind("cpu_mask", "narrowed-cpu-mask"),
    # Memory and the interpreter
    _kind("fresh_buffers", "page-faults"),
    _kind("numpy_buffers", "page-faults"),
    _kind("gc_collect", "explicit-collection", "gc-pauses"),
    _kind("gc_live_trees", "gc-pauses"),
    # Beside the training
    _kind("logging_json", "logging-metrics"),
    _kind("printing", "logging-metrics"),
    _kind("progress_lines", "logging-metrics"),
    _kind("slow_pipe", "logging-metrics"),
    _kind("metrics_each_step", "logging-metrics", PYTHON),
    _kind("checkpoint_often", "checkpoint-stalls"),
    _kind("outputs_saved", "checkpoint-stalls"),
    _kind("predictions_synced", "checkpoint-stalls", "logging-metrics"),
    _kind("sleep_between", "fixed-timers"),
    _kind("polling", "fixed-timers"),
    # Settings and checks
    _kind("anomaly_mode", "debug-settings"),
    _kind("finite_checks", "checks-in-hot-path"),
    _kind("recompiled", "compile-in-window"),
    _kind("hand_sgd", "unfused-optimizer", "many-tiny-ops"),
    # Python and small operators
    _kind("tensor_from_list", "tensor-from-list"),
    _kind("python_targets", PYTHON),
    _kind("numpy_after", "host-work-after-model", PYTHON),
    _kind("subprocess_each_step", PYTHON),
    _kind("copy_each_step", PYTHON),
    _kind("lock_held", PYTHON),
    _kind("unrolled_rnn", "many-tiny-ops"),
    _kind("one_at_a_time", "many-tiny-ops"),
    _kind("norms_by_item", "many-tiny-ops"),
    _kind("work_grows", "work-that-grows"),
    # Ranks
    _kind("ddp_small_reduces", "many-small-collectives", "exposed-collectives", ranks=2),
    _kind("ddp_objects", "object-collectives", "exposed-collectives", ranks=2),
    _kind("ddp_straggler", "exposed-collectives", ranks=2),
    # No cause of the catalogue is this fault: whatever is found first is wrong.
    _kind("constants_again"),
    _kind("spinning_thread"),
    _kind("validate_each_step"),
    _kind("subnormal_state"),
)
