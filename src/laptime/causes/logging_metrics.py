"""Cause: the thread that feeds the lap prints, logs or computes metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.limits import SIDE_SHARE
from laptime.causes.side_calls import Calls, side_calls

CALLS = Calls(
    subject="calls that print, log or compute metrics",
    frames=re.compile(
        r"^<built-in function print>$"
        r"|(^|/)logging/(__init__|handlers)\.py\(\d+\): "
        r"|(^|/)(loguru|absl/logging|structlog)/"
        r"|(^|/)torch/utils/tensorboard/(writer|summary)\.py|(^|/)tensorboardX/"
        r"|(^|/)(wandb|mlflow|comet_ml|neptune|clearml|aim|trackio)/.*: (_?log\w*|track|report\w*)$"
        r"|(^|/)tqdm/.*: (update|refresh|display|set_postfix|set_postfix_str|set_description)$"
        r"|(^|/)torchmetrics/|(^|/)sklearn/metrics/|(^|/)ignite/metrics/"
    ),
    marks=re.compile(
        r"^laptime\.call: (print|logging|tensorboard|wandb|mlflow|tqdm|torchmetrics)\b"
        r"|^(log|logging|metrics|log_metrics|compute_metrics|update_metrics|tensorboard|wandb"
        r"|mlflow)([.:/# ].*)?$",
        re.IGNORECASE,
    ),
    least=SIDE_SHARE,
    remedies=(
        "log every N laps, and gather values on the device until then",
        "hand lines to a thread of their own: logging.handlers.QueueHandler, a writer with a "
        "large queue; metrics once an epoch",
    ),
)


class LoggingMetrics:
    """Printing, logging and metrics inside the laps.

    What it is
        The thread that feeds the lap writes to a terminal, a log or a tracker (TensorBoard, wandb,
        MLflow), or computes metrics, before it goes on.

    How it shows
        Rows of such calls on that thread: frames of Python stacks (``print``, ``logging``,
        ``torch/utils/tensorboard``, ``wandb``, ``torchmetrics``), marks of the program's own
        (``logging``, ``log_metrics``), or the calls that `laptime run` marks. Found from 2 % of
        the laps, also where only some laps have them.

    Why it costs
        Writing waits for a terminal, a file or a network; values come from the device only once it
        is done. Meanwhile nothing is launched.

    How the gain is predicted
        Bound: the thread's time in these calls, a mean per lap; with a device only that in which
        it is idle with nothing enqueued.

    What is not flagged
        Calls beside device work, and those of other threads: they cost nothing. Waits for the
        device inside such a call are found as ``host-sync``. Calls without Python stacks, marks or
        a capture are not seen: the cause abstains.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_4``: no such call is recorded.
        - ``kineto/tracelens/b200``: calls of ``logging``, 0.1 % of the lap.
    """

    id = "logging-metrics"
    title = "Logging and metrics hold the lap"
    layer = "host"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("python-between-ops",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that these calls cost most."""
        return side_calls(self, case, CALLS)


CAUSE = LoggingMetrics()
