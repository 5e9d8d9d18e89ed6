"""Cause: the thread that feeds the lap writes a checkpoint, and everything waits."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Case, Need, Outcome
from laptime.causes.limits import SIDE_SHARE
from laptime.causes.side_calls import Calls, side_calls
from laptime.causes.side_cost import HostCost
from laptime.ledger import intervals

CALLS = Calls(
    subject="calls that save state",
    frames=re.compile(
        r"(^|/)torch/serialization\.py\(\d+\): _?(legacy_)?save$"
        r"|(^|/)torch/distributed/checkpoint/.*: (async_)?save\w*$"
        r"|(^|/)safetensors/\w+\.py\(\d+\): save\w*$"
        r"|(^|/)numpy/lib/\w+\.py\(\d+\): save\w*$|(^|/)h5py/.*: create_dataset$"
        r"|: (save_checkpoint|save_pretrained|save_state|save_model|_save_checkpoint)$"
        r"|^<built-in function (fsync|fdatasync)>$"
        r"|^<built-in (function|method) dump\b|(^|/)pickle\.py\(\d+\): dump$"
    ),
    marks=re.compile(
        r"^laptime\.call: (torch\.save|checkpoint|safetensors|os\.fsync|pickle\.dump)\b"
        r"|^(save|save_?checkpoint|checkpoint_?sav(e|ing)|save_model|torch\.save)([.:/# ].*)?$",
        re.IGNORECASE,
    ),
    least=SIDE_SHARE,
    remedies=(
        "write from a thread or process of its own, from a copy in (pinned) memory: "
        "torch.distributed.checkpoint.async_save",
        "fewer checkpoints, or each rank its shard, to local disk first",
    ),
)


class CheckpointStalls:
    """Checkpoints inside the laps.

    What it is
        The thread that feeds the lap copies the model's and optimizer's state to the host, turns
        it into bytes, writes them and may wait for the disk (``fsync``).

    How it shows
        Rows of such calls on that thread: frames of Python stacks (``torch.save``,
        ``torch.distributed.checkpoint``, ``safetensors``, ``fsync``, ``save_checkpoint``), marks
        of the program's own, or the calls that `laptime run` marks. Often in a few laps only.

    Why it costs
        No kernel is launched until the last byte is handed over; other ranks wait in the next
        collective.

    How the gain is predicted
        Bound: the thread's time in these calls, a mean over the counted laps; with a device only
        that in which it is idle with nothing enqueued. A copy to the host must stay.

    What is not flagged
        Saving from other threads, beside device work, or between the laps; less than 2 % of the
        counted laps. A period longer than the recording is not seen.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: no such call is recorded.
        - ``kineto/tracelens/mi300/resnet_act_checkpoint``: checkpoints of activations, which are
          computed again and never written.
    """

    id = "checkpoint-stalls"
    title = "Saving a checkpoint stops the lap"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops", "page-faults")

    def look(self, case: Case) -> Outcome:
        """Judge the device that saving costs most."""
        return side_calls(self, case, CALLS, _each)


def _each(cost: HostCost) -> Sequence[str]:
    """What a lap with a checkpoint pays, where not every lap has one."""
    if cost.touched in (0, cost.view.laps):
        return ()
    low = np.array([w.start_ns for w in cost.view.counted], dtype=np.int64)
    high = np.array([w.end_ns for w in cost.view.counted], dtype=np.int64)
    most = int(intervals.by_window(cost.paid, low, high).max())
    return (
        f"a lap that saves pays up to {wording.time(most)}; the mean is over "
        f"{cost.view.laps} laps, and holds for a run only where it saves as often",
    )


CAUSE = CheckpointStalls()
