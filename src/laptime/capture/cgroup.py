"""The control group of a process: its CPU quota, how often it was throttled, its memory limit.

Both generations (cgroup v2; v1 with its ``cpu``, ``cpuacct`` and ``memory`` controllers). A quota
may be set on any group above the process's own: the tightest one counts, and throttling is read
where it is set. Inside a container the group's path may not be visible; its mount point, which is
then the container's own group, is read instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from laptime.capture.kept import KeptFile

Reading = dict[str, Any]

MOST_BYTES = 1 << 60
"""Limits above this mean "no limit" (v1 writes the largest page-aligned number)."""


@dataclass(frozen=True)
class _Group:
    """Folders of one process's group: those with CPU files, innermost first; and for memory."""

    version: int
    cpu: list[Path]
    usage: list[Path]
    memory: list[Path]


class Cgroup:
    """The control group of ``pid``; ``problem`` says why, where nothing can be read."""

    def __init__(self, pid: int, proc: str = "/proc", mount: str = "/sys/fs/cgroup") -> None:
        self.problem: str | None = None
        group = _find(pid, Path(proc), Path(mount))
        self._version = group.version
        limited = [(q, f) for f in group.cpu if (q := _quota(f, group.version)) is not None]
        self.quota_cores: float | None = min((q for q, _ in limited), default=None)
        where = min(limited, key=lambda x: x[0])[1] if limited else next(iter(group.cpu), None)
        self._stat = KeptFile(f"{where}/cpu.stat") if where else None
        usage = next((f for f in group.usage if (f / _USAGE[group.version]).exists()), None)
        self._usage = KeptFile(f"{usage}/{_USAGE[group.version]}") if usage else None
        limits = [(m, f) for f in group.memory if (m := _limit(f, group.version)) is not None]
        self.memory_limit_bytes: int | None = min((m for m, _ in limits), default=None)
        held = min(limits, key=lambda x: x[0])[1] if limits else None
        name = "memory.current" if group.version == 2 else "memory.usage_in_bytes"
        self._memory = KeptFile(f"{held}/{name}") if held else None
        if self._stat is None:
            self.problem = "throttling is not known: no cpu controller of the control group is seen"

    def read(self) -> Reading | None:
        """nr_throttled, throttled_ns, usage_ns, memory_bytes and memory_limit_bytes; each None
        where the group does not keep it; None where there is no group to read."""
        stat = _pairs(self._stat.read() if self._stat else None)
        v2 = self._version == 2
        throttled = stat.get(b"throttled_usec" if v2 else b"throttled_time")
        usage: int | None
        if v2:
            micro = _pairs(self._usage.read() if self._usage else None).get(b"usage_usec")
            usage = None if micro is None else micro * 1000
        else:
            text = self._usage.read() if self._usage else None
            usage = int(text) if text and text.strip().isdigit() else None
        held = self._memory.read() if self._memory else None
        found: Reading = {
            "nr_throttled": stat.get(b"nr_throttled"),
            "throttled_ns": None if throttled is None else throttled * (1000 if v2 else 1),
            "usage_ns": usage,
            "memory_bytes": int(held) if held and held.strip().isdigit() else None,
            "memory_limit_bytes": self.memory_limit_bytes,
        }
        return found if any(v is not None for v in found.values()) else None

    def close(self) -> None:
        """Give the descriptors back."""
        for file in (self._stat, self._usage, self._memory):
            if file is not None:
                file.close()


_USAGE = {0: "cpu.stat", 1: "cpuacct.usage", 2: "cpu.stat"}


def _find(pid: int, proc: Path, mount: Path) -> _Group:
    """The folders of the process's group, of whichever generation holds the cpu controller."""
    try:
        lines = (proc / str(pid) / "cgroup").read_text(errors="replace").splitlines()
    except OSError:
        return _Group(0, [], [], [])
    paths: dict[str, str] = {}
    for line in lines:
        _, controllers, path = ([*line.split(":", 2), "", ""])[:3]
        for one in controllers.split(",") if controllers else ("",):
            paths[one] = path
    if "cpu" in paths:
        folders = {c: _upward(mount / c, paths.get(c, "/")) for c in ("cpu", "cpuacct", "memory")}
        cpu = [f for f in folders["cpu"] if (f / "cpu.stat").exists()]
        return _Group(1, cpu, folders["cpuacct"], folders["memory"])
    for base in (mount, mount / "unified"):
        folders2 = _upward(base, paths.get("", "/"))
        cpu = [f for f in folders2 if _has_throttling(f)]
        if folders2 and (cpu or (base / "cgroup.controllers").exists()):
            return _Group(2, cpu, folders2, folders2)
    return _Group(0, [], [], [])


def _upward(base: Path, path: str) -> list[Path]:
    """The group's folder and those above it up to the mount; the mount where it is not seen."""
    if not base.is_dir():
        return []
    own = base / path.strip("/")
    if ".." in own.parts or not own.is_dir():
        own = base
    out = [own]
    while out[-1] != base:
        out.append(out[-1].parent)
    return out


def _has_throttling(folder: Path) -> bool:
    try:
        return b"nr_throttled" in (folder / "cpu.stat").read_bytes()
    except OSError:
        return False


def _quota(folder: Path, version: int) -> float | None:
    """CPUs that the folder's quota allows; None where it sets none."""
    try:
        if version == 2:
            quota, period = (folder / "cpu.max").read_text().split()[:2]
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        return int(quota) / int(period) if int(quota) > 0 and int(period) > 0 else None
    except (OSError, ValueError):
        return None  # "max" and "-1" are no quota


def _limit(folder: Path, version: int) -> int | None:
    name = "memory.max" if version == 2 else "memory.limit_in_bytes"
    try:
        limit = int((folder / name).read_text())
    except (OSError, ValueError):
        return None
    return limit if 0 < limit < MOST_BYTES else None


def _pairs(text: bytes | None) -> dict[bytes, int]:
    out = {}
    for line in (text or b"").splitlines():
        part = line.split()
        if len(part) == 2 and part[1].isdigit():
            out[part[0]] = int(part[1])
    return out
