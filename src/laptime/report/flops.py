"""What outputs show of FLOPs: the way from a lap to useful work, families against the roofline."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from laptime.explanation import View
from laptime.kernels.names import UNKNOWN
from laptime.ledger.flops import waterfall as steps_of
from laptime.ledger.flops.on_device import ARITHMETIC_KERNELS, DeviceFlops, Family
from laptime.machine.specs import Figure
from laptime.report.numbers import share

Json = dict[str, Any]

OF_COMPUTE = (steps_of.OTHER_KERNELS, steps_of.BELOW_PEAK, steps_of.AT_PEAK)
"""Steps of the waterfall that divide compute time."""


@dataclass(frozen=True)
class FallLine:
    """One bar of the waterfall: from ``from_share`` of the window on, ``share`` of it wide."""

    id: str
    title: str
    ns: float
    share: float
    from_share: float
    level: bool
    """Whether it is what is left, not what goes."""


@dataclass(frozen=True)
class FamilyLine:
    """One family, as text where it is not a time: ``distance`` is its time over the roofline's."""

    family: Family
    label: str
    rate: str
    coverage: str
    distance: str
    bound_by: str


def fall_lines(view: View, device: str) -> list[FallLine]:
    """The waterfall of a device, in means of a counted window; empty where there is none."""
    fall = view.waterfalls.get(device)
    if fall is None:
        return []
    whole = fall.window_ns

    def line(id_: str, title: str, ns: int, left: int, level: bool) -> FallLine:
        return FallLine(id_, title, ns / fall.laps, ns / whole, left / whole, level)

    lines = [line("window", "Lap on the device", whole, 0, True)]
    told = False
    for step in fall.steps:
        if step.id == steps_of.OTHER_KERNELS and not told:
            told = True
            before = step.left_ns + step.ns
            lines.append(line("compute", "A compute kernel runs", before, 0, True))
        lines.append(line(step.id, step.title, step.ns, step.left_ns, False))
    left = fall.steps[-1].left_ns if fall.steps else whole
    if fall.useful:
        lines.append(
            line(steps_of.AT_PEAK, "Known work at the specification's peak", left, 0, True)
        )
    else:
        lines.append(line("compute", "A compute kernel runs", left, 0, True))
    return lines


def family_lines(view: View, device: str) -> list[FamilyLine]:
    """Families of a device's kernels inside its compute time, longest first."""
    found = view.flops.get(device)
    if found is None:
        return []
    return [_family(f, found.bandwidth) for f in found.families]


def _family(f: Family, bandwidth: Figure | None) -> FamilyLine:
    operation = "not read from the name" if f.operation == UNKNOWN else f.operation
    rate = "" if f.flops_per_s is None else f"{tera(f.flops_per_s)} TFLOP/s"
    distance = bound = ""
    if f.roofline_ns and f.at_peak_ns is not None:
        distance = f"{f.counted_ns / f.roofline_ns:.1f} x"
        bound = "arithmetic" if f.at_peak_ns >= 0.5 * f.roofline_ns else "memory"
        if f.counted_ns < f.roofline_ns:
            bound = "operands in cache" if bound == "memory" else "above the specification"
    elif f.counted_ns:
        bound = f.why_not or ("" if bandwidth else "the memory's bandwidth is not known")
    elif f.operation in ARITHMETIC_KERNELS:
        bound = f.why_not
    told = share(f.coverage) if f.operation in ARITHMETIC_KERNELS else ""
    return FamilyLine(
        f, f"{operation}{f' {f.dtype}' if f.dtype else ''}", rate, told, distance, bound
    )


def note(view: View, device: str) -> str:
    """What the families of a device are held against."""
    found = view.flops.get(device)
    if found is None:
        return ""
    against = (
        "Roofline: the longer of a call's FLOPs at the dense peak and its least traffic (each "
        "operand once) at the memory's bandwidth"
    )
    if not found.peaks:
        return "No specification of this device is known: FLOP/s have nothing to be held against"
    if found.bandwidth is None:
        return "The bandwidth of this device's memory is not known: no roofline"
    chip = found.bandwidth
    return (
        f"{against}, {chip.value:g} GB/s; specification, {chip.form_factor}: {chip.source}"
        f"{_part(found)}"
    )


def tera(flops_per_s: float) -> str:
    """TFLOP/s at three digits."""
    value = flops_per_s / 1e12
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def sentence(view: View, device: str) -> str | None:
    """One sentence on the use of the device's peak, or why there is none; None for threads."""
    found = view.flops.get(device)
    if found is None:
        return None
    if found.of_peak is None or found.coverage is None:
        return f"share of peak FLOP/s not measured: {found.why_not}"
    known = [f for f in found.families if f.counted_ns and f.dtype]
    dtypes = list(dict.fromkeys(f.dtype for f in known if f.dtype))
    peaks = ", ".join(f"{_peak(found, d)} TFLOP/s {d}" for d in dtypes)
    source = next(iter(found.peaks.values()))
    # FLOPs that are not known can only add to the share.
    floor = "at least " if found.coverage < 1 else ""
    rate = tera(found.flops / found.window_ns * 1e9)
    return (
        f"{floor}{share(found.of_peak)} of the peak ({peaks}; dense, specification, "
        f"{source.form_factor}): {rate} TFLOP/s over the lap on the device, from the shapes of "
        f"{share(found.coverage)} of the time in products, convolutions and attention"
        + _part(found)
    )


def _part(found: DeviceFlops) -> str:
    """Of which laps, where not of all that are counted."""
    if found.laps == found.of_laps:
        return ""
    return f" in the first {found.laps} of {found.of_laps} counted laps"


def _peak(found: DeviceFlops, dtype: str) -> str:
    figure = found.peaks.get(f"{dtype}_matrix") or found.peaks[dtype]
    return f"{figure.value:g}"


def waterfall_json(view: View) -> Iterator[Json]:
    """Steps of each device, sums over its counted windows."""
    for device, fall in view.waterfalls.items():
        for step in fall.steps:
            yield {
                "device": device,
                "laps": fall.laps,
                "window_ns": fall.window_ns,
                "step": step.id,
                "title": step.title,
                "ns": step.ns,
                "left_ns": step.left_ns,
            }


def flops_json(view: View) -> Iterator[Json]:
    """What is known of each device's FLOPs, with the specifications that it was held against."""
    for device, found in view.flops.items():
        yield {
            "device": device,
            "laps": found.laps,
            "of_laps": found.of_laps,
            "window_ns": round(found.window_ns),
            "compute_ns": round(found.compute_ns),
            "arithmetic_ns": round(found.arithmetic_ns),
            "counted_ns": round(found.counted_ns),
            "coverage": _ratio(found.coverage),
            "flops": round(found.flops) if found.counted_ns else None,
            "at_peak_ns": None if found.at_peak_ns is None else round(found.at_peak_ns),
            "of_peak": _ratio(found.of_peak),
            "why_not": found.why_not,
            "specifications": [_figure(dtype, figure) for dtype, figure in found.peaks.items()]
            + ([_figure("memory", found.bandwidth)] if found.bandwidth else []),
            "families": [_family_json(f) for f in found.families],
        }


def _figure(of: str, figure: Figure) -> Json:
    return {
        "of": of,
        "value": figure.value,
        "unit": figure.unit,
        "kind": figure.kind,
        "source": figure.source,
        "form_factor": figure.form_factor,
    }


def _family_json(f: Family) -> Json:
    known = f.counted_ns > 0
    return {
        "operation": f.operation,
        "dtype": f.dtype,
        "calls": round(f.calls, 3),
        "ns": round(f.ns),
        "counted_ns": round(f.counted_ns),
        "flops": round(f.flops) if known else None,
        "bytes": round(f.bytes) if known else None,
        "at_peak_ns": None if f.at_peak_ns is None else round(f.at_peak_ns),
        "roofline_ns": None if f.roofline_ns is None else round(f.roofline_ns),
        "why_not": f.why_not,
    }


def _ratio(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
