"""Cause: matrix products in fp32 on a device with tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from laptime.causes import wording
from laptime.causes.case import Abstention, Case, Clear, Finding, Need, Outcome
from laptime.causes.kernel_cost import cost_of, kernels_where
from laptime.causes.limits import FP32_SHARE
from laptime.causes.slack import capped, too_small
from laptime.causes.view import DeviceView, gpu_views
from laptime.kernels.names import UNKNOWN, KernelName
from laptime.ledger.intervals import Span
from laptime.ledger.work import Work, WorkClass
from laptime.machine.specs import DeviceSpec, spec_of
from laptime.model.rows import Ints

TARGETS = ("tf32", "bf16", "fp16")
"""Formats that would replace fp32, the one that changes least first."""


@dataclass(frozen=True)
class Reduction:
    """What the device's figures say fp32 products could lose, as a fraction of their time."""

    fraction: float
    formula: str
    known: bool


class Fp32Matmul:
    """Matrix products in fp32 on tensor-core hardware.

    What it is
        Matrix products and convolutions run in fp32 on the ordinary units, on a device whose matrix
        units would take tf32, bf16 or fp16.

    How it shows
        Kernels decoded as products or convolutions of fp32 without tensor cores; the device's
        recorded compute capability (or its name) says it has them.

    Why it costs
        Dense peak of the matrix units is 5 to 15 times that of the fp32 units.

    How the gain is predicted
        Bound: counted time in which only these kernels compute, times (1 - fp32 peak / target
        peak), dense, from specifications; the whole of that time where the device's figures are not
        known; never more than the host waits for the device. Memory-bound shapes gain less, which
        a bound may ignore.

    What is not flagged
        fp32 kernels on devices without matrix units; kernels whose name does not show whether they
        use them; matrix-vector products, which are bound by memory; products in a run whose host
        leaves no time to gain.

    Must not flag
        - ``kineto/tracelens/h100/Qwen``: its products run in bf16 on tensor cores.
        - ``kineto/tracelens/b200``: the same on eight B200.
    """

    id = "fp32-matmul"
    title = "fp32 on tensor-core hardware"
    layer = "kernels"
    needs: Sequence[Need] = (Need.GPU_ROWS, Need.DEVICE_PROPERTIES)
    silences: Sequence[str] = ()

    def look(self, case: Case) -> Outcome:
        """Judge the device that spends most time in such kernels."""
        rank = case.timeline.rank
        specs = {d.id: spec_of(d, case.timeline.vendor) for d in case.timeline.devices}
        views = [v for v in gpu_views(case) if v.device in specs]
        known = [v for v in views if specs[v.device].matrix_dtypes is not None]
        if views and not known:
            return Abstention(
                self.id,
                ("whether the device has matrix units",),
                "keep deviceProperties (name, computeMajor) in the trace's header",
                rank,
            )
        able = [v for v in known if specs[v.device].matrix_dtypes]
        if not able:
            return Clear(self.id, "no device with matrix units", rank)
        looked = [cost_of(v, kernels_where(v, is_fp32_product)) for v in able]
        cost = max(looked, key=lambda c: c.share)
        view, span, kernels = cost.view, cost.span, cost.rows
        if not _decoded(view):
            return Abstention(
                self.id,
                ("kernel names that can be decoded",),
                "report the names (laptime explain --json lists them), so that they are added",
                rank,
            )
        share = view.share(span)
        if share < FP32_SHARE.value:
            return Clear(
                self.id,
                "fp32 products without tensor cores take "
                f"{wording.below(share, FP32_SHARE.value, 'of the lap')}",
                rank,
            )
        return self._weighed(view, specs[view.device], span, kernels)

    def _weighed(
        self, view: DeviceView, spec: DeviceSpec, span: Span, kernels: Ints
    ) -> Finding | Clear:
        rows = view.case.timeline.rows
        alone = view.mean_ns(span)
        formats = [t for t in TARGETS if t in (spec.matrix_dtypes or ())]
        cut = _reduction(spec, formats)
        bound, host_bound = capped(view, round(alone * cut.fraction))
        taken = f"{view.of_lap(alone)} ({wording.percent(view.share(span))})"
        if host_bound and too_small(view, bound):
            return Clear(
                self.id,
                f"products and convolutions in fp32 take {taken}, but {host_bound}",
                view.case.timeline.rank,
            )
        could_go = (
            host_bound
            if host_bound
            else f"at most {wording.time(bound)} of it could go"
            if cut.known
            else f"how much of it could go is not known, since {cut.formula}"
        )
        names, counts = np.unique(rows.name[kernels], return_counts=True)
        order = np.argsort(-counts, kind="stable")[:5]
        return Finding(
            id=self.id,
            title=self.title,
            sentence=(
                f"Products and convolutions in fp32 take {taken} on a device whose matrix units "
                f"take {wording.listed(formats)}; {could_go}."
            ),
            share=view.share(span),
            bound_ns=bound,
            formula=f"{wording.time(alone)} of only these kernels"
            + (
                f" x {cut.formula} = {wording.time(alone * cut.fraction)}"
                if cut.known
                else f", all of it: {cut.formula}"
            )
            + (f"; {host_bound}" if host_bound else ""),
            device=view.device,
            rank=view.case.timeline.rank,
            events=view.events(kernels),
            events_in_all=view.number(kernels),
            why=(
                f"{wording.counted(len(kernels) / view.laps, 'kernel')}{view.per_lap} decoded as "
                "fp32 without tensor cores",
                f"matrix units: {spec.matrix_source}",
                *(
                    f"{wording.times(int(counts[i]) / view.laps)}{view.per_lap}: "
                    f"{rows.names[int(names[i])][:100]}"
                    for i in order.tolist()
                ),
            ),
            next_step=(
                "torch.set_float32_matmul_precision('high') and "
                "torch.backends.cudnn.allow_tf32 = True, then compare the loss"
                if "tf32" in formats
                else f"torch.autocast(dtype={'bfloat16' if 'bf16' in formats else 'float16'}), "
                "with gradient scaling for fp16, then compare the loss",
            ),
        )


def is_fp32_product(kernel: KernelName) -> bool:
    """Whether the name shows a product or convolution of fp32 on the ordinary units."""
    product = kernel.operation == "gemm" or kernel.operation.startswith("conv")
    return product and kernel.dtype == "fp32" and kernel.tensor_core is False


def _decoded(view: DeviceView) -> bool:
    """Whether any compute kernel's name could be read (else there is nothing to judge)."""
    work: Work | None = view.work
    if work is None:
        return False
    rows = view.case.timeline.rows
    compute = work.row[work.klass == int(WorkClass.COMPUTE)]
    if len(compute) == 0:
        return True
    names = view.case.kernel_names
    return any(
        int(i) in names and names[int(i)].operation != UNKNOWN
        for i in np.unique(rows.name[compute])
    )


def _reduction(spec: DeviceSpec, formats: Sequence[str]) -> Reduction:
    """By the first target whose peak and fp32's are both known; else all of the time."""
    base = spec.peak("fp32")
    for target in formats:
        peak = spec.peak(target)
        if base is not None and peak is not None and peak.value > base.value:
            return Reduction(
                1 - base.value / peak.value,
                f"(1 - {base.value:g} / {peak.value:g} TFLOP/s, fp32 / {target} dense, "
                f"{peak.kind}, {peak.form_factor}: {peak.source})",
                True,
            )
    return Reduction(1.0, f"no dense peaks of {spec.name or 'this device'} are known", False)


CAUSE = Fp32Matmul()
