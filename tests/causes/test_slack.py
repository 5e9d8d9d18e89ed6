"""Bounds on device work, held against what the host waits for the device."""

from __future__ import annotations

import pytest

from laptime.causes.slack import capped, host_waits_ns
from laptime.causes.view import gpu_views
from tests.causes.test_evidence import file_named
from tests.evidence_files import needs_evidence


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
