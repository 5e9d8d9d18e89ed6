"""Cause: attention as products around a softmax, with the scores in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from laptime.causes import wording
from laptime.causes.attention_patterns import attention
from laptime.causes.case import Case, Need, Outcome
from laptime.causes.kernel_cost import cost_of, costliest
from laptime.causes.limits import ATTENTION_SHARE
from laptime.causes.removable import Words, removable


class EagerAttention:
    """Attention without a fused kernel.

    What it is
        Attention runs as a batched product, scale, mask, softmax, dropout and a second product.
        The scores, a matrix of query by key length for each head, are written and read by each.

    How it shows
        A softmax kernel between two kernels of batched products (``aten::bmm``,
        ``aten::baddbmm``) on one stream, with nothing but pointwise kernels and copies between;
        in the backward pass the same around the softmax's gradient.

    Why it costs
        Fused attention kernels keep the scores on the chip and move only queries, keys, values and
        the result.

    How the gain is predicted
        Bound: the counted time in which only kernels of the pattern run, products included, and
        never more than the host waits for the device. The products' arithmetic remains, which a
        bound may ignore; the part between the products is given beside it.

    What is not flagged
        Fused attention, whatever library; ``scaled_dot_product_attention`` that fell back to its
        own products and softmax (``slow-fallback-kernel``); softmax without batched products on
        both sides (losses, routers). Less than 2 % of the lap.

    Must not flag
        - ``kineto/tracelens/h100/Qwen``: its attention is one fused kernel.
        - ``kineto/tracelens/h100/gaunernst_bert-small``: the same.
    """

    id = "eager-attention"
    title = "Attention without a fused kernel"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.LAUNCH_CALLS, Need.HOST_ROWS)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        cost = costliest(case, lambda view: attention(view).member)
        why: tuple[str, ...] = ()
        if cost is not None and len(cost.at):
            found = attention(cost.view)
            number = int(np.isin(cost.at, found.softmax).sum()) / cost.view.laps
            rest = cost_of(cost.view, found.member & ~found.product)
            why = (
                f"{wording.counted(number, 'pattern')}{cost.view.per_lap} of product, softmax, "
                f"product; {wording.time(rest.ns)}{cost.view.per_lap} of it between the products",
            )
        words = Words(
            "products around a softmax",
            (
                "torch.nn.functional.scaled_dot_product_attention (in transformers: "
                "attn_implementation='sdpa'), with is_causal rather than a mask where it is one",
                "for short sequences the gain is small: compare both",
            ),
            why=why,
        )
        return removable(self, cost, ATTENTION_SHARE, words)


CAUSE = EagerAttention()
