"""Cause: quantised weights are expanded for every use."""

from __future__ import annotations

from collections.abc import Sequence

from laptime.causes.case import Case, Need, Outcome
from laptime.causes.kernel_cost import costliest, kernels_where
from laptime.causes.limits import DEQUANTISE_SHARE
from laptime.causes.removable import Words, removable


class DequantiseEachCall:
    """Quantised weights expanded in each call.

    What it is
        Weights are kept in few bits and turned into fp16 or bf16 by a kernel of its own before each
        product, which then reads them in full size.

    How it shows
        Kernels decoded as dequantisation (bitsandbytes, GPTQ and AWQ, FBGEMM, llama.cpp, serving
        engines).

    Why it costs
        Each weight is read, written and read again; the product alone would have read it once.
        Slower than weights that were never quantised, unless memory is short.

    How the gain is predicted
        Bound: the counted time in which only such kernels run, and never more than the host waits
        for the device.

    What is not flagged
        Kernels that expand weights inside the product (Marlin, Machete, fused GPTQ and AWQ); less
        than 2 % of the lap.

    Must not flag
        - ``kineto/tracelens/inference/vllm_decode_full/graph_execution``: its mxfp4 products expand
          their weights themselves.
        - ``kineto/tracelens/b200``: the same.
    """

    id = "dequantise-each-call"
    title = "Quantised weights are expanded in each call"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS,)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends the largest share on it."""
        words = Words(
            "expansions of quantised tensors",
            (
                "fp16 or bf16 weights, if they fit",
                "a kernel that expands inside the product (Marlin, Machete, torchao's int4 linear)",
            ),
        )
        return removable(
            self,
            costliest(case, lambda v: kernels_where(v, lambda k: k.operation == "dequantize")),
            DEQUANTISE_SHARE,
            words,
        )


CAUSE = DequantiseEachCall()
