from __future__ import annotations

from dataclasses import replace

import pytest

from laptime.report import grouped
from laptime.report.over_ranks import AccountRange, account_tables
from laptime.report.selection import said_of, views_of
from tests.report import made


def test_ranks_are_listed_with_neighbours_as_ranges() -> None:
    assert grouped.listed([7, 0, 2, 3, 5, 3]) == "0, 2-3, 5, 7"
    apart = [r for r in range(60) if r % 3]
    told = "1-2, 4-5, 7-8, 10-11, 13-14, 16-17, 19-20, 22-23, 25-26, 28-29"
    assert grouped.listed(apart) == f"{told} and 20 more"


def test_findings_of_one_cause_are_one_entry() -> None:
    answer = made.eight_ranks()
    comm, short = grouped.entries(answer, answer.judgement, True)
    assert comm.finding.rank == 7
    assert comm.head.endswith("(exposed-collectives), 6 of 8 ranks (2-7), worst by bound: rank 7")
    assert dict(comm.rows)["share"] == "of the lap: 10.0% to 35.0%, median 20.0%"
    assert ("rank 7", "計算なし: 7 calls") in comm.rows
    # Without a figure to rank by, no rank is called the worst.
    assert short.head == "Unhealthy (unhealthy-trace), all 8 ranks"
    assert ("found", "1 to 2 steady lap(s) counted where a spread needs 3.") in short.rows
    assert dict(short.rows)["costs"] == "not measured: no bound can be stated"


def test_what_was_ruled_out_has_the_figures_of_all_ranks() -> None:
    answer = made.eight_ranks()
    assert grouped.ruled_out(answer, answer.judgement, True) == [
        (
            "input-starvation, 7 of 8 ranks (0-2, 4-7)",
            "the loader takes 0.0 to 7.0 % of the lap",
        ),
        ("input-starvation, 1 of 8 ranks (3)", "the loader takes below 0.1 % of the lap"),
    ]


def test_causes_that_lack_device_rows_are_one_line() -> None:
    answer = made.eight_ranks()
    assert grouped.not_measured(answer, answer.judgement, True) == [
        (
            "no device rows, 1 of 8 ranks (0)",
            "fp32-matmul, host-sync not judged; profile with ProfilerActivity.CUDA among the "
            "activities",
        ),
        (
            "fp32-matmul, 7 of 8 ranks (1-7)",
            "missing shapes of operators; profile with record_shapes=True",
        ),
    ]
    alone = said_of(answer, views_of(answer, 0))
    ((label, told),) = grouped.not_measured(answer, alone, False)
    assert label == "no device rows"
    assert told.startswith("fp32-matmul, host-sync not judged; ")


def test_notes_of_ranks_are_told_with_their_range() -> None:
    assert grouped.notes(made.eight_ranks()) == [
        ("6 of 8 ranks (2-7)", "latency floor 2.0 to 7.0 us (fp32)")
    ]


def test_processes_without_a_rank_are_counted_not_named() -> None:
    answer = made.two_ranks()
    views = [replace(v, timeline=replace(v.timeline, rank=None)) for v in answer.views]
    said = replace(
        answer.judgement,
        findings=[replace(f, rank=None) for f in answer.judgement.findings],
        clear=[replace(c, rank=None) for c in answer.judgement.clear[:1]],
    )
    unlabelled = replace(answer, views=views, judgement=said)
    (entry,) = grouped.entries(unlabelled, said, True)
    assert entry.head == (
        "Exposed collectives (exposed-collectives), both processes, worst by bound: gpu1"
    )
    assert grouped.ruled_out(unlabelled, said, True) == [
        ("input-starvation, 1 of 2 processes", "0.0 ms of input_wait")
    ]


def test_accounts_over_ranks_are_those_of_each_rank() -> None:
    answer = made.eight_ranks()
    gpus, threads = account_tables(answer)
    assert (gpus.devices, threads.devices) == (7, 1)
    assert (gpus.window.least, gpus.window.most) == (100 * made.MS, 100 * made.MS)
    by_id = {line.id: line for line in gpus.lines}
    comm = by_id["exposed_comm"]
    assert figures(comm) == pytest.approx((0.0, 0.2, 0.35))
    assert (comm.told, comm.most) == (7, "7")
    # Rank 1's idle time is not split: its zero in an account below is no measurement.
    ops = by_id["host_ops"]
    assert figures(ops) == pytest.approx((0.02, 0.04, 0.07))
    assert ops.told == 6
    assert figures(by_id["idle"]) == pytest.approx((0.02, 0.05, 0.3))
    assert (by_id["idle"].told, by_id["idle"].most) == (7, "1")
    assert by_id["unattributed"].share.most == 0.0
    assert {line.id for line in threads.lines} == {"operators", "between_ops", "unattributed"}


def figures(line: AccountRange) -> tuple[float, float, float]:
    return line.share.least, line.share.median, line.share.most
