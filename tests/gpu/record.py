"""Record planted faults and their twins on a device: ``python -m tests.gpu.record DIR``.

Needs torch and nothing else, of laptime neither: the traces are judged afterwards, here or on
another machine (``python -m tests.gpu.judge DIR``). First it checks that the profiler yields rows
of the device. Each case is written when it ends, in order of priority, until ``--seconds`` is over.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from tests.gpu.faults import FAULTS, Fault

WARM, PLAIN, RECORDED = 4, 8, 5
"""Laps before anything is measured, by the clock without the profiler, and recorded."""


def main(argv: list[str] | None = None) -> int:
    """Record, and print a line for each case. Exit code 3 where the profiler shows no device."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=270.0)
    parser.add_argument("--scale", type=float, default=1.0)
    args = parser.parse_args(argv)
    args.folder.mkdir(parents=True, exist_ok=True)
    device = torch.device(args.device)
    if device.type == "cuda" and not _device_rows():
        print("the profiler yields no row of the device here", flush=True)
        return 3
    end = time.monotonic() + args.seconds
    facts = {"torch": torch.__version__, "device": _name(device), "cases": []}
    for fault in FAULTS:
        if fault.cuda_only and device.type != "cuda":
            continue
        if time.monotonic() > end:
            print(f"{fault.name}: not reached in {args.seconds:.0f} s", flush=True)
            continue
        facts["cases"].append(_case(fault, device, args.scale, args.folder))
        (args.folder / "recorded.json").write_text(json.dumps(facts, indent=1))
    return 0


def _case(fault: Fault, device: torch.device, scale: float, folder: Path) -> dict[str, Any]:
    """Both twins of one fault; what fails is recorded as failed, and the next goes on."""
    case: dict[str, Any] = {"name": fault.name, "accepted": sorted(fault.accepted)}
    start = time.monotonic()
    try:
        for kind in ("planted", "clean"):
            path = folder / f"{fault.name}.{kind}.json.gz"
            case[f"{kind}_ns"] = _recorded(fault, kind == "planted", device, scale, path)
            gc.collect()
            if device.type == "cuda":
                torch.cuda.empty_cache()
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        case["failed"] = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    said = case.get("failed") or f"{case['planted_ns'] / max(1, case['clean_ns']):.2f} x clean"
    print(f"{fault.name}: {said}, {time.monotonic() - start:.1f} s", flush=True)
    return case


def _recorded(fault: Fault, planted: bool, device: torch.device, scale: float, path: Path) -> int:
    """Record one twin; nanoseconds of a lap without the profiler, by the clock."""
    torch.manual_seed(0)
    step = fault.build(planted, device, scale)
    for lap in range(WARM):
        step(lap)
    _wait(device)
    start = time.perf_counter_ns()
    for lap in range(WARM, WARM + PLAIN):
        step(lap)
    _wait(device)
    plain_ns = (time.perf_counter_ns() - start) // PLAIN
    kinds = [ProfilerActivity.CPU]
    if device.type == "cuda":
        kinds.append(ProfilerActivity.CUDA)
    with profile(
        activities=kinds,
        schedule=schedule(wait=0, warmup=2, active=RECORDED, repeat=1),
        record_shapes=True,
        with_stack=True,
        on_trace_ready=lambda prof: prof.export_chrome_trace(str(path)),
    ) as prof:
        for lap in range(WARM + PLAIN, WARM + PLAIN + RECORDED + 2):
            step(lap)
            prof.step()
    return plain_ns


def _device_rows() -> bool:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
        torch.ones(1 << 20, device="cuda").add_(1)
        torch.cuda.synchronize()
    return any(e.device_type == torch.autograd.DeviceType.CUDA for e in prof.events())


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _name(device: torch.device) -> str:
    return torch.cuda.get_device_name() if device.type == "cuda" else "cpu"


if __name__ == "__main__":
    sys.exit(main())
