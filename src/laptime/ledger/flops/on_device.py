"""From operators' FLOPs to the device: what each family of kernels achieved, and the useful part of
the compute time.

A kernel belongs to the innermost counted operator around the call that launched it, on that call's
thread. An operator's FLOPs go to the kernels of products, convolutions and attention among those
that it launched, by their durations. All sums are over the compute time of the counted windows; a
kernel that lies in it in part counts in part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from laptime.kernels.names import UNKNOWN, KernelName
from laptime.ledger import intervals
from laptime.ledger.flops.operators import COUNTED_OPERATORS, Counted, counted
from laptime.ledger.innermost import nest
from laptime.ledger.intervals import Span
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.ledger.work import Work, WorkClass
from laptime.machine.specs import DeviceSpec, Figure, spec_of
from laptime.model.rows import Ints, Kind, Mask
from laptime.model.run import Timeline

MOST_OPERATORS = 100_000
"""Operators whose arguments are read; a run with more of them in its first lap abstains."""

ENOUGH_KERNELS = 4096
"""Kernels of products, convolutions and attention by which laps are taken: those of the first laps
that hold so many together. Their operators' arguments are read one by one from the text."""

FEWEST_LAPS = 3

ARITHMETIC_KERNELS = frozenset(
    {
        "gemm",
        "gemv",
        "conv",
        "conv_backward_data",
        "conv_backward_weight",
        "attention",
        "attention_backward",
    }
)
"""Operations of kernels whose time is that of products, convolutions and attention."""

_FEWER = re.compile(r"winograd|[^a-z]wino|fft|sp3asmconv", re.IGNORECASE)
"""Kernels of algorithms that need fewer operations than the direct one, which is what is counted:
the peak is no limit to them."""


@dataclass(frozen=True)
class Family:
    """Kernels of one operation and data type, a mean per counted window.

    ``ns`` is their summed duration inside compute time; ``counted_ns`` the part whose FLOPs are
    known, with ``flops`` and least ``bytes``. ``at_peak_ns`` is that work at the device's
    peak for the data type, ``roofline_ns`` at the peak or the memory's bandwidth, whichever
    takes longer, kernel by kernel; None where no specification is known, ``why_not`` says it.
    """

    operation: str
    dtype: str | None
    calls: float
    ns: float
    counted_ns: float
    flops: float
    bytes: float
    at_peak_ns: float | None
    roofline_ns: float | None
    why_not: str

    @property
    def flops_per_s(self) -> float | None:
        """What the kernels with known FLOPs achieved; None where there are none."""
        return self.flops / self.counted_ns * 1e9 if self.counted_ns else None

    @property
    def coverage(self) -> float:
        """Share of the family's time whose FLOPs are known."""
        return self.counted_ns / self.ns if self.ns else 0.0


@dataclass(frozen=True)
class DeviceFlops:
    """One device's families, longest first, and what they make of its window.

    They are those of ``windows``, places of the first counted windows of the ledger, ``laps`` of
    the ``of_laps`` counted.
    ``arithmetic_ns`` is the time a window of all kernels of products, convolutions and attention,
    ``counted_ns`` of those with known FLOPs, ``at_peak_ns`` the least time for their work by
    the specification. ``of_peak`` is at_peak_ns over the window: the share of the device's peak
    that known work used, a floor where coverage is below one. None, with ``why_not``, where FLOPs
    or peaks are not known.
    """

    device: str
    laps: int
    of_laps: int
    windows: Sequence[int]
    window_ns: float
    compute_ns: float
    arithmetic_ns: float
    counted_ns: float
    counted_busy_ns: float
    at_peak_ns: float | None
    families: Sequence[Family]
    peaks: Mapping[str, Figure]
    bandwidth: Figure | None
    why_not: str

    @property
    def coverage(self) -> float | None:
        """Share of arithmetic kernels' time whose FLOPs are known; None where there are none."""
        return self.counted_ns / self.arithmetic_ns if self.arithmetic_ns else None

    @property
    def flops(self) -> float:
        """Known FLOPs of a window."""
        return sum(f.flops for f in self.families)

    @property
    def of_peak(self) -> float | None:
        """Share of the window that the known work takes at peak."""
        return None if self.at_peak_ns is None else self.at_peak_ns / self.window_ns


def device_flops(
    timeline: Timeline, ledger: Ledger, work: Mapping[str, Work], names: Mapping[int, KernelName]
) -> dict[str, DeviceFlops]:
    """Of each accelerator with counted compute time, by device id."""
    out: dict[str, DeviceFlops] = {}
    specs = {d.id: spec_of(d, timeline.vendor) for d in timeline.devices}
    for device in ledger.devices:
        mine = work.get(device.device)
        if device.cpu or mine is None or device.device not in specs:
            continue
        counted_windows = np.flatnonzero(ledger.counted(device)).tolist()
        chosen = _first(timeline, device, mine, names, counted_windows)
        used = [device.windows[i] for i in chosen]
        windows = intervals.union(
            np.array([w.start_ns for w in used], dtype=np.int64),
            np.array([w.end_ns for w in used], dtype=np.int64),
        )
        if intervals.total(windows):
            out[device.device] = _of_device(
                timeline, device, mine, names, specs[device.device], windows,
                chosen, len(counted_windows),
            )  # fmt: skip
    return out


def _first(
    timeline: Timeline,
    device: DeviceLedger,
    work: Work,
    names: Mapping[int, KernelName],
    counted_windows: Sequence[int],
) -> list[int]:
    """The first counted windows, as many as hold ``ENOUGH_KERNELS``, and ``FEWEST_LAPS``."""
    wanted = _arithmetic(timeline, names)[timeline.rows.name[work.row]]
    start = np.sort(work.start_ns[wanted])
    chosen: list[int] = []
    held = 0
    for i in counted_windows:
        if held >= ENOUGH_KERNELS and len(chosen) >= FEWEST_LAPS:
            break
        window = device.windows[i]
        low, high = np.searchsorted(start, [window.start_ns, window.end_ns]).tolist()
        held += high - low
        chosen.append(i)
    return chosen


def _arithmetic(timeline: Timeline, names: Mapping[int, KernelName]) -> Mask:
    """Which names are of kernels whose time is that of arithmetic."""
    found = np.zeros(len(timeline.rows.names), dtype=np.bool_)
    found[[i for i, k in names.items() if k.operation in ARITHMETIC_KERNELS]] = True
    return found


def _compute_time(device: DeviceLedger, windows: Span) -> Span:
    """Counted time in the accounts in which compute kernels run."""
    wanted = [
        i for i, a in enumerate(device.leaves) if a.id in ("compute", "compute_with_comm", "busy")
    ]
    hit = np.isin(device.segments.account, wanted)
    found = intervals.union(device.segments.start_ns[hit], device.segments.end_ns[hit])
    return intervals.intersect(found, windows)


def _of_device(
    timeline: Timeline,
    device: DeviceLedger,
    work: Work,
    names: Mapping[int, KernelName],
    spec: DeviceSpec,
    windows: Span,
    chosen: Sequence[int],
    of_laps: int,
) -> DeviceFlops:
    rows, laps = timeline.rows, len(chosen)
    compute = _compute_time(device, windows)
    inside = intervals.by_window(compute, work.start_ns, work.end_ns)
    used = np.flatnonzero((work.klass == int(WorkClass.COMPUTE)) & (inside > 0))
    name = rows.name[work.row[used]]
    arithmetic = _arithmetic(timeline, names)
    unknown = np.zeros(len(rows.names), dtype=np.bool_)
    unknown[[i for i, k in names.items() if k.operation == UNKNOWN]] = True
    calls, why_not = _calls(timeline, work, used)
    part = inside[used]
    length = np.maximum(work.end_ns[used] - work.start_ns[used], 1)
    of_work = rows.name[work.row]
    fewer = rows.names_matching(lambda n: bool(_FEWER.search(n)))
    known = _spread(calls, arithmetic[of_work], unknown[of_work], fewer[of_work], work)
    groups: dict[tuple[str, str | None], list[int]] = {}
    for at, i in enumerate(used.tolist()):
        kernel = names.get(int(name[at]))
        operation = kernel.operation if kernel else UNKNOWN
        dtype = kernel.dtype if kernel else None
        share = known.get(i)
        if share is not None:
            dtype = _dtype(kernel, share.dtype, spec)
            if operation == UNKNOWN:
                operation = share.operation
        groups.setdefault((operation, dtype), []).append(at)
    families = [
        _family(key, members, used, part, length, known, spec, laps)
        for key, members in groups.items()
    ]
    families.sort(key=lambda f: (-f.ns, f.operation, f.dtype or ""))
    with_flops = np.array([i in known for i in used.tolist()], dtype=np.bool_)
    busy = intervals.intersect(
        compute,
        intervals.union(work.start_ns[used[with_flops]], work.end_ns[used[with_flops]]),
    )
    counted_families = [f for f in families if f.counted_ns]
    at_peak = [f.at_peak_ns for f in counted_families]
    busy_ns = intervals.total(busy) / laps
    total: float | None = None
    if counted_families:
        missing = next((f for f in counted_families if f.at_peak_ns is None), None)
        if missing is not None:
            why_not = missing.why_not
        else:
            total = sum(v for v in at_peak if v is not None)
            if total > busy_ns:
                total, why_not = (
                    None,
                    (
                        "the work would need more than the specification's peak: shapes, names or "
                        "the specification do not fit this device"
                    ),
                )
    arithmetic_ns = sum(f.ns for f in families if f.operation in ARITHMETIC_KERNELS)
    if not counted_families and not why_not:
        why_not = (
            "no kernel could be matched to an operator with recorded shapes"
            if arithmetic_ns
            else "no products, convolutions or attention run in the counted time"
        )
    return DeviceFlops(
        device=device.device,
        laps=laps,
        of_laps=of_laps,
        windows=tuple(chosen),
        window_ns=intervals.total(windows) / laps,
        compute_ns=intervals.total(compute) / laps,
        arithmetic_ns=arithmetic_ns,
        counted_ns=sum(f.counted_ns for f in families),
        counted_busy_ns=busy_ns,
        at_peak_ns=total,
        families=families,
        peaks=spec.peaks,
        bandwidth=spec.bandwidth,
        why_not=why_not,
    )


@dataclass(frozen=True)
class _Share:
    """A kernel's part of an operator's work, for its whole duration."""

    flops: float
    bytes: float
    dtype: str
    operation: str


def _calls(timeline: Timeline, work: Work, members: Ints) -> tuple[list[tuple[Counted, Ints]], str]:
    """Operators with their work and the places of the kernels they launched; why there are none."""
    rows = timeline.rows
    if rows.read_args is None:
        return [], "the evidence does not hold the operators' arguments"
    operators = rows.of_kind(Kind.CPU_OP)
    named = rows.names_matching(lambda n: n in COUNTED_OPERATORS)
    operators = operators[named[rows.name[operators]] & (rows.dur_ns[operators] > 0)]
    if len(operators) == 0:
        return [], "no operator whose FLOPs can be counted is recorded (mm, convolution, attention)"
    launched = members[work.call_row[members] >= 0]
    by_operator: dict[int, list[int]] = {}
    for lane in np.unique(work.thread[launched]).tolist():
        here = operators[rows.lane[operators] == lane]
        if len(here) == 0:
            continue
        nested = nest(rows, here)
        mine = launched[work.thread[launched] == lane]
        start = rows.start_ns[work.call_row[mine]]
        at = np.searchsorted(nested.span[0], start, side="right") - 1
        ok = (at >= 0) & (start < nested.span[1][np.maximum(at, 0)])
        owner = nested.row[nested.at[at[ok]]]
        for kernel, row in zip(mine[ok].tolist(), owner.tolist(), strict=True):
            by_operator.setdefault(row, []).append(kernel)
    if not by_operator:
        return [], "no launch of a kernel lies inside an operator whose FLOPs can be counted"
    if len(by_operator) > MOST_OPERATORS:
        return [], f"{len(by_operator):,} operators: the shapes of {MOST_OPERATORS:,} are read"
    wanted = np.array(sorted(by_operator), dtype=np.int64)
    found = []
    for row, args in zip(wanted.tolist(), rows.read_args(wanted), strict=True):
        did = counted(rows.names[int(rows.name[row])], args)
        if did is not None:
            found.append((did, np.array(by_operator[row], dtype=np.int64)))
    if found:
        return found, ""
    return [], "shapes are not recorded: profile with record_shapes=True"


def _spread(
    calls: Sequence[tuple[Counted, Ints]], arithmetic: Mask, unknown: Mask, fewer: Mask, work: Work
) -> dict[int, _Share]:
    """Each kernel's part, by its place in ``work``; kernels whose names cannot be read take part
    where the operator launched no other. Of calls that a transform makes cheaper none."""
    out: dict[int, _Share] = {}
    for did, launched in calls:
        if fewer[launched].any():
            continue
        told = launched[arithmetic[launched]]
        kernels = told if len(told) else launched[unknown[launched]]
        length = (work.end_ns[kernels] - work.start_ns[kernels]).astype(np.float64)
        whole = float(length.sum())
        if whole <= 0:
            continue
        for kernel, ns in zip(kernels.tolist(), length.tolist(), strict=True):
            part = ns / whole
            out[kernel] = _Share(did.flops * part, did.bytes * part, did.dtype, did.operation)
    return out


def _dtype(kernel: KernelName | None, operand: str, spec: DeviceSpec) -> str | None:
    """The type that the multiplication runs in; None where fp32 operands may go as tf32."""
    if kernel is not None and kernel.dtype in ("tf32", "bf16", "fp16", "fp8", "fp64"):
        return kernel.dtype
    if operand != "fp32":
        return operand
    if "tf32" not in (spec.matrix_dtypes or frozenset()) or spec.vendor == "amd":
        return "fp32"
    if kernel is not None and kernel.tensor_core is not None:
        return "tf32" if kernel.tensor_core else "fp32"
    return None


def _family(
    key: tuple[str, str | None],
    members: Sequence[int],
    used: Ints,
    part: Ints,
    length: Ints,
    known: Mapping[int, _Share],
    spec: DeviceSpec,
    laps: int,
) -> Family:
    operation, dtype = key
    peak = spec.peak(f"{dtype}_matrix") or spec.peak(dtype) if dtype else None
    flops = bytes_ = at_peak = roofline = counted_ns = 0.0
    for at in members:
        share = known.get(int(used[at]))
        if share is None:
            continue
        inside = float(part[at]) / float(length[at])
        counted_ns += float(part[at])
        flops += share.flops * inside
        bytes_ += share.bytes * inside
        if peak is None:
            continue
        by_peak = share.flops * inside / (peak.value * 1e3)
        at_peak += by_peak
        if spec.bandwidth is not None:
            roofline += max(by_peak, share.bytes * inside / spec.bandwidth.value)
    why_not = ""
    if counted_ns and peak is None:
        why_not = (
            f"no specification of {spec.name or 'a device without a name'} gives a peak for {dtype}"
            if dtype
            else "fp32 operands, and kernel names do not tell whether they go as tf32"
        )
    elif not counted_ns and operation in ARITHMETIC_KERNELS:
        why_not = (
            "no operator whose shapes tell its FLOPs launched them, or its algorithm (Winograd, "
            "FFT) needs fewer than are counted"
        )
    return Family(
        operation=operation,
        dtype=dtype,
        calls=len(members) / laps,
        ns=float(part[list(members)].sum()) / laps,
        counted_ns=counted_ns / laps,
        flops=flops / laps,
        bytes=bytes_ / laps,
        at_peak_ns=at_peak / laps if counted_ns and peak is not None else None,
        roofline_ns=roofline / laps
        if counted_ns and peak is not None and spec.bandwidth is not None
        else None,
        why_not=why_not,
    )
