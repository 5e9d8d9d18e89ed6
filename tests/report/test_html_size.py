"""A page stays one that is sent and opened: under 1 MB, however many ranks, laps and names."""

from __future__ import annotations

from dataclasses import replace

import pytest

import laptime
from laptime.causes.case import Clear, EventRef, Finding, Judgement
from laptime.causes.registry import causes
from laptime.explanation import Explanation, KernelTotal, View
from laptime.kernels.names import KernelName
from laptime.ledger.accounts import DEVICE_ACCOUNTS, DEVICE_PARENTS
from laptime.ledger.by_function import FunctionLine, FunctionTable
from laptime.ledger.by_lap import Difference, LapSpread, SlowLap
from laptime.ledger.by_region import RegionLine, RegionTable
from laptime.ledger.ledger import Ledger
from laptime.model.health import Health
from laptime.model.run import Run
from laptime.report import html
from tests.evidence_files import evidence_root, needs_evidence
from tests.report import made
from tests.report.test_html import Page

LIMIT = 1_000_000
"""Bytes of a page."""

LONG = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_<template, arguments> " * 6


def size(page: str) -> int:
    Page(page)
    return len(page.encode())


def full(ranks: int, laps: int) -> Explanation:
    """Every table of every rank longer than a page shows, every name longer than is shown."""
    leaves = [a.id for a in DEVICE_ACCOUNTS if a.id not in DEVICE_PARENTS and a.id != "idle"]
    views, findings, clear = [], [], []
    for rank in range(ranks):
        device = f"gpu{rank}"
        of = made.laps(list(range(0, 100 * laps, 100)), [100 + i % 3 for i in range(laps)])
        shown = made.windows(device, of)
        entry = made.device_ledger(device, shown, {a: [made.MS] * laps for a in leaves})
        names = [Difference(f"{n}{LONG}", made.MS) for n in range(5)]
        slow = SlowLap("ProfilerStep#4", 102 * made.MS, [Difference("compute", 1)], names, names)
        spread = LapSpread(device, laps, 1e8, made.MS, None, made.MS, "x", [slow] * 5)
        regions = RegionTable(
            device,
            made.MS,
            laps,
            [RegionLine(f"{n}{LONG}", made.MS, {"compute": made.MS}) for n in range(400)],
        )
        lines = [FunctionLine(f"{n}{LONG}", 0, 9, 9, None, 7, LONG, 3) for n in range(400)]
        functions = FunctionTable(device, 0, laps, laps * made.MS, made.MS, lines)
        known = [
            KernelTotal(KernelName(f"{n}{LONG}", LONG, LONG, "fp16"), 3, 9) for n in range(400)
        ]
        unknown = [KernelTotal(KernelName(f"{n}?{LONG}"), 3, 5) for n in range(400)]
        views.append(
            View(
                made.timeline(rank, world_size=ranks),
                {},
                Ledger(f"train{rank}", of, [entry]),
                [*known, *unknown],
                {device: spread},
                {device: regions},
                {device: functions},
            )
        )
        for n, cause in enumerate(causes()):
            if n % 2:
                clear.append(Clear(cause.id, f"{n + rank} calls take 0.{n} % of the lap", rank))
            else:
                events = [EventRef(LONG, "thread 4242", 9 * made.MS, 7)] * 20
                findings.append(
                    Finding(
                        cause.id, cause.title, LONG, 0.01, made.MS * (rank + 1), LONG, device,
                        rank, events, [LONG] * 6, [f"{n} {LONG}"] * 4, [], 1.0, 500,
                    )
                )  # fmt: skip
    findings.sort(key=lambda f: -(f.bound_ns or 0))
    run = Run([v.timeline for v in views], Health(items=9), [v.timeline.source for v in views])
    return Explanation(run, views, Judgement(findings, clear), "Much of everything.")


@pytest.mark.parametrize(("ranks", "laps"), [(1, 2000), (8, 40), (64, 12)])
def test_pages_of_many_ranks_and_laps_stay_small(ranks: int, laps: int) -> None:
    page = html.page(full(ranks, laps))
    assert size(page) < LIMIT
    assert page.count('<details class="rank">') == (min(ranks, 8) if ranks > 1 else 0)
    assert ("8 of 64 ranks in full" in page) == (ranks == 64)


def test_ranks_shown_in_full_are_those_where_a_cause_is_worst() -> None:
    # Of 64 ranks the bound grows with the rank: the last one is worst of every cause.
    page = html.page(full(64, 12))
    assert "<summary><h2>rank 63:" in page
    assert "<summary><h2>rank 6:" in page
    assert "<summary><h2>rank 7:" not in page
    asked = html.page(full(64, 12), rank=40)
    assert "Only rank 40 is shown below" in asked


def test_kernels_that_were_asked_for_are_all_shown() -> None:
    answer = made.training()
    names = [KernelTotal(KernelName(f"k{n}", "cuDNN", "conv"), 1, 1) for n in range(90)]
    many = replace(answer, views=[replace(answer.views[0], kernels=names)])
    assert "50 of 90 names" in html.page(many)
    assert "90 of 90 names" in html.page(many, top=100)


@needs_evidence
def test_page_of_the_largest_published_run_stays_small() -> None:
    root = evidence_root()
    assert root is not None
    answer = laptime.explain(root / "kineto" / "param-dlrm-8ranks")
    assert size(html.page(answer)) < LIMIT / 2
