"""The host's own counters: pressure, control group, CPUs, memory."""

from __future__ import annotations

import os
from typing import Any

from laptime.capture.kept import KeptFile

Reading = dict[str, Any]

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 10_000_000


class Pressure:
    """Total time in which some task waited, us since boot, for CPU, I/O and memory (PSI)."""

    def __init__(self, proc: str = "/proc") -> None:
        self._files = {n: KeptFile(f"{proc}/pressure/{n}", 512) for n in ("cpu", "io", "memory")}

    def read(self) -> Reading | None:
        """Totals by resource; None where the kernel keeps none of them."""
        found: Reading = {}
        for name, file in self._files.items():
            text = file.read() or b""
            some = next((x for x in text.splitlines() if x.startswith(b"some")), b"")
            total = some.rpartition(b"total=")[2]
            found[name] = int(total) if total.isdigit() else None
        return found if any(v is not None for v in found.values()) else None

    def close(self) -> None:
        """Give the descriptors back."""
        for file in self._files.values():
            file.close()


class Cpus:
    """CPU time of the whole host since boot, all CPUs together, in ns."""

    def __init__(self, proc: str = "/proc") -> None:
        self._file = KeptFile(f"{proc}/stat", 512)

    def read(self) -> Reading | None:
        """busy, idle, iowait and steal time; None where the host does not say."""
        text = self._file.read() or b""
        part = text.partition(b"\n")[0].split()
        if len(part) < 9 or part[0] != b"cpu":
            return None
        user, nice, system, idle, iowait, irq, soft, steal = (int(p) * _TICK_NS for p in part[1:9])
        return {
            "busy_ns": user + nice + system + irq + soft,
            "idle_ns": idle,
            "iowait_ns": iowait,
            "steal_ns": steal,
        }

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()


class Memory:
    """The host's memory: total and available bytes (``MemAvailable`` of /proc/meminfo)."""

    def __init__(self, proc: str = "/proc") -> None:
        self._file = KeptFile(f"{proc}/meminfo", 512)

    def read(self) -> Reading | None:
        """Bytes; None where the host does not say."""
        found = {}
        for line in (self._file.read() or b"").splitlines():
            key, _, rest = line.partition(b":")
            part = rest.split()
            if part and part[0].isdigit():
                found[key] = int(part[0]) * 1024
        total, available = found.get(b"MemTotal"), found.get(b"MemAvailable")
        if total is None or available is None:
            return None
        return {"total": total, "available": available}

    def close(self) -> None:
        """Give the descriptor back."""
        self._file.close()
