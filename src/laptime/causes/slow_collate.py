"""Cause: putting single rows together into a batch takes the loader's time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.limits import INPUT_SHARE
from laptime.causes.side_calls import Calls, side_calls

CALLS = Calls(
    subject="collate functions on the thread of the lap",
    frames=re.compile(
        r"(^|/)torch/utils/data/_utils/collate\.py\(\d+\): (default_)?collate\w*$"
        r"|: (\w+_)?collate(_fn|_batch)?$"
    ),
    marks=re.compile(r"^laptime\.load: collate\b|^(collate|collate_fn|default_collate)$"),
    least=INPUT_SHARE,
    remedies=(
        "take the whole batch from the data at once (Dataset.__getitems__, slicing of one array) "
        "instead of stacking rows; pad and stack with one call",
        "collate in workers: DataLoader(num_workers=N)",
    ),
)


class SlowCollate:
    """Collating holds the lap.

    What it is
        A loader without workers stacks, pads or converts the rows of each batch in the thread that
        feeds the lap.

    How it shows
        Rows of collate functions on that thread: frames of Python stacks, marks named for it, or
        the loads that `laptime run` marks in loaders without workers.

    Why it costs
        The lap waits for the batch.

    How the gain is predicted
        Bound: the thread's time in these functions, a mean per lap; with a device only that in
        which it is idle with nothing enqueued.

    What is not flagged
        Collating in workers, which other evidence shows; less than 5 % of the lap.

    Must not flag
        - ``kineto/pytorch-kineto/resnet50_num_workers_0``: no stacks: what its loader does is not
          known.
        - ``kineto/tracelens/b200``: stacks, and no loader.
    """

    id = "slow-collate"
    title = "Collating holds the lap"
    layer = "data"
    needs: Sequence[Need] = ()
    silences: Sequence[str] = ("input-starvation",)

    def look(self, case: Case) -> Outcome:
        """Judge the device that collating costs most."""
        return side_calls(self, case, CALLS)


CAUSE = SlowCollate()
