"""Facts of the host that a capture keeps: cores, limits, boot."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any


def facts() -> dict[str, Any]:
    """Host name, boot, cores, the CPUs that may be used and the control group's quota.

    None where the host does not say.
    """
    return {
        "host": socket.gethostname(),
        "boot_id": _text("/proc/sys/kernel/random/boot_id"),
        "cores": os.cpu_count(),
        "cpus_allowed": _allowed(),
        "cpu_quota": _quota(),
    }


def _allowed() -> list[int] | None:
    try:
        return sorted(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return None


def _quota() -> float | None:
    """Cores that the control group allows: the least of it and those above; None where unlimited.

    Source: ``cpu.max`` of control groups version 2 (quota and period in microseconds), and
    ``cpu.cfs_quota_us`` with ``cpu.cfs_period_us`` of version 1.
    """
    found: list[float] = []
    for line in (_text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            base, names = Path("/sys/fs/cgroup"), ["cpu.max"]
        elif "cpu" in controllers.split(","):
            base = Path("/sys/fs/cgroup/cpu")
            names = ["cpu.cfs_quota_us", "cpu.cfs_period_us"]
        else:
            continue
        place = base / path.lstrip("/")
        for folder in (place, *place.parents):
            if not folder.is_relative_to(base):
                break
            words = " ".join(_text(str(folder / n)) or "" for n in names).split()
            if len(words) == 2 and words[0] not in ("max", "-1"):
                found.append(int(words[0]) / int(words[1]))
    return min(found, default=None)


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None
