"""Bounds on device work, held against what the host waits for the device."""

from __future__ import annotations

from dataclasses import replace

import pytest

from laptime.causes.case import Clear, Finding
from laptime.causes.fp32_matmul import CAUSE as FP32
from laptime.causes.slack import capped, host_waits_ns
from laptime.causes.view import gpu_views
from laptime.kernels.names import KernelName
from laptime.model.rows import Kind
from tests.causes.made import MS, SIDE, Made
from tests.causes.test_evidence import file_named
from tests.evidence_files import needs_evidence

SGEMM = KernelName("ampere_sgemm_128x64_nn", "cuBLAS", "gemm", dtype="fp32", tensor_core=False)


def _view(part: str):  # type: ignore[no-untyped-def]
    import laptime
    from laptime.causes.case import Case
    from laptime.causes.needs import needs_met
    from laptime.ledger.build import build_ledger
    from laptime.ledger.device_work import kernel_names

    run = laptime.open(str(file_named(part)))
    timeline = run.timelines[0]
    names = kernel_names(timeline.rows)
    ledger, work = build_ledger(timeline, names)
    case = Case(run, timeline, ledger, work, names, needs_met(timeline, work, ledger))
    return gpu_views(case)[0]


@needs_evidence
@pytest.mark.parametrize(
    ("part", "least_ms", "most_ms"),
    [
        # The host never waits long: its own 120 ms are the lap (19 ms of calls beside busy time).
        ("kineto/pytorch-kineto/resnet50_num_workers_4", 17, 20),
        # The host sits in full-queue launches, copies and synchronisation for most of the lap.
        ("kineto/hta/ns_resolution_trace", 65, 80),
    ],
)
def test_host_waits(part: str, least_ms: float, most_ms: float) -> None:
    waits = host_waits_ns(_view(part))
    assert waits is not None
    assert least_ms * 1e6 < waits < most_ms * 1e6


@needs_evidence
def test_a_bound_is_lowered_to_what_the_host_waits_and_says_so() -> None:
    view = _view("kineto/pytorch-kineto/resnet50_num_workers_4")
    waits = host_waits_ns(view)
    assert waits is not None
    assert capped(view, waits) == (waits, "")
    bound, words = capped(view, waits + 1)
    assert bound == waits
    assert "the host waits for the device at most" in words


@needs_evidence
def test_no_cap_while_the_queue_fills() -> None:
    assert host_waits_ns(_view("kineto/tracelens/mi300/resnet_act_checkpoint")) is None


def paced(host_ms: float = 10.0, call: str = "cudaStreamSynchronize") -> Made:
    """Laps of 10 ms that the device works through, with 4 ms of a call on the launching thread."""
    made = Made(lap_ms=10.0, host_ms=host_ms)
    for lap in made.each():
        made.activity("kernel", lap, 10.0, made.call("cudaLaunchKernel", lap, 0.1))
        if call:
            made.call(call, lap + 2.0, 4.0)
    return made


def waits_of(made: Made) -> int | None:
    return host_waits_ns(gpu_views(made.case())[0])


def test_calls_beside_device_work_are_the_cap() -> None:
    assert waits_of(paced()) == round(4.1 * MS)


def test_a_call_waits_through_the_gaps_between_kernels_too() -> None:
    """The call lasts from 0.4 to 9 ms of each lap, and all work was enqueued before and ends at
    7.7 ms: kernels of no length would end it 7.3 ms earlier, which 5.5 ms of busy time in it
    do not bound."""
    made = Made(lap_ms=10.0)
    for lap in made.each():
        for i in range(4):
            call = made.call("cudaLaunchKernel", lap + 0.1 * i, 0.1)
            made.activity("kernel", lap + 0.2 + 2.0 * i, 1.5, call)
        made.call("cudaDeviceSynchronize", lap + 0.4, 8.6)
    # Three launch calls find earlier work, 0.1 ms each; the last kernel ends 7.7 ms into the lap.
    assert waits_of(made) == round((0.3 + 7.3) * MS)


@pytest.mark.parametrize(("host_ms", "known"), [(9.9, True), (9.7, False), (10.5, True)])
def test_no_cap_where_the_host_runs_ahead(host_ms: float, known: bool) -> None:
    """Device laps longer than host laps: the device limits the run, though nothing waits yet."""
    assert (waits_of(paced(host_ms)) is not None) == known


def test_no_cap_where_operators_wait_in_calls_that_are_not_recorded() -> None:
    made = paced(call="")
    assert waits_of(made) == round(0.1 * MS)
    made.op("aten::item", 1.0, 8.0)
    assert waits_of(made) is None
    made.call("cudaStreamSynchronize", 1.5, 7.0)
    assert waits_of(made) is not None


@pytest.mark.parametrize("query", ["cudaEventQuery", "hipEventQuery", "cudaStreamQuery"])
def test_polling_counts_from_the_first_to_the_last_query(query: str) -> None:
    made = paced(call="")
    for lap in made.each():
        for i in range(9):
            made.call(query, lap + 1.0 + i, 0.002)
    assert waits_of(made) == round((0.1 + 8.002) * MS)


def test_queries_of_a_thread_that_does_not_launch_are_no_polling() -> None:
    made = paced(call="")
    for lap in made.each():
        for i in range(9):
            made.row(Kind.RUNTIME, "cudaEventQuery", lap + 1.0 + i, 0.002, lane=SIDE)
    assert waits_of(made) == round((0.1 + 9 * 0.002) * MS)


def test_a_bound_of_nothing_is_no_finding() -> None:
    """fp32 all the lap, on a device that the host never waits for."""
    made = Made(lap_ms=10.0)
    for lap in made.each():
        call = made.call("cudaLaunchKernel", lap, 0.01)
        made.activity(SGEMM.name, lap + 0.01, 9.0, call, decoded=SGEMM)
        made.account("host_between_ops", lap + 9.01, lap + 10.0)
    clear = FP32.look(made.case())
    assert isinstance(clear, Clear)
    assert clear.why == (
        "products and convolutions in fp32 take 9.00 of each 10.0 ms lap (90 %), but the host is "
        "never in a call while the device has work, so that it waits for nothing that faster "
        "device work could shorten"
    )
    made.call("cudaStreamSynchronize", 1.0, 0.3)
    clear = FP32.look(made.case())
    assert isinstance(clear, Clear)
    assert "but the host waits for the device at most 75.0 us a lap, so that" in clear.why
    made.call("cudaStreamSynchronize", 11.0, 0.3)
    assert isinstance(FP32.look(made.case()), Finding)


def test_laps_without_device_work_between_windows_are_the_hosts_time_too() -> None:
    """Device windows of 20 ms over two host laps of 10 ms each: nobody runs ahead."""
    case = paced().case()
    (device,) = case.ledger.devices
    lap = case.ledger.laps.laps
    wide = [
        replace(device.windows[0], dur_ns=20 * MS),
        replace(device.windows[2], dur_ns=20 * MS, open=True),
    ]
    assert lap[2].start_ns == 20 * MS
    ledger = replace(case.ledger, devices=[replace(device, windows=wide, ns=device.ns[[0, 2]])])
    (view,) = gpu_views(replace(case, ledger=ledger))
    assert [w.lap for w in view.counted] == ["lap0"]
    assert host_waits_ns(view) == round(8.2 * MS)
