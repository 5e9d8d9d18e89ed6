"""Each scenario's ledger against its truth, nanosecond for nanosecond, and its first finding.

The truth was written down by the scenario's author. It is compared twice: with the ledger of the
rows themselves, and with the ledger of the text that the variant's year and vendor would write.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import laptime
from laptime.explaining import explanation_of
from laptime.explanation import Explanation
from laptime.ledger.ledger import DeviceLedger, Ledger
from laptime.model.run import Run
from tests.builder import SCENARIOS, Scenario, Variant
from tests.builder.timeline import run_of

WRITTEN = {
    "2021": Variant(year=2021),
    "2023": Variant(year=2023, collective_args="a"),
    "2024-epoch": Variant(year=2024, base_time=False, collective_args="b"),
    "2025-stacks": Variant(stacks=True, shapes=True, sync_rows=True, collective_args="d"),
    "amd": Variant(vendor="amd", vendor_copy_names=True),
    "no-flows": Variant(flows=False, collective_args="c"),
    "pairs": Variant(pairs=True),
    "shuffled": Variant(shuffle=3, layout="compact", device_annotations=True),
}


def held(device: DeviceLedger, key: str) -> list[int]:
    """Time by window of the accounts joined by "+" (leaves or parents; absent ones hold none)."""
    return [
        sum(ns)
        for ns in zip(
            *(device.window_ns(account).tolist() for account in key.split("+")), strict=True
        )
    ]


def compare(scenario: Scenario, ledger: Ledger, origin_ns: int) -> None:
    assert len(ledger.devices) == len(scenario.windows) + len(scenario.totals)
    for device, windows in zip(ledger.devices, scenario.windows.values(), strict=False):
        got = [(w.start_ns + origin_ns, w.dur_ns) for w in device.windows]
        assert got == [(w.start_ns, w.dur_ns) for w in windows]
        if not scenario.cpu:
            assert [w.open for w in device.windows] == [w.open for w in windows]
        keys = {key for w in windows for key in w.accounts}
        for key in sorted(keys):
            assert held(device, key) == [w.accounts.get(key, 0) for w in windows], key
        assert device.ns.sum(axis=1).tolist() == [w.dur_ns for w in windows]
    for device, totals in zip(ledger.devices, scenario.totals.values(), strict=False):
        assert {key: sum(held(device, key)) for key in totals} == totals
        assert int(device.ns.sum()) == sum(totals.values())
    if scenario.steady is not None:
        judged = [lap.steady for lap in ledger.laps.laps]
        pairs = zip(judged, scenario.steady, strict=True)
        assert all(wanted is None or got == wanted for got, wanted in pairs), judged


def check_findings(scenario: Scenario, explanation: Explanation) -> None:
    ids = [f.id for f in explanation.judgement.findings]
    assert not scenario.forbidden & set(ids)
    if scenario.first is not None:
        assert ids[:1] == [scenario.first]


def explained(run: Run) -> tuple[Explanation, Ledger, int]:
    explanation = explanation_of(run)
    return explanation, explanation.views[0].ledger, run.timelines[0].origin_ns


@pytest.mark.parametrize("name", SCENARIOS)
def test_ledger_is_the_truth(name: str) -> None:
    scenario = SCENARIOS[name](None)
    _, ledger, origin_ns = explained(run_of(scenario.trace))
    compare(scenario, ledger, origin_ns)


@pytest.mark.parametrize("name", SCENARIOS)
def test_first_finding(name: str) -> None:
    scenario = SCENARIOS[name](None)
    check_findings(scenario, explained(run_of(scenario.trace))[0])


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("name", SCENARIOS)
def test_text_of_every_year_and_vendor(name: str, form: str, tmp_path: Path) -> None:
    scenario = SCENARIOS[name](WRITTEN[form])
    path = scenario.trace.write(tmp_path / "trace.json.gz", gzip=True, members=2)
    explanation, ledger, origin_ns = explained(laptime.open(str(path)))
    compare(scenario, ledger, origin_ns)
    check_findings(scenario, explanation)


def shares(device: DeviceLedger) -> Mapping[str, int]:
    return {leaf.id: int(device.window_ns(leaf.id).sum()) for leaf in device.leaves}


@pytest.mark.parametrize("name", SCENARIOS)
def test_form_does_not_move_time(name: str) -> None:
    """Flags that add no information about time leave every account as it is."""
    plain = explained(run_of(SCENARIOS[name](None).trace))[1]
    dressed = Variant(shapes=True, sync_rows=True, device_annotations=True, collective_args="d")
    other = explained(run_of(SCENARIOS[name](dressed).trace))[1]
    assert [shares(d) for d in plain.devices] == [shares(d) for d in other.devices]
