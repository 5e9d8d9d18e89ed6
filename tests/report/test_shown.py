from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from laptime.explanation import Explanation
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.report import shown
from tests.report import made


def _only(explanation: Explanation) -> tuple[Ledger, DeviceLedger]:
    ledger = explanation.views[0].ledger
    return ledger, ledger.devices[0]


def _spread(explanation: Explanation) -> shown.Spread | None:
    view = explanation.views[0]
    return shown.window_spread(view, view.ledger.devices[0])


def test_leaves_sum_to_the_window_and_children_to_their_parent() -> None:
    ledger, device = _only(made.training())
    lines = shown.account_lines(ledger, device)
    leaves = sum(line.ns for line in lines if not line.group)
    assert leaves == pytest.approx(ledger.mean_window_ns(device), abs=1e-3)
    at = {line.id: line.ns for line in lines}
    assert at["busy"] == at["compute"] + at["exposed_copy"]
    assert at["idle"] == at["held"] + at["host"] + at["unattributed"]
    assert at["input_wait"] == 59_300_000


def test_accounts_without_time_are_left_out_but_never_unattributed() -> None:
    ledger, device = _only(made.two_ranks())
    ids = [line.id for line in shown.account_lines(ledger, device)]
    assert ids == [
        "busy", "compute", "exposed_comm", "idle", "host", "host_ops", "unattributed",
    ]  # fmt: skip
    assert shown.account_lines(ledger, device)[-1].share == 0.0


def test_a_group_with_time_of_its_own_shows_it_apart() -> None:
    of = made.laps([0, 10], [10, 10], warm=0)
    device = made.device_ledger(
        "gpu0",
        made.windows("gpu0", of),
        {"idle": [3 * made.MS] * 2, "profiler": [1 * made.MS] * 2},
        merged={"idle": ("held", "host", "profiler")},
    )
    lines = shown.account_lines(Ledger("t", of, [device]), device)
    told = [(line.title, line.ns, line.depth) for line in lines if line.depth == 1 or line.group]
    assert ("Device idle", 4 * made.MS, 0) in told
    assert ("Device idle, not split", 3 * made.MS, 1) in told
    own = next(line for line in lines if line.title == "Device idle, not split")
    assert own.holds == ("Held back on the device", "Host has not enqueued", "Profiler")
    leaves = sum(line.ns for line in lines if not line.group)
    assert leaves == 10 * made.MS


def test_the_percentile_waits_for_enough_laps() -> None:
    few = _spread(made.training())
    assert few is not None
    assert (few.laps, few.p50, few.p99, few.worst) == (4, 175e6, None, 176e6)
    many = _spread(made.many_laps())
    assert many is not None
    assert (many.laps, many.p50, many.p99, many.worst) == (479, 20e6, 21e6, 50e6)


def test_lag_is_the_distance_of_the_window_starts() -> None:
    assert shown.lag_ns(*_only(made.training())) == (12 * made.MS, 12 * made.MS)
    assert shown.lag_ns(*_only(made.two_ranks())) == (3 * made.MS, 3 * made.MS)


def test_dropped_laps_are_named_with_their_reason() -> None:
    assert shown.dropped(made.training().views[0]) == ["warm-up: ProfilerStep#0"]
    assert shown.dropped(made.many_laps().views[0]) == [
        "warm-up: ProfilerStep#0, ProfilerStep#1, ProfilerStep#2 and 17 more"
    ]


def test_kernels_are_ordered_by_time_and_unknown_ones_listed() -> None:
    view = made.training().views[0]
    lines = shown.kernel_lines(view, 2)
    assert [k.what for k in lines] == ["cuDNN conv fp32", "ATen elementwise fp32"]
    assert sum(k.share or 0 for k in shown.kernel_lines(view)) == pytest.approx(1)
    assert [k.name for k in shown.unknown_kernels(view)] == ["my_secret_kernel"]


def test_ranks_keep_their_own_findings() -> None:
    lines = shown.rank_lines(made.two_ranks())
    assert [(line.rank, line.top) for line in lines] == [
        ("0", "Exposed collectives"),
        ("1", "Exposed collectives"),
    ]
    busy = [line.busy for line in lines]
    assert np.allclose([b or 0 for b in busy], 99.5 / 100.5)


def test_busy_of_a_device_without_that_account_is_not_measured() -> None:
    explanation = made.cpu_only()
    line = shown.rank_lines(explanation)[0]
    assert line.busy == pytest.approx(65 / 147)
    assert line.top == "none"


def test_a_bound_of_one_window_is_no_mean_of_laps() -> None:
    whole = made.training()
    (view,) = whole.views
    (device,) = view.ledger.devices
    one = replace(device, windows=device.windows[1:2], ns=device.ns[1:2])
    short = replace(whole, views=[replace(view, ledger=replace(view.ledger, devices=[one]))])
    assert shown.bound(whole, made.INPUT) == "at most 59.3 ms a lap (a bound, not a gain)"
    assert shown.bound(short, made.INPUT) == "at most 59.3 ms (a bound, not a gain)"


def test_unlabelled_processes_are_named_by_what_tells_them_apart() -> None:
    answer = made.two_ranks()
    views = [
        replace(v, timeline=replace(v.timeline, rank=None, id=f"/run/{i}/trace.json"))
        for i, v in enumerate(answer.views)
    ]
    lines = shown.rank_lines(replace(answer, views=views))
    assert [line.rank for line in lines] == ["0/trace.json", "1/trace.json"]
    (alone,) = shown.rank_lines(replace(answer, views=views[:1]))
    assert alone.rank == "trace.json"
