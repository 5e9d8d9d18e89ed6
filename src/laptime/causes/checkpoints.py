"""Forward work that the backward pass does again: where it was launched from."""

from __future__ import annotations

import re

import numpy as np

from laptime.causes.launch_sites import innermost, inside
from laptime.causes.view import DeviceView
from laptime.ledger import intervals
from laptime.ledger.intervals import Span
from laptime.model.rows import Ints, Kind, Mask

FRAMES = re.compile(r"torch/utils/checkpoint\.py\(\d+\): (unpack_hook|recompute_fn)$")
NODE = re.compile(r"^autograd::engine::evaluate_function: ")
CHECKPOINT_NODE = re.compile(r"^autograd::engine::evaluate_function: \w*Checkpoint\w*Backward$")
BUILT_IN_NODE = re.compile(r"^autograd::engine::evaluate_function: \w+Backward\d+$")
"""Nodes of PyTorch's own operators are numbered; those of functions in Python are not."""

FORWARD = re.compile(
    r"^aten::(conv[123]d|linear|batch_norm|layer_norm|group_norm|rms_norm|relu_?|gelu|silu_?"
    r"|dropout|scaled_dot_product_attention|max_pool[123]d|softmax)$"
)
"""Operators of a model's forward that no gradient formula calls."""


def recomputed(view: DeviceView) -> tuple[Mask, Ints, Span]:
    """Device work of forward passes inside the backward pass; the host rows that hold it; and the
    host's time in these rows that is backward after all (gradients of what was recomputed).

    By frames of ``torch.utils.checkpoint``, by its autograd node (what is innermost in it, not in
    a node inside), and by forward operators inside nodes of PyTorch's own operators.
    """
    work, rows = view.work, view.case.timeline.rows
    assert work is not None
    frames = rows.like(FRAMES, Kind.PYTHON)
    again = _inside_rows(
        view, rows.like(FORWARD, Kind.CPU_OP), rows.like(BUILT_IN_NODE, Kind.CPU_OP)
    )
    mask: Mask = inside(view, frames) | inside(view, again)
    nodes = rows.like(NODE, Kind.CPU_OP)
    own = rows.like(CHECKPOINT_NODE, Kind.CPU_OP)
    within = intervals.EMPTY
    if len(own):
        held = np.flatnonzero(inside(view, own))
        node = innermost(view, held, nodes)
        mask[held[np.isin(node, own)]] = True
        nested = np.setdiff1d(_inside_rows(view, nodes, own), own)
        within = intervals.union(rows.start_ns[nested], rows.end_ns(nested))
    return mask, np.concatenate((frames, again, own)), within


def _inside_rows(view: DeviceView, candidates: Ints, around: Ints) -> Ints:
    """The candidates that begin inside any of the rows around them, on their thread."""
    rows = view.case.timeline.rows
    found = [np.zeros(0, dtype=np.int64)]
    for lane in np.unique(rows.lane[around]).tolist():
        here = around[rows.lane[around] == lane]
        span = intervals.union(rows.start_ns[here], rows.end_ns(here))
        mine = candidates[rows.lane[candidates] == lane]
        found.append(mine[intervals.contains(span, rows.start_ns[mine])])
    return np.concatenate(found)
