"""Scenarios of data loading: starved, hidden, and copied from pageable or pinned memory."""

from __future__ import annotations

from tests.builder.host import MS, US, HostThread
from tests.builder.kernels import gemm
from tests.builder.rows import Row
from tests.builder.trace import TraceBuilder
from tests.builder.truth import Scenario, WindowTruth, device_truth
from tests.builder.variant import Variant

LAPS = 6
KERNELS = 20
KERNEL_NS = 500 * US
BUSY_NS = KERNELS * KERNEL_NS
BEFORE_NS, CALL_NS, LATENCY_NS, AFTER_NS = 20 * US, 6 * US, 4 * US, 4 * US


def _work(main: HostThread) -> list[Row]:
    """Launch a lap's operators; the host needs 30 us for each, the device 500."""
    return [
        main.kernel_op(
            "aten::mm", gemm(main.trace.variant, "bf16"), KERNEL_NS,
            before_ns=BEFORE_NS, call_ns=CALL_NS, latency_ns=LATENCY_NS, after_ns=AFTER_NS,
        )
        for _ in range(KERNELS)
    ]  # fmt: skip


HOST_NS = KERNELS * (BEFORE_NS + CALL_NS + AFTER_NS)


def _starved(name: str, variant: Variant | None, loader_ns: int, workers: int) -> Scenario:
    """Each lap waits for the loader, then enqueues everything in a burst.

    The lap's period is loader + host. The device drains ``BUSY_NS`` after its first kernel; the
    host is in the loader by then (HOST_NS < BUSY_NS) and stays there until the next lap's burst,
    whose first kernel starts after 20 us in the operator, 6 in the call and 4 of latency.
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.loader_next(loader_ns, workers)
            _work(main)
    period = loader_ns + HOST_NS
    refill = {"host_ops": BEFORE_NS, "host_launch": CALL_NS, "launch_latency": LATENCY_NS}
    waits = period - BUSY_NS - sum(refill.values())
    closed = {"compute": BUSY_NS, "input_wait": waits} | refill
    windows = {0: device_truth(trace, closed, {"compute": BUSY_NS})}
    return Scenario(
        name, trace, "input-starvation", windows,
        forbidden=frozenset({"healthy", "launch-bound", "host-sync", "unhealthy-trace"}),
        steady=[True] * LAPS,
    )  # fmt: skip


def input_no_workers(variant: Variant | None = None) -> Scenario:
    """69 ms in an in-process loader each lap, 10 ms of device work."""
    return _starved("input_no_workers", variant, 69 * MS, 0)


def input_slow_workers(variant: Variant | None = None) -> Scenario:
    """Four workers that deliver too late: 25 ms of waiting each lap."""
    return _starved("input_slow_workers", variant, 25 * MS, 4)


def input_hidden(variant: Variant | None = None) -> Scenario:
    """A loader span of 8 ms each lap while the device works off the queue: not starvation.

    The host is kept one lap ahead by a wait for the previous lap's last kernel; the device never
    idles, so each window is compute only.
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    before: list[Row] = []
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.loader_next(MS * 8)
            now = _work(main)
            if before:
                main.sync("cudaEventSynchronize", until=before[-1], tail_ns=5 * US)
            before = now
    truth = {"compute": BUSY_NS}
    # The first lap's burst ends at 8.6 ms of host time; its second lap's is ready long before the
    # device has worked off the first one (8.6 + 8 + 0.03 < 8.03 + 10), so no window has a gap.
    return Scenario(
        "input_hidden", trace, "healthy", {0: device_truth(trace, truth, truth)},
        forbidden=frozenset({"input-starvation", "host-sync", "launch-bound"}),
    )  # fmt: skip


COPY_NS = 8 * MS
STAGE_NS = 20 * US


def pageable_copies(variant: Variant | None = None) -> Scenario:
    """8 ms of pageable copy before each lap's 10 ms of compute, exposed and holding the host.

    The call waits for the previous lap's kernels, the copy starts the moment they end, and the
    call returns 20 us after the copy. Then 20 us in the operator, 6 in the call, 4 of latency.
    A window begins with the copy: copy, refill, kernels; the next copy follows without a gap.
    The first host lap has nothing to wait for and is shorter than the others. AMD's copies do not
    say what memory they come from: no cause is promised there, but the run is not healthy either.
    """
    trace = TraceBuilder(variant)
    told = trace.variant.vendor != "amd"
    main = trace.thread()
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.loader_next(200 * US, workers=4)
            with main.within("aten::copy_"):
                main.copy("HtoD", 96 << 20, COPY_NS, pageable=True, tail_ns=STAGE_NS)
            _work(main)
    host = STAGE_NS + BEFORE_NS + CALL_NS
    held = {"host_sync+host_launch+host_ops": host, "launch_latency": LATENCY_NS}
    truth = {"exposed_copy": COPY_NS, "compute": BUSY_NS} | held
    return Scenario(
        "pageable_copies", trace, "pageable-copies" if told else None,
        {0: device_truth(trace, truth, truth)},
        forbidden=frozenset({"input-starvation", "healthy", "launch-bound"}),
        steady=[None] + [True] * (LAPS - 1),
    )  # fmt: skip


def pinned_copies(variant: Variant | None = None) -> Scenario:
    """The same copy from pinned memory on its own stream, one lap ahead: hidden under compute.

    Each lap first prefetches the next lap's batch on stream 13 (2 ms), then enqueues 10 ms of
    kernels. The first lap's window starts with its copy, alone on the device for the host's way
    to the first kernel: 2 us in the copy's operator, then 20 + 6 us (both wait 4 us of latency).
    """
    trace = TraceBuilder(variant)
    main = trace.thread()
    before: list[Row] = []
    first_copy = first_kernel = 0
    for lap in range(LAPS):
        with main.step(lap + 2):
            main.loader_next(200 * US, workers=4)
            with main.within("aten::copy_"):
                copy = main.copy("HtoD", 96 << 20, 2 * MS, stream=13, call_ns=8 * US)
                main.idle(2 * US)
            now = _work(main)
            if before:
                main.sync("cudaEventSynchronize", until=before[-1], tail_ns=5 * US)
            before = now
            if lap == 0:
                first_copy, first_kernel = copy.start_ns, now[0].start_ns
    lead = 2 * US + BEFORE_NS + CALL_NS
    assert first_kernel - first_copy == lead
    # A later lap's window begins with its copy too, which runs under the previous lap's kernels:
    # compute covers every instant from the first kernel to the last one, so all but ``lead`` is
    # compute, and windows differ in length only by where the copies begin.
    windows = []
    for window in trace.windows():
        alone = lead if window.lap == 2 else 0
        held = {"compute": window.dur_ns - alone} | ({"exposed_copy": alone} if alone else {})
        windows.append(WindowTruth(window.lap, window.start_ns, window.dur_ns, window.open, held))
    assert sum(w.dur_ns for w in windows) == LAPS * BUSY_NS + lead
    return Scenario(
        "pinned_copies", trace, "healthy", {0: windows},
        forbidden=frozenset({"pageable-copies", "input-starvation", "host-sync"}),
    )  # fmt: skip
