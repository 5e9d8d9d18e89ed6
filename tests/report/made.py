"""Explanations made by hand: small, every number chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from laptime.causes.case import Abstention, Clear, EventRef, Finding, Judgement
from laptime.explanation import Explanation, KernelTotal, View
from laptime.kernels.names import KernelName
from laptime.ledger.accounts import CPU_ACCOUNTS, DEVICE_ACCOUNTS, DEVICE_PARENTS
from laptime.ledger.by_lap import Difference, LapSpread, SlowLap
from laptime.ledger.by_region import RegionLine as BusyRegion
from laptime.ledger.by_region import RegionTable
from laptime.ledger.ledger import DeviceLedger, Ledger, Segments
from laptime.model.health import Health, Loss
from laptime.model.laps import DeviceLap, Lap, Laps
from laptime.model.rows import Rows
from laptime.model.run import Device, Run, Timeline

MS = 1_000_000
ORIGIN_NS = 1_700_000_000_123_456_789

HOSTILE = "<script>alert('x')</script>\"&\x1b[31m\u202eevil\x00\ud800 </title>"


def no_rows() -> Rows:
    empty = np.zeros(0, dtype=np.int64)
    return Rows(empty, empty, empty, [], empty, [], empty, empty, empty)


def timeline(rank: int | None = None, origin_ns: int = ORIGIN_NS, **more: object) -> Timeline:
    label = "" if rank is None else str(rank)
    device = Device(
        id=f"gpu{rank or 0}",
        ordinal=rank or 0,
        name="Tesla V100-DGXS-32GB",
        host="node-a",
        rank=rank,
    )
    given: dict[str, object] = {
        "id": f"train{label}",
        "source": f"trace{label}.json.gz",
        "rows": no_rows(),
        "lanes": [],
        "devices": [device],
        "origin_ns": origin_ns,
        "pid": 4242,
        "rank": rank,
        "host": "node-a",
    }
    return Timeline(**{**given, **more})  # type: ignore[arg-type]


def device_ledger(
    device: str,
    windows: Sequence[DeviceLap],
    ns: Mapping[str, Sequence[int]],
    cpu: bool = False,
    merged: dict[str, Sequence[str]] | None = None,
    notes: Sequence[str] = (),
) -> DeviceLedger:
    """A ledger whose ``compute`` (``operators`` on CPU) takes what ``ns`` leaves of each window."""
    tree = CPU_ACCOUNTS if cpu else DEVICE_ACCOUNTS
    extra = {"idle"} & set(ns)
    leaves = [a for a in tree if (a.id not in DEVICE_PARENTS and a.id != "idle") or a.id in extra]
    table = np.zeros((len(windows), len(leaves)), dtype=np.int64)
    rest = next(j for j, a in enumerate(leaves) if a.id == ("operators" if cpu else "compute"))
    for j, leaf in enumerate(leaves):
        table[:, j] = ns.get(leaf.id, 0)
    table[:, rest] = np.array([w.dur_ns for w in windows], dtype=np.int64) - table.sum(axis=1)
    assert (table >= 0).all()
    empty = np.zeros(0, dtype=np.int64)
    segments = Segments(empty, empty, empty)
    return DeviceLedger(
        device, cpu, leaves, tree, list(windows), table, segments, merged or {}, notes
    )


def laps(starts_ms: Sequence[int], dur_ms: Sequence[int], warm: int = 1, **more: object) -> Laps:
    made = [
        Lap(
            f"lap{i}",
            f"ProfilerStep#{i}",
            s * MS,
            d * MS,
            steady=i >= warm,
            why_not="warm-up" if i < warm else None,
        )
        for i, (s, d) in enumerate(zip(starts_ms, dur_ms, strict=True))
    ]
    given: dict[str, object] = {
        "laps": made,
        "by_device": [],
        "source": "mark",
        "mark": "ProfilerStep",
        "confidence": 1.0,
        "owner_lane": 0,
    }
    return Laps(**{**given, **more})  # type: ignore[arg-type]


def windows(device: str, of: Laps, lag_ms: int = 12) -> list[DeviceLap]:
    last = len(of.laps) - 1
    return [
        DeviceLap(device, lap.id, lap.start_ns + lag_ms * MS, lap.dur_ns, open=i == last)
        for i, lap in enumerate(of.laps)
    ]


KERNELS = [
    KernelTotal(
        KernelName("volta_scudnn_128x64_relu_interior_nn_v1", "cuDNN", "conv", "fp32"),
        1860,
        210 * MS + 123_456,
    ),
    KernelTotal(
        KernelName(
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
            "at::detail::Array<char*, 3>>(int, at::native::CUDAFunctor_add<float>, "
            "at::detail::Array<char*, 3>)",
            "ATen",
            "elementwise",
            "fp32",
        ),
        990,
        44 * MS,
    ),
    KernelTotal(KernelName("my_secret_kernel"), 12, 4_210),
]

INPUT = Finding(
    id="input-starvation",
    title="Input starvation",
    sentence="The loader takes 69.3 ms of a 175 ms lap, and 59.3 ms of it leave the device idle; "
    "it runs without workers.",
    share=0.339,
    bound_ns=59_300_000,
    formula="mean over counted windows of input_wait = (59.3 + 59.3 + 59.3 + 59.3) ms / 4",
    device="gpu0",
    rank=None,
    events=[
        EventRef(
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            "thread 4242",
            190 * MS,
            69 * MS,
        ),
        EventRef(
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
            "thread 4242",
            365 * MS,
            68 * MS + 400_000,
        ),
    ],
    why=["every batch is made on the training thread (num_workers=0)"],
    next_step=["DataLoader(..., num_workers=4, persistent_workers=True)"],
    remedies=["loader-workers"],
    confidence=0.95,
)


def judgement() -> Judgement:
    return Judgement(
        findings=[
            INPUT,
            Finding(
                id="pageable-copies",
                title="Pageable copies",
                sentence="6 copies of 38.5 MB come from pageable memory: 4.21 ms of a 175 ms lap.",
                share=0.024,
                bound_ns=4_210_000,
                formula="sum of pageable host-to-device copies / 5 laps",
                device="gpu0",
                rank=None,
                why=["the loader does not pin its batches"],
                next_step=["DataLoader(..., pin_memory=True) and .to(device, non_blocking=True)"],
                confidence=0.9,
            ),
        ],
        clear=[
            Clear("exposed-collectives", "no communication runs on the device"),
            Clear("launch-bound", "the host is 12 ms ahead; launches cover 1.3% of the lap"),
        ],
        abstentions=[
            Abstention(
                "fp32-matmul",
                ["shapes of operators"],
                "profile with record_shapes=True",
            )
        ],
        silenced=[
            Finding(
                "host-synchronisation",
                "Host synchronisation",
                "The host waits 1.10 ms of a 175 ms lap in blocking calls.",
                0.006,
                1_100_000,
                "host_sync per counted window",
                "gpu0",
                None,
            )
        ],
    )


def training() -> Explanation:
    """One GPU, six laps, the first one warm-up; starved of input."""
    of = laps([0, 190, 365, 540, 715, 890], [190, 175, 175, 174, 176, 175])
    found = windows("gpu0", of)
    ns = {
        "input_wait": [60 * MS] + [59_300_000] * 4 + [0],
        "exposed_copy": [4 * MS] * 6,
        "host_sync": [1_100_000] * 6,
        "host_launch": [2_300_000] * 6,
        "host_between_ops": [8 * MS, 8 * MS, 8 * MS, 7 * MS, 9 * MS, 8 * MS],
        "launch_latency": [350_000] * 6,
        "kernel_gap": [64_321] * 6,
        "unattributed": [30_000] * 6,
    }
    ledger = Ledger(
        "train",
        of,
        [
            device_ledger(
                "gpu0",
                found,
                ns,
                merged={"host_between_ops": ("host_ops", "off_cpu")},
                notes=["No stacks were recorded: Python and off-CPU time are one account."],
            )
        ],
    )
    process = timeline()
    health = Health(
        items=123_456,
        losses=[Loss("events cut off at the end", 1, "trace.json.gz", 91_234_567)],
        warnings=["trace.json.gz ends in the middle of an event"],
    )
    run = Run([process], health, ["trace.json.gz"])
    slow = SlowLap(
        "ProfilerStep#4",
        176 * MS,
        [Difference("host_between_ops", 2 * MS), Difference("compute", -MS)],
        [],
        [Difference("aten::copy_", 1_900_000)],
    )
    spread = LapSpread("gpu0", 4, 175e6, 175 * MS, None, 176 * MS, "ProfilerStep#1", [slow])
    regions = RegionTable(
        "gpu0",
        700 * MS,
        4,
        [
            BusyRegion(
                "(outside any region)", 400 * MS, {"compute": 163 * MS, "input_wait": 237 * MS}
            ),
            BusyRegion("forward", 300 * MS, {"compute": 236 * MS, "host_ops": 64 * MS}),
        ],
    )
    verdict = (
        "Waiting for input costs 59.3 ms of a 175 ms lap (33.9%): the loader runs on the training "
        "thread."
    )
    view = View(process, {}, ledger, KERNELS, {"gpu0": spread}, {"gpu0": regions})
    return Explanation(run, [view], judgement(), verdict)


def cpu_only() -> Explanation:
    """A CPU run: the owning thread is the device; its lap is the whole recording."""
    of = laps([0], [147], warm=0, source="window", mark=None, confidence=0.0)
    found = [DeviceLap("thread 77", "lap0", 0, 147 * MS, True)]
    entry = device_ledger(
        "thread 77",
        found,
        {"input_wait": [73 * MS], "between_ops": [9 * MS], "unattributed": [0]},
        cpu=True,
        merged={"between_ops": ("python", "off_cpu")},
    )
    process = timeline(devices=[], pid=77, host=None, epoch=False, origin_ns=0)
    run = Run([process], Health(items=900), ["cpu.json"])
    view = View(process, {}, Ledger("train", of, [entry]), [])
    return Explanation(run, [view], Judgement(), "Half of the lap waits for input: 73.0 of 147 ms.")


def two_ranks() -> Explanation:
    """Two ranks with the same lap ids, clocks 5 ms apart; the second waits for communication."""
    views = []
    for rank in (0, 1):
        of = laps([0, 100, 200, 300], [100, 100, 101, 99])
        device = f"gpu{rank}"
        wait = [(10 + 20 * rank) * MS] * 4
        entry = device_ledger(
            device,
            windows(device, of, lag_ms=3),
            {"exposed_comm": wait, "host_ops": [1 * MS] * 4},
            merged={"exposed_comm": ("exposed_comm_transfer", "exposed_comm_wait")},
        )
        process = timeline(rank, ORIGIN_NS + 5 * MS * rank, world_size=2)
        views.append(View(process, {}, Ledger(f"train{rank}", of, [entry]), KERNELS[:1]))
    findings = [
        Finding(
            "exposed-collectives",
            "Exposed collectives",
            f"Communication without compute takes {10 + 20 * r}.0 ms of a 100 ms lap.",
            0.1 + 0.2 * r,
            (10 + 20 * r) * MS,
            "exposed_comm per counted window",
            f"gpu{r}",
            r,
        )
        for r in (1, 0)
    ]
    said = Judgement(
        findings,
        clear=[Clear("input-starvation", "0.0 ms of input_wait", r) for r in (0, 1)],
        abstentions=[
            Abstention("fp32-matmul", ["shapes"], "profile with record_shapes=True", r)
            for r in (0, 1)
        ],
    )
    run = Run([v.timeline for v in views], Health(items=2000), [v.timeline.source for v in views])
    return Explanation(run, views, said, "Rank 1 waits 30.0 ms of a 100 ms lap for communication.")


def eight_ranks() -> Explanation:
    """Eight ranks with names of wide characters: 2-7 wait for communication, ever longer; rank 1's
    trace has no launch calls, rank 0 is a CPU run. Ruled-out figures differ by rank."""
    views, findings, clear, abstained = [], [], [], []
    for rank in range(8):
        of = laps([0, 100, 200, 300], [100, 100, 100, 100])
        device = f"gpu{rank}"
        shown = windows(device, of, lag_ms=3)
        if rank == 0:
            entry = device_ledger(device, shown, {"between_ops": [40 * MS] * 4}, cpu=True)
        elif rank == 1:
            entry = device_ledger(
                device, shown, {"idle": [30 * MS] * 4}, merged={"idle": ("held", "host")}
            )
        else:
            ns = {"exposed_comm": [5 * rank * MS] * 4, "host_ops": [rank * MS] * 4}
            entry = device_ledger(device, shown, ns, notes=[f"latency floor {rank}.0 us (fp32)"])
            findings.append(
                Finding(
                    "exposed-collectives",
                    "Exposed collectives",
                    f"Communication without compute takes {5 * rank}.0 ms of a 100 ms lap.",
                    0.05 * rank,
                    5 * rank * MS,
                    "exposed_comm per counted window",
                    device,
                    rank,
                    why=[f"計算なし: {rank} calls"],
                    next_step=["start communication earlier"],
                )
            )
        process = timeline(rank, ORIGIN_NS + 5 * MS * rank, world_size=8)
        wide = KernelTotal(KernelName("核函数名字很长" * 40), 7, 5 * MS)
        views.append(View(process, {}, Ledger(f"train{rank}", of, [entry]), [*KERNELS[:1], wide]))
        wait = f"{rank}.0 % of the lap" if rank != 3 else "below 0.1 % of the lap"
        clear.append(Clear("input-starvation", f"the loader takes {wait}", rank))
        missing = ["gpu_rows"] if rank == 0 else ["shapes"]
        abstained.append(
            Abstention("fp32-matmul", missing, "profile with record_shapes=True", rank)
        )
        if rank == 0:
            abstained.append(Abstention("host-sync", missing, "profile with CUDA activity", rank))
        findings.append(
            Finding(
                "unhealthy-trace",
                "Unhealthy",
                f"{rank % 2 + 1} steady lap(s) counted where a spread needs 3.",
                None,
                None,
                "no bound",
                None,
                rank,
            )
        )
    findings.sort(key=lambda f: (f.bound_ns is None, -(f.bound_ns or 0)))
    run = Run([v.timeline for v in views], Health(items=2000), [v.timeline.source for v in views])
    return Explanation(run, views, Judgement(findings, clear, abstained), "Rank 7 waits 待ち.")


def hostile() -> Explanation:
    """Every text of the evidence tries to break out."""
    base = training()
    of = Laps(
        [Lap("l0", HOSTILE, 0, 10 * MS), Lap("l1", HOSTILE, 10 * MS, 10 * MS, False, HOSTILE)],
        [],
        "mark",
        HOSTILE,
        1.0,
        0,
        [HOSTILE],
    )
    entry = device_ledger(HOSTILE, windows(HOSTILE, of), {"gc": [MS, MS]}, notes=[HOSTILE])
    device = Device(HOSTILE, 0, HOSTILE, HOSTILE, HOSTILE)
    process = timeline(devices=[device], source=HOSTILE, host=HOSTILE)
    finding = Finding(
        "gc", HOSTILE, HOSTILE, 0.1, MS, HOSTILE, HOSTILE, None,
        [EventRef(HOSTILE, HOSTILE, 0, 1)], [HOSTILE], [HOSTILE], [HOSTILE], 0.5,
    )  # fmt: skip
    said = Judgement(
        [finding], [Clear("a", HOSTILE)], [Abstention("b", [HOSTILE], HOSTILE)], [finding]
    )
    health = Health(1, [Loss(HOSTILE, 1, HOSTILE, 3)], [HOSTILE])
    long = KernelTotal(KernelName("k" * 5000 + HOSTILE), 1, 5)
    kernels = [KernelTotal(KernelName(HOSTILE, HOSTILE, HOSTILE, HOSTILE), 1, 7), long]
    return Explanation(
        Run([process], health, [HOSTILE]),
        [View(process, base.views[0].work, Ledger(HOSTILE, of, [entry]), kernels)],
        said,
        HOSTILE,
    )


def nothing() -> Explanation:
    """Evidence without a device, a thread or a lap."""
    process = timeline(devices=[])
    of = Laps([], [], "window", None, 0.0, None)
    run = Run([process], Health(items=0), ["empty.json"])
    view = View(process, {}, Ledger("train", of, []), [])
    return Explanation(run, [view], Judgement(), "There is nothing to account for.")


def many_laps(number: int = 500) -> Explanation:
    """A serving engine: many short iterations."""
    starts = list(range(0, 20 * number, 20))
    of = laps(starts, [20 + (i % 7 == 0) + 30 * (i == 123) for i in range(number)], warm=20)
    entry = device_ledger("gpu0", windows("gpu0", of), {"host_ops": [3 * MS] * number})
    process = timeline()
    run = Run([process], Health(items=10), ["serve.json"])
    view = View(process, {}, Ledger("train", of, [entry]), KERNELS)
    return Explanation(run, [view], Judgement(), "The device computes 85.0% of a 20.1 ms lap.")
