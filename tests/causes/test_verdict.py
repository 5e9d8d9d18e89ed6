"""The verdict: one sentence; the first finding, or health, or what cannot be told."""

from __future__ import annotations

from dataclasses import replace

from laptime.causes.case import Case, Need
from laptime.causes.registry import judge
from laptime.causes.verdict import verdict
from laptime.causes.view import device_views
from tests.causes.made import MS, Made
from tests.causes.test_input_starvation import starved


def said(*cases: Case) -> str:
    return verdict(judge(cases[0].run, cases), cases)


def test_first_finding_with_its_title() -> None:
    assert said(starved().case()) == (
        "Waits for input: the loader takes 69.3 of each 175 ms lap and leaves the device idle for "
        "59.3 ms (34 %); the other 10.0 ms overlap device work; it runs in the training process "
        "(num_workers 0)."
    )


def test_incomplete_above_the_budget() -> None:
    made = starved()
    made.account("unattributed", 1.0, 20.0)
    assert said(made.case()).endswith("; incomplete: 2.7 % of the time of gpu0 is unattributed.")


def test_larger_wait_that_no_cause_explains() -> None:
    made = Made()
    for lap in made.each():
        made.account("allocator", lap, lap + 60.0)
        made.account("exposed_comm", lap + 70.0, lap + 76.0)
    assert said(made.case()).endswith("; larger than what was found: allocator (60 %).")


def test_nothing_found_names_the_rest() -> None:
    made = Made()
    for lap in made.each():
        made.account("gc", lap, lap + 60.0)
    assert said(made.case()) == (
        "Device busy 40 % of each 100 ms lap; the largest part that computes nothing is garbage "
        "collection (60 %), which no cause explains."
    )


def test_a_busy_device_in_a_short_trace() -> None:
    assert said(Made(laps=1).case()) == (
        "Device busy 100.0 % of the one 100 ms lap counted, no cause found; the trace does not "
        "carry firm conclusions: 1 steady lap counted where a spread needs 3."
    )


def test_launches_without_device_rows_cannot_tell() -> None:
    made = Made(cpu=True)
    made.call("cudaLaunchKernel", 1.0, 0.1)
    told, _, names = said(made.case()).partition("; not judged: ")
    assert names
    judged = judge(made.case().run, [made.case()])
    assert {"healthy", "input-starvation"} <= {a.id for a in judged.abstentions}
    assert told == (
        "Cannot tell what the device did; the trace does not carry firm conclusions: 1 launch "
        "call but no device rows"
    )


def test_several_ranks() -> None:
    ranks = [starved(), starved(), Made()]
    for rank, made in enumerate(ranks):
        made.rank = rank
    text = said(*[made.case() for made in ranks])
    assert text.endswith("(num_workers 0) (rank 0; found on 2 of 3).")


def test_no_time_at_all() -> None:
    case = Made(laps=0).case()
    assert said(case).startswith("Cannot tell where the time went: no lap with device or thread")


def test_an_open_window_is_named_beside_a_finding() -> None:
    made = Made(lap_ms=90.0, laps=1, host_ms=120.0, open_window=True)
    made.account("host_sync", 10.0, 40.0)
    made.call("cudaStreamSynchronize", 9.0, 31.0)
    assert "; that lap spans only the device's first to last work in a host lap of 120 ms" in said(
        made.case()
    )


def test_a_mean_that_few_laps_make_has_its_median_beside_it() -> None:
    case = Made(laps=3).case()
    (device,) = case.ledger.devices
    long = replace(device.windows[2], dur_ns=1000 * MS)
    uneven = replace(device, windows=[*device.windows[:2], long])
    view = device_views(replace(case, ledger=replace(case.ledger, devices=[uneven])))[0]
    assert view.lap == "an average 400 ms lap (median 100 ms)"
    assert view.of_lap(2 * MS) == "2.00 of an average 400 ms lap (median 100 ms)"


def test_one_steady_lap_is_told_beside_a_finding() -> None:
    made = Made(laps=1)
    made.account("host_sync", 10.0, 40.0)
    made.call("cudaStreamSynchronize", 9.0, 31.0)
    assert said(made.case()).endswith("; from one steady lap.")


def test_a_recording_taken_as_one_lap_is_told_beside_a_finding() -> None:
    made = Made(laps=1)
    made.account("host_sync", 10.0, 40.0)
    made.call("cudaStreamSynchronize", 9.0, 31.0)
    case = made.case()
    laps = replace(case.ledger.laps, source="window", mark=None, confidence=0.0)
    whole = replace(case, ledger=replace(case.ledger, laps=laps))
    assert said(whole).endswith("; from the whole recording taken as one lap.")
    assert "from " not in said(starved().case())


def test_a_run_without_device_lists_no_causes_of_devices() -> None:
    case = Made(cpu=True).case()
    case = replace(case, has=case.has - {Need.GPU_ROWS})
    judgement = judge(case.run, [case])
    assert "exposed-collectives" in {a.id for a in judgement.abstentions}
    text = verdict(judgement, [case])
    assert text.startswith("The owning thread is inside operators")
    assert "exposed-collectives" not in text


def test_files_that_may_not_be_of_one_job_are_said_so_first() -> None:
    case = starved().case()
    case.run.health.warnings += [
        "4 of 8 ranks have no file: 4, 5, 6, 7",
        "devices are of several makers (amd, nvidia); are they of one job?",
        "recordings lie apart: b begins 3 h after a has ended; are they of one capture of one job?",
    ]
    assert said(case).startswith(
        "These files may not be of one job (2 reasons, under Evidence). Waits for input: the loader"
    )
