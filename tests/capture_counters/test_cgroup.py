"""Control groups of both generations, read from folders laid out as the kernel's."""

from __future__ import annotations

from pathlib import Path

from laptime.capture.cgroup import Cgroup


def tree(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def group(root: Path) -> Cgroup:
    return Cgroup(7, proc=str(root / "proc"), mount=str(root / "cg"))


V2_STAT = "usage_usec 500\nuser_usec 400\nnr_periods 9\nnr_throttled 3\nthrottled_usec 250\n"


def test_version_2_takes_the_tightest_quota_above(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "proc/7/cgroup": "0::/pod/box\n",
            "cg/cgroup.controllers": "cpu memory",
            "cg/cpu.stat": "usage_usec 1\n",
            "cg/pod/cpu.max": "150000 100000\n",
            "cg/pod/cpu.stat": V2_STAT,
            "cg/pod/box/cpu.max": "max 100000\n",
            "cg/pod/box/cpu.stat": V2_STAT.replace("3", "0").replace("500", "77"),
            "cg/pod/box/memory.max": "4096\n",
            "cg/pod/box/memory.current": "1024\n",
        },
    )
    found = group(tmp_path)
    assert found.quota_cores == 1.5
    assert found.problem is None
    assert found.read() == {
        "nr_throttled": 3,
        "throttled_ns": 250_000,
        "usage_ns": 77_000,
        "memory_bytes": 1024,
        "memory_limit_bytes": 4096,
    }


def test_version_1_in_a_container_reads_the_mount(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "proc/7/cgroup": "5:memory:/kubepods/x\n3:cpu,cpuacct:/kubepods/x\n1:name=systemd:/\n",
            "cg/cpu/cpu.cfs_quota_us": "200000",
            "cg/cpu/cpu.cfs_period_us": "100000",
            "cg/cpu/cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 123456\n",
            "cg/cpuacct/cpuacct.usage": "999\n",
            "cg/memory/memory.limit_in_bytes": "9223372036854771712\n",
        },
    )
    found = group(tmp_path)
    assert found.quota_cores == 2.0
    assert found.read() == {
        "nr_throttled": 4,
        "throttled_ns": 123_456,
        "usage_ns": 999,
        "memory_bytes": None,
        "memory_limit_bytes": None,
    }


def test_without_a_cpu_controller_throttling_is_not_known(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            "proc/7/cgroup": "0::/\n",
            "cg/cgroup.controllers": "memory",
            "cg/cpu.stat": "usage_usec 5\n",
        },
    )
    found = group(tmp_path)
    read = found.read()
    assert read is not None
    assert (read["nr_throttled"], read["throttled_ns"], read["usage_ns"]) == (None, None, 5000)
    assert found.quota_cores is None
    assert found.problem is not None
    assert found.problem.startswith("throttling is not known")


def test_nothing_at_all(tmp_path: Path) -> None:
    found = group(tmp_path)
    assert found.read() is None
    assert found.quota_cores is None
    found.close()
